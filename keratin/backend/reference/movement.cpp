#include "keratin/ops/movement.h"

#include "keratin/backend/reference/loops.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/records.h"
#include "keratin/tensor/elements.h"

namespace keratin::reference {

namespace {

void transpose(const Node& node, const UnaryOperands<View>& v) {
  const Dims& permutation = node.attr<ops::TransposeAttrs>().permutation;
  const Dims strides = v.x.shape().strides();
  move_elements(v.x, v.y, [&](const Dims& index) {
    int64_t position = 0;
    for (size_t i = 0; i < index.size(); ++i)
      position += index[i] * strides[static_cast<size_t>(permutation[i])];
    return position;
  });
}

void broadcast_to(const Node&, const UnaryOperands<View>& v) {
  move_elements(v.x, v.y,
                [&](const Dims& index) { return broadcast_position(index, v.x.shape()); });
}

void iota(const Node& node, const JoinOperands<View>& v) {
  const auto axis = static_cast<size_t>(node.attr<ops::IotaAttrs>().axis);
  dispatch(v.y.dtype(), [&](auto tag) {
    using S = typename decltype(tag)::type;
    auto* out = v.y.as<S>();
    for_each_index(v.y.shape(), [&](const Dims& index) { *out++ = convert<S>(index[axis]); });
  });
}

void transfer(const Node&, const UnaryOperands<View>& v) {
  std::memcpy(v.y.data(), v.x.data(), bytes_of(v.y.type()));
}

}  // namespace

extern const KernelDef transpose_loop{
    .name = "transpose", .ops = {&ops::transpose_op}, .make = make_loop<UnaryOperands, transpose>};
extern const KernelDef broadcast_to_loop{.name = "broadcast_to",
                                         .ops = {&ops::broadcast_to_op},
                                         .make = make_loop<UnaryOperands, broadcast_to>};
extern const KernelDef iota_loop{
    .name = "iota", .ops = {&ops::iota_op}, .make = make_loop<JoinOperands, iota>};
extern const KernelDef transfer_loop{
    .name = "transfer", .ops = {&ops::transfer_op}, .make = make_loop<UnaryOperands, transfer>};

}  // namespace keratin::reference
