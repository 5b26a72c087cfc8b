#include <algorithm>
#include <cmath>

#include "keratin/ops/constant.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/records.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/slicing.h"
#include "keratin/passes/simplify_rules.h"

namespace keratin {

namespace {

// The input of a broadcast, or the value itself.
Value before_broadcast(Value value) {
  return is(value, ops::broadcast_to_op) ? value.node().in() : value;
}

// f(broadcast(a), b) = f(a, b), since pointwise ops broadcast by themselves; a result that is
// smaller without the broadcast is broadcast afterwards.
Value pointwise(const Node& n) {
  if (!n.op().scalar) return {};
  Values inputs;
  for (const Value& input : n.inputs()) inputs.push_back(before_broadcast(input));
  if (inputs == n.inputs()) return {};
  return spread(n, ops::emit(n.op(), inputs, n.attrs()));
}

// The order of the axes whose size is not 1 tells whether elements move.
bool moves_nothing(const Shape& shape, const Dims& permutation) {
  int64_t last = -1;
  for (int64_t axis : permutation) {
    if (shape[axis] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

// A tensor whose elements are equal is the same in any order.
Value one_element(const Node& n) {
  const Value x = before_broadcast(n.in());
  return x != n.in() && x.shape().count() == 1 ? spread(n, ops::reshape(x, {})) : Value();
}

Value simpler_transpose(const Node& n) {
  if (moves_nothing(n.in().shape(), n.attr<ops::TransposeAttrs>().permutation))
    return ops::reshape(n.in(), n.type().shape.dims());
  return one_element(n);
}

Value simpler_broadcast(const Node& n) {
  return n.in().shape().count() == n.type().shape.count()
             ? ops::reshape(n.in(), n.type().shape.dims())
             : Value();
}

// These ops do nothing if they have one input and it has the shape of the result.
Value unchanged(const Node& n) {
  return n.input_count() == 1 && n.in().shape() == n.type().shape ? n.in() : Value();
}

Value roll(const Node& n) {
  const auto& attrs = n.attr<ops::RollAttrs>();
  const int64_t size = n.in().shape()[attrs.axis];
  return size == 0 || attrs.shift % size == 0 ? n.in() : Value();
}

// Reversing twice does nothing, nor does reversing an axis of size 1.
Value reverse(const Node& n) {
  const Dims& axes = n.attr<ops::ReverseAttrs>().axes;
  if (std::all_of(axes.begin(), axes.end(),
                  [&](int64_t axis) { return n.in().shape()[axis] <= 1; }))
    return n.in();
  const Node& before = n.in().node();
  return is(n.in(), ops::reverse_op) && before.attrs() == n.attrs() ? before.in() : Value();
}

// Axes of size 1 are not reduced but reshaped away.
Value small_axes(const Node& n) {
  const Shape& shape = n.in().shape();
  Dims axes;
  for (int64_t axis : n.attr<ops::ReduceAttrs>().axes)
    if (shape[axis] != 1) axes.push_back(axis);
  if (axes.size() == n.attr<ops::ReduceAttrs>().axes.size() && !axes.empty()) return {};
  const Value reduced =
      axes.empty() ? n.in() : ops::emit(n.op(), {n.in()}, ops::ReduceAttrs{axes, true});
  return ops::reshape(reduced, n.type().shape.dims());
}

// The number that fills the input, if a double represents it exactly.
std::optional<double> filling(const Node& n) {
  if (n.in().shape().count() == 0) return std::nullopt;
  const auto number = ops::uniform_value(n.in());
  const bool exact = is_float(n.in().dtype()) || (number && std::abs(*number) < 0x1p53);
  return exact ? number : std::nullopt;
}

// The sum of n equal numbers is n times the number.
Value sum_of_equal(const Node& n) {
  const auto number = filling(n);
  if (!number || !is_float(n.type().dtype)) return {};
  const int64_t times = n.in().shape().count() / n.type().shape.count();
  return ops::full(n.block(), n.type().dtype, n.type().shape, *number * static_cast<double>(times));
}

// The mean or the extremum of equal numbers is the number.
Value choice_of_equal(const Node& n) {
  const auto number = filling(n);
  return number ? ops::full(n.block(), n.type().dtype, n.type().shape, *number) : Value();
}

// True for a transpose of the last two axes.
bool swaps_last(Value value) {
  if (!is(value, ops::transpose_op)) return false;
  const Dims& permutation = value.node().attr<ops::TransposeAttrs>().permutation;
  const size_t rank = permutation.size();
  if (rank < 2) return false;
  Dims swapped = permutation;
  std::swap(swapped[rank - 2], swapped[rank - 1]);
  return std::is_sorted(swapped.begin(), swapped.end());
}

Value matmul_transposes(const Node& n) {
  auto attrs = n.attr<ops::MatmulAttrs>();
  Value a = n.in(0), b = n.in(1);
  if (!swaps_last(a) && !swaps_last(b)) return {};
  if (swaps_last(a)) {
    a = a.node().in();
    attrs.transpose_a = !attrs.transpose_a;
  }
  if (swaps_last(b)) {
    b = b.node().in();
    attrs.transpose_b = !attrs.transpose_b;
  }
  return ops::matmul(a, b, attrs);
}

// matmul broadcasts batch axes by itself.
Value matmul_broadcasts(const Node& n) {
  const auto unbatched = [](Value value) {
    const Value x = before_broadcast(value);
    const bool rows_kept = x.rank() >= 2 &&
                           x.shape()[x.rank() - 2] == value.shape()[value.rank() - 2] &&
                           x.shape().back() == value.shape().back();
    return rows_kept ? x : value;
  };
  const Value a = unbatched(n.in(0)), b = unbatched(n.in(1));
  if (a == n.in(0) && b == n.in(1)) return {};
  return spread(n, ops::matmul(a, b, n.attr<ops::MatmulAttrs>()));
}

// Users of another copy took that copy when the program was built.
Value first_copy(const Node& n) { return n.in(); }

constexpr RuleFor shape_table[] = {
    {nullptr, pointwise},
    {&ops::transpose_op, simpler_transpose},
    {&ops::reshape_op, one_element},
    {&ops::broadcast_to_op, simpler_broadcast},
    {&ops::mirrored_op, first_copy},
    {&ops::slice_op, unchanged},
    {&ops::pad_op, unchanged},
    {&ops::reflect_pad_op, unchanged},
    {&ops::concat_op, unchanged},
    {&ops::tile_op, unchanged},
    {&ops::repeat_op, unchanged},
    {&ops::roll_op, roll},
    {&ops::reverse_op, reverse},
    {&ops::slice_op, one_element},
    {&ops::reflect_pad_op, one_element},
    {&ops::tile_op, one_element},
    {&ops::repeat_op, one_element},
    {&ops::roll_op, one_element},
    {&ops::reverse_op, one_element},
    {&ops::sum_op, small_axes},
    {&ops::prod_op, small_axes},
    {&ops::max_op, small_axes},
    {&ops::min_op, small_axes},
    {&ops::any_op, small_axes},
    {&ops::all_op, small_axes},
    {&ops::mean_op, small_axes},
    {&ops::sum_op, sum_of_equal},
    {&ops::mean_op, choice_of_equal},
    {&ops::max_op, choice_of_equal},
    {&ops::min_op, choice_of_equal},
    {&ops::matmul_op, matmul_transposes},
    {&ops::matmul_op, matmul_broadcasts},
};

}  // namespace

std::span<const RuleFor> shape_rules() { return shape_table; }

}  // namespace keratin
