#include "keratin/ops/transfer.h"

#include "keratin/ops/emit.h"
#include "keratin/ops/records.h"

namespace keratin::ops {

// x, elsewhere
const OpDef transfer_op{
    .name = "transfer",
    .attrs = attrs_type<TransferAttrs>(),
    .arity = 1,
    .infer = [](const Node& n) -> Types {
      return {{n.in().dtype(), n.in().shape(), n.attr<TransferAttrs>().device}};
    },
    .grad = [](const Node& n, const Values& dy) -> Values {
      return {transfer(dy[0], n.in().type().device)};
    },
    .places = true,
    .takes_strings = true,
};

Value transfer(Value x, Device device) { return emit(transfer_op, {x}, TransferAttrs{device}); }

bool shares_memory(const Node& node) {
  if (&node.op() != &transfer_op) return node.op().view;
  return node.device().kind == Device::Kind::cpu &&
         node.in().type().device.kind == Device::Kind::cpu;
}

}  // namespace keratin::ops
