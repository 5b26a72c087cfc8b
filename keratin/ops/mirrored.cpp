#include "keratin/ops/mirrored.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/records.h"
#include "keratin/ops/shards.h"

namespace keratin::ops {

// x0, which is x1, x2, …
const OpDef mirrored_op{
    .name = "mirrored",
    .infer = [](const Node& n) -> Types {
      for (const Value& copy : n.inputs())
        require(copy.dtype() == n.in().dtype() && copy.shape() == n.in().shape(),
                "mirrored: copies must have one type, got ", n.in().type(), " and ", copy.type());
      return {n.in().type()};
    },
    .decompose = [](const Node& n) -> Values { return {n.in()}; },
    .grad = [](const Node& n, const Values& dy) -> Values {
      Values all(n.input_count());
      all[0] = dy[0];
      return all;
    },
};

Value mirrored(const Values& copies) {
  return copies.size() == 1 ? copies[0] : emit(mirrored_op, copies, NoAttrs{});
}

bool is_mirrored(Value value) { return &value.node().op() == &mirrored_op; }

Value nearest_copy(Value mirrored, Device device) {
  const Values& copies = mirrored.node().inputs();
  const auto found = std::find_if(copies.begin(), copies.end(),
                                  [&](const Value& copy) { return copy.type().device == device; });
  return found == copies.end() ? copies[0] : *found;
}

Value emit_mirrored(const OpDef& op, const Values& inputs, const Attrs& attrs) {
  const Value first = *std::find_if(inputs.begin(), inputs.end(), is_mirrored);
  Values results;
  for (const Value& copy : first.node().inputs()) {
    const Device device = copy.type().device;
    Values here;
    for (const Value& input : inputs) here.push_back(whole_on(input, device));
    results.push_back(emit(op, here, attrs));
    results.back().node().place(device);
  }
  return mirrored(results);
}

}  // namespace keratin::ops
