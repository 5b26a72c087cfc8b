#include "keratin/graph/get_item.h"

#include "keratin/base/text.h"
#include "keratin/graph/operation.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/slicing.h"

namespace keratin {
namespace {

bool is_kind(const Json& json, const char* kind) {
  if (!json.is_object()) return false;
  const Json* name = json.find("class_name");
  return name != nullptr && *name == Json(kind);
}

ops::Range slice_range(const Json& json) {
  const Json& config = json.at("config");
  const auto at = [&](const char* key) {
    const Json* value = config.find(key);
    return value == nullptr || value->is_null() ? std::nullopt : std::optional(value->as_int());
  };
  return {.start = at("start"), .limit = at("stop"), .step = at("step").value_or(1)};
}

// The range of one element; negative positions count from the end.
ops::Range at_position(int64_t i) {
  if (i == -1) return {.start = -1};
  return {.start = i, .limit = i + 1};
}

}  // namespace

Value get_item(Value x, const Tree<Traced>& index) {
  std::vector<Json> items;
  const Json given = constant_json(index);
  if (given.is_array())
    items = given.as_array();
  else
    items.push_back(given);
  int64_t named = 0;  // axes of x that an item of the index names
  for (const Json& item : items) named += !item.is_null() && !is_kind(item, "__ellipsis__");
  require(named <= x.rank(), "too many indices: ", named, " for a tensor of shape ",
          keras_shape(x.shape()));
  std::vector<ops::Range> ranges;
  Dims gone, added;  // axes of x to remove; axes of the result to add
  int64_t result = 0;
  for (const Json& item : items) {
    const auto axis = static_cast<int64_t>(ranges.size());
    if (item.is_null()) {
      added.push_back(result++);
    } else if (is_kind(item, "__ellipsis__")) {
      ranges.resize(ranges.size() + static_cast<size_t>(x.rank() - named));
      result += x.rank() - named;
    } else if (is_kind(item, "__slice__")) {
      ranges.push_back(slice_range(item));
      ++result;
    } else {
      const int64_t i = item.as_int(), size = x.shape()[axis];
      require(size == unknown || (i >= -size && i < size), "index ", i, " is outside axis ", axis,
              " of shape ", keras_shape(x.shape()));
      ranges.push_back(at_position(i));
      gone.push_back(axis);
    }
  }
  Value y = ops::strided_slice(x, ranges);
  for (size_t i = gone.size(); i-- > 0;) y = ops::squeeze(y, gone[i]);
  for (const int64_t axis : added) y = ops::expand_dims(y, axis);
  return y;
}

}  // namespace keratin
