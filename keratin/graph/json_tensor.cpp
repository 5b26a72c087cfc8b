#include "keratin/graph/json_tensor.h"

#include "keratin/base/text.h"
#include "keratin/graph/dtype_policy.h"

namespace keratin {
namespace {

struct NestedNumbers {
  Dims shape;
  std::vector<double> values;
  std::vector<int64_t> whole_values;  // the same without rounding, if all are integers
  bool whole = true, logical = true;

  Tensor as(DType dtype) const {
    return whole ? Tensor::of(dtype, Shape(shape), whole_values)
                 : Tensor::of(dtype, Shape(shape), values);
  }
  // The dtype that Keras gives to these numbers.
  DType dtype() const {
    if (!whole || values.empty()) return DType::f32;
    return logical ? DType::boolean : DType::i32;
  }
};

// Reads the numbers of nested lists; `axis` is the depth of this one.
void collect(const Json& json, size_t axis, NestedNumbers& out) {
  if (!json.is_array()) {
    require(axis == out.shape.size(), "array: the lists are not of equal depth");
    out.logical = out.logical && json.is_bool();
    out.whole = out.whole && (json.is_int() || json.is_bool());
    out.values.push_back(json.is_bool() ? json.as_bool() : json.as_double());
    if (out.whole) out.whole_values.push_back(json.is_bool() ? json.as_bool() : json.as_int());
    return;
  }
  require(axis < out.shape.size() && static_cast<int64_t>(json.size()) == out.shape[axis],
          "array: the lists are not of equal length");
  for (const Json& item : json.as_array()) collect(item, axis + 1, out);
}

NestedNumbers numbers_of(const Json& json) {
  NestedNumbers out;
  for (const Json* inner = &json; inner->is_array(); inner = &(*inner)[0]) {
    out.shape.push_back(static_cast<int64_t>(inner->size()));
    require(out.shape.size() <= max_rank, "array: expected at most ", max_rank, " dimensions");
    if (inner->size() == 0) return out;
  }
  collect(json, 0, out);
  return out;
}

const Json& value_of(const Json& json) {
  return is_array_envelope(json) ? json.at("config").at("value") : json;
}

}  // namespace

bool is_array_envelope(const Json& json) {
  if (!json.is_object()) return false;
  const Json* kind = json.find("class_name");
  return kind != nullptr && (*kind == Json("__numpy__") || *kind == Json("__tensor__"));
}

Tensor tensor_from_json(const Json& json, DType dtype) {
  return numbers_of(value_of(json)).as(dtype);
}

Tensor tensor_from_json(const Json& json) {
  if (is_array_envelope(json))
    return tensor_from_json(json,
                            dtype_from_keras(json.at("config").at("dtype").as_string(), "array"));
  const NestedNumbers numbers = numbers_of(json);
  return numbers.as(numbers.dtype());
}

}  // namespace keratin
