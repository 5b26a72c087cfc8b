#include "keratin/graph/placement.h"

#include "keratin/base/hash.h"
#include "keratin/ops/mirrored.h"
#include "keratin/ops/transfer.h"

namespace keratin {

size_t Placement::CopyHash::operator()(const Copy& key) const {
  const auto node = reinterpret_cast<size_t>(&key.value.node());
  return detail::mix(detail::mix(node, key.value.index()), key.device.hash());
}

// A loop runs on one device as a whole: values inside it are not sent.
Value Placement::bring(Value value, Device device) {
  if (value.block().depth() > 0) return value;
  if (ops::is_mirrored(value)) value = ops::nearest_copy(value, device);
  if (value.type().device == device) return value;
  Value& there = copies_[{value, device}];
  if (!there.defined()) there = ops::transfer(value, device);
  return there;
}

Arguments<Traced> Placement::bring(Arguments<Traced> arguments, Device device) {
  bool all_there = true;
  arguments.each([&](const Traced& t) {
    all_there = all_there && t.value.type().device == device &&
                (!t.mask || t.mask->type().device == device);
  });
  if (all_there) return arguments;
  return arguments.map<Traced>([&](const Traced& t) {
    return Traced{bring(t.value, device),
                  t.mask ? std::optional(bring(*t.mask, device)) : std::nullopt};
  });
}

}  // namespace keratin
