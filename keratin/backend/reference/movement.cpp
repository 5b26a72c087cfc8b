#include "keratin/ops/movement.h"

#include "keratin/backend/reference/families.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/records.h"

namespace keratin::reference {

namespace {

void transpose(const Call& call) {
  const Dims& permutation = call.node.attr<ops::TransposeAttrs>().permutation;
  const Dims strides = call.node.in().shape().strides();
  move_elements(call, [&](const Dims& index) {
    int64_t position = 0;
    for (size_t i = 0; i < index.size(); ++i)
      position += index[i] * strides[static_cast<size_t>(permutation[i])];
    return position;
  });
}

void broadcast_to(const Call& call) {
  move_elements(
      call, [&](const Dims& index) { return broadcast_position(index, call.node.in().shape()); });
}

void iota(const Call& call) {
  const auto axis = static_cast<size_t>(call.node.attr<ops::IotaAttrs>().axis);
  dispatch(call.node.type().dtype, [&](auto tag) {
    using S = typename decltype(tag)::type;
    auto* out = call.out<S>();
    for_each_index(call.node.type().shape,
                   [&](const Dims& index) { *out++ = convert<S>(index[axis]); });
  });
}

void transfer(const Call& call) {
  std::memcpy(call.out<std::byte>(), call.in<std::byte>(0), bytes_of(call.node.type()));
}

constexpr Entry table[] = {
    {&ops::transpose_op, transpose},
    {&ops::broadcast_to_op, broadcast_to},
    {&ops::iota_op, iota},
    {&ops::transfer_op, transfer},
};

}  // namespace

std::span<const Entry> movement_loops() { return table; }

}  // namespace keratin::reference
