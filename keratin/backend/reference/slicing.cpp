#include "keratin/ops/slicing.h"

#include <algorithm>

#include "keratin/backend/reference/loops.h"
#include "keratin/ops/indexing_operands.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/records.h"
#include "keratin/tensor/elements.h"

namespace keratin::reference {

namespace {

void slice(const Node& node, const UnaryOperands<View>& v) {
  const auto& attrs = node.attr<ops::SliceAttrs>();
  const Shape& shape = v.x.shape();
  const Dims start = ops::slice_window(attrs, shape).start, strides = shape.strides();
  move_elements(v.x, v.y, [&](const Dims& index) {
    int64_t position = 0;
    for (size_t i = 0; i < index.size(); ++i)
      position += (start[i] + attrs.step[i] * index[i]) * strides[i];
    return position;
  });
}

void reverse(const Node& node, const UnaryOperands<View>& v) {
  const Dims& axes = node.attr<ops::ReverseAttrs>().axes;
  const Shape& shape = v.x.shape();
  move_elements(v.x, v.y, [&](Dims index) {
    for (int64_t axis : axes) {
      int64_t& i = index[static_cast<size_t>(axis)];
      i = shape[axis] - 1 - i;
    }
    return position_of(index, shape);
  });
}

// The start of a window of `size` in `shape`, moved so that the window lies inside.
Dims window_start(const View& start, const Shape& shape, const Shape& size) {
  Dims inside;
  for (int64_t axis = 0; axis < shape.rank(); ++axis)
    inside.push_back(std::clamp<int64_t>(integer_at(start, axis), 0, shape[axis] - size[axis]));
  return inside;
}

Dims shifted(Dims index, const Dims& by) {
  for (size_t i = 0; i < index.size(); ++i) index[i] += by[i];
  return index;
}

void dynamic_slice(const Node&, const ops::DynamicSliceOperands<View>& v) {
  const Shape& shape = v.x.shape();
  const Dims start = window_start(v.start, shape, v.y.shape());
  move_elements(v.x, v.y,
                [&](const Dims& index) { return position_of(shifted(index, start), shape); });
}

// y[target(index)] = x[index]
template <class Target>
void place_elements(const View& x, const View& y, Target target) {
  int64_t position = 0;
  for_each_index(x.shape(), [&](const Dims& index) {
    copy_element(y, position_of(target(index), y.shape()), x, position++);
  });
}

void dynamic_update_slice(const Node&, const ops::DynamicUpdateSliceOperands<View>& v) {
  const Dims start = window_start(v.start, v.y.shape(), v.update.shape());
  place_elements(v.x, v.y, [](const Dims& index) { return index; });
  place_elements(v.update, v.y, [&](const Dims& index) { return shifted(index, start); });
}

void pad(const Node& node, const UnaryOperands<View>& v) {
  const auto& attrs = node.attr<ops::PadAttrs>();
  dispatch(v.y.dtype(), [&](auto tag) {
    using S = typename decltype(tag)::type;
    std::fill_n(v.y.as<S>(), v.y.shape().count(), convert<S>(attrs.value));
  });
  place_elements(v.x, v.y, [&](Dims index) {
    for (size_t i = 0; i < index.size(); ++i)
      index[i] = attrs.lo[i] + index[i] * (1 + attrs.interior[i]);
    return index;
  });
}

void concat(const Node& node, const JoinOperands<View>& v) {
  const auto axis = node.attr<ops::AxisAttrs>().axis;
  Dims start(static_cast<size_t>(v.y.shape().rank()), 0);
  for (const View& input : v.inputs) {
    place_elements(input, v.y, [&](const Dims& index) { return shifted(index, start); });
    start[static_cast<size_t>(axis)] += input.shape()[axis];
  }
}

}  // namespace

extern const KernelDef slice_loop{
    .name = "slice", .ops = {&ops::slice_op}, .make = make_loop<UnaryOperands, slice>};
extern const KernelDef reverse_loop{
    .name = "reverse", .ops = {&ops::reverse_op}, .make = make_loop<UnaryOperands, reverse>};
extern const KernelDef dynamic_slice_loop{
    .name = "dynamic_slice",
    .ops = {&ops::dynamic_slice_op},
    .make = make_loop<ops::DynamicSliceOperands, dynamic_slice>};
extern const KernelDef dynamic_update_slice_loop{
    .name = "dynamic_update_slice",
    .ops = {&ops::dynamic_update_slice_op},
    .make = make_loop<ops::DynamicUpdateSliceOperands, dynamic_update_slice>};
extern const KernelDef pad_loop{
    .name = "pad", .ops = {&ops::pad_op}, .make = make_loop<UnaryOperands, pad>};
extern const KernelDef concat_loop{
    .name = "concat", .ops = {&ops::concat_op}, .make = make_loop<JoinOperands, concat>};

}  // namespace keratin::reference
