#include "keratin/ops/slicing.h"

#include <algorithm>

#include "keratin/backend/reference/families.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/records.h"

namespace keratin::reference {

namespace {

void slice(const Call& call) {
  const auto& attrs = call.node.attr<ops::SliceAttrs>();
  const Shape& shape = call.node.in().shape();
  const Dims start = ops::slice_window(attrs, shape).start, strides = shape.strides();
  move_elements(call, [&](const Dims& index) {
    int64_t position = 0;
    for (size_t i = 0; i < index.size(); ++i)
      position += (start[i] + attrs.step[i] * index[i]) * strides[i];
    return position;
  });
}

void reverse(const Call& call) {
  const Dims& axes = call.node.attr<ops::ReverseAttrs>().axes;
  const Shape& shape = call.node.in().shape();
  move_elements(call, [&](Dims index) {
    for (int64_t axis : axes) {
      int64_t& i = index[static_cast<size_t>(axis)];
      i = shape[axis] - 1 - i;
    }
    return position_of(index, shape);
  });
}

// The start of a window of `size` in `shape`, moved so that the window lies inside.
Dims window_start(const Call& call, size_t input, const Shape& shape, const Shape& size) {
  Dims start;
  for (int64_t axis = 0; axis < shape.rank(); ++axis) {
    const int64_t asked = call.node.in(input).dtype() == DType::i32 ? call.in<int32_t>(input)[axis]
                                                                    : call.in<int64_t>(input)[axis];
    start.push_back(std::clamp<int64_t>(asked, 0, shape[axis] - size[axis]));
  }
  return start;
}

Dims shifted(Dims index, const Dims& by) {
  for (size_t i = 0; i < index.size(); ++i) index[i] += by[i];
  return index;
}

void dynamic_slice(const Call& call) {
  const Shape& shape = call.node.in().shape();
  const Dims start = window_start(call, 1, shape, call.node.type().shape);
  move_elements(call, [&](const Dims& index) { return position_of(shifted(index, start), shape); });
}

// Writes each element of an input of `shape` where `target` says, as an index of the output.
template <class Target>
void place_elements(const Call& call, size_t input, Target target) {
  const size_t size = size_of(call.node.type().dtype);
  const auto* in = call.in<std::byte>(input);
  for_each_index(call.node.in(input).shape(), [&](const Dims& index) {
    const int64_t position = position_of(target(index), call.node.type().shape);
    std::memcpy(call.out<std::byte>() + static_cast<size_t>(position) * size, in, size);
    in += size;
  });
}

void dynamic_update_slice(const Call& call) {
  const Dims start = window_start(call, 2, call.node.type().shape, call.node.in(1).shape());
  place_elements(call, 0, [](const Dims& index) { return index; });
  place_elements(call, 1, [&](const Dims& index) { return shifted(index, start); });
}

void pad(const Call& call) {
  const auto& attrs = call.node.attr<ops::PadAttrs>();
  dispatch(call.node.type().dtype, [&](auto tag) {
    using S = typename decltype(tag)::type;
    std::fill_n(call.out<S>(), call.node.type().shape.count(), convert<S>(attrs.value));
  });
  place_elements(call, 0, [&](Dims index) {
    for (size_t i = 0; i < index.size(); ++i)
      index[i] = attrs.lo[i] + index[i] * (1 + attrs.interior[i]);
    return index;
  });
}

void concat(const Call& call) {
  const auto axis = call.node.attr<ops::AxisAttrs>().axis;
  Dims start(static_cast<size_t>(call.node.type().shape.rank()), 0);
  for (size_t i = 0; i < call.node.input_count(); ++i) {
    place_elements(call, i, [&](const Dims& index) { return shifted(index, start); });
    start[static_cast<size_t>(axis)] += call.node.in(i).shape()[axis];
  }
}

constexpr Entry table[] = {
    {&ops::slice_op, slice},
    {&ops::reverse_op, reverse},
    {&ops::dynamic_slice_op, dynamic_slice},
    {&ops::dynamic_update_slice_op, dynamic_update_slice},
    {&ops::pad_op, pad},
    {&ops::concat_op, concat},
};

}  // namespace

std::span<const Entry> slicing_loops() { return table; }

}  // namespace keratin::reference
