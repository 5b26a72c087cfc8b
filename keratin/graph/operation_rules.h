#pragma once

#include "keratin/base/text.h"
#include "keratin/graph/operation.h"
#include "keratin/ops/composites.h"
#include "keratin/ops/ops.h"
#include "keratin/ops/promote.h"

// Functions that make rows of the table of operations: each adapts a function on values to the
// arguments, options and dtypes of Keras.
namespace keratin::rules {

using C = OperationCall;
using Unary = Value (*)(Value);
using Binary = Value (*)(Value, Value);
using Reduce = Value (*)(Value, const Dims&, bool);
using Along = Value (*)(Value, int64_t);
using Scaled = Value (*)(Value, double);

inline Value as_bool(Value x) { return ops::cast(x, DType::boolean); }
inline Value as_float(Value x) { return ops::cast(x, ops::promoted_to_float(x.dtype())); }
inline Value as_index(Value x) { return x.dtype() == DType::i64 ? x : ops::cast(x, DType::i32); }
inline Dims dims_of(const Json& sizes) { return Sizes::from_json(sizes).dims(); }
// Bools become int32.
inline Value as_number(Value x) {
  return x.dtype() == DType::boolean ? ops::cast(x, DType::i32) : x;
}
// The float dtype of functions that give float64 for int64, and float32 for other integers.
inline DType wide_float(DType dtype) {
  return dtype == DType::i64 ? DType::f64 : ops::promoted_to_float(dtype);
}
inline Value as_wide_float(Value x) { return ops::cast(x, wide_float(x.dtype())); }
// Bools and integers of 8 bits are summed in int32.
inline Value as_sum(Value x) {
  const bool small =
      x.dtype() == DType::boolean || x.dtype() == DType::i8 || x.dtype() == DType::u8;
  return small ? ops::cast(x, DType::i32) : x;
}

template <Unary f>
Results same(const C& c) {  // of any dtype
  return f(c.tensor(0));
}
template <Unary f>
Results same_number(const C& c) {
  return f(as_number(c.tensor(0)));
}
template <Unary f>
Results of_float(const C& c) {
  return f(c.float_tensor(0));
}
template <Unary f>
Results of_wide_float(const C& c) {
  return f(as_wide_float(c.tensor(0)));
}
// Functions that leave integers and bools as they are.
template <Unary f>
Results whole(const C& c) {
  const Value x = c.tensor(0);
  return is_float(x.dtype()) ? f(x) : x;
}
template <Binary f>
Results both(const C& c) {
  const Values in = c.operands(0, 2);
  return f(in[0], in[1]);
}
template <Binary f>
Results both_numbers(const C& c) {
  const Values in = c.operands(0, 2);
  return f(as_number(in[0]), as_number(in[1]));
}
template <Binary f, Binary of_bools>
Results both_or_bools(const C& c) {
  const Values in = c.operands(0, 2);
  return in[0].dtype() == DType::boolean ? of_bools(in[0], in[1]) : f(in[0], in[1]);
}
template <Binary f>
Results both_floats(const C& c) {
  const Values in = c.operands(0, 2, ops::promoted_to_float);
  return f(in[0], in[1]);
}
// Functions that turn numbers into tensors first: 2 is int32 and 2.5 float32, whatever the other
// operand is.
template <Binary f>
Results both_float_tensors(const C& c) {
  const Values in = ops::promote({c.tensor(0), c.tensor(1)});
  return f(as_float(in[0]), as_float(in[1]));
}
// int64, for integers that the dtype of the other operand cannot hold.
DType wide_integer(DType dtype);
bool has_wide_number(const C& c);
template <Binary f>
Results compare(const C& c) {
  const Values in = c.operands(0, 2, has_wide_number(c) ? wide_integer : nullptr);
  return f(in[0], in[1]);
}
template <Binary f>
Results both_wide_floats(const C& c) {
  const Values in = c.operands(0, 2, wide_float);
  return f(in[0], in[1]);
}
// Sums of products; of bools, true if one of the products is.
template <Binary f>
Results product(const C& c) {
  const Values in = c.operands(0, 2);
  const Value y = f(as_number(in[0]), as_number(in[1]));
  return in[0].dtype() == DType::boolean ? as_bool(y) : y;
}
template <Binary f>
Results both_tensors(const C& c) {  // of any dtypes
  return f(c.tensor(0), c.tensor(1));
}

// True for an empty list of axes. (To functions on values, no axes mean all axes.)
bool lists_no_axes(const C& c, std::string_view key = "axis");
// The operands of a reduction, from its options. A reduction over no axes gets an axis of size 1.
struct Reduction {
  Value x;
  Dims axes;
  bool keepdims;
};
Reduction reduction(const C& c, Value x, std::string_view key = "axis");

template <Reduce f>
Results reduce(const C& c) {
  const Reduction r = reduction(c, c.tensor(0));
  return f(r.x, r.axes, r.keepdims);
}
template <Reduce f>
Results reduce_floats(const C& c) {
  const Reduction r = reduction(c, c.float_tensor(0));
  return f(r.x, r.axes, r.keepdims);
}
template <Reduce f>
Results reduce_bools(const C& c) {
  const Reduction r = reduction(c, as_bool(c.tensor(0)));
  return f(r.x, r.axes, r.keepdims);
}
template <Reduce f>
Results accumulate(const C& c) {
  const Value x = c.tensor(0);
  const auto dtype = c.dtype();
  const Reduction r = reduction(c, as_sum(dtype ? ops::cast(x, *dtype) : x));
  const Value y = f(r.x, r.axes, r.keepdims);
  return dtype ? ops::cast(y, *dtype) : y;
}
template <Along f>
Results along(const C& c) {
  return f(c.float_tensor(0), c.integer("axis").value_or(-1));
}
template <Value (*f)(const Values&)>
Results of_list(const C& c) {
  return f(c.list(0));
}
// Activations with one option, a number: its key and its default.
struct Option {
  const char* key;
  double fallback;
};
inline constexpr Option alpha{"alpha", 1}, slope{"negative_slope", 0.2}, half{"threshold", 0.5},
    four{"b", 4};
template <Scaled f, const Option& option>
Results with_number(const C& c) {
  return f(c.float_tensor(0), c.number(option.key, option.fallback));
}

// Piecewise linear activations: integers stay integers if the options are integers too.
template <class F>
Results piecewise(const C& c, bool whole, const F& f) {
  const Value x = c.tensor(0);
  if (is_float(x.dtype()) || !whole) return f(as_float(x));
  return ops::cast(f(ops::cast(x, DType::f64)), as_number(x).dtype());
}
template <Unary f>
Results in_pieces(const C& c) {
  return piecewise(c, true, f);
}
template <Scaled f, const Option& option>
Results in_pieces(const C& c) {
  return piecewise(c, c.option(option.key).is_int(),
                   [&](Value x) { return f(x, c.number(option.key, option.fallback)); });
}

// operation_movement.cpp: elements moved, cut out and joined
Results append(const C& c);
Results array_split(const C& c);
Results broadcast_to(const C& c);
Results concatenate(const C& c);
Results diagonal(const C& c);
Results dsplit(const C& c);
Results expand_dims(const C& c);
Results flip(const C& c);
Results hsplit(const C& c);
Results meshgrid(const C& c);
Results move_axis(const C& c);
Results one_hot(const C& c);
Results multi_hot(const C& c);
Results pad(const C& c);
Results repeat(const C& c);
Results reshape(const C& c);
Results roll(const C& c);
Results rot90(const C& c);
Results slice(const C& c);
Results slice_update(const C& c);
Results split(const C& c);
Results squeeze(const C& c);
Results stack(const C& c);
Results swap_axes(const C& c);
Results take(const C& c);
Results take_along_axis(const C& c);
Results tile(const C& c);
Results trace(const C& c);
Results transpose(const C& c);
Results unstack(const C& c);
Results vsplit(const C& c);

// operation_reduce.cpp: reductions and statistics
Results average(const C& c);
Results count_nonzero(const C& c);
Results max(const C& c);
Results min(const C& c);
Results moments(const C& c);
Results nanmax(const C& c);
Results nanmin(const C& c);
// ops::argmax or ops::argmin, as int32.
Results position(const C& c, Value (*f)(Value, std::optional<int64_t>, bool));
// ops::softmax or ops::log_softmax over all axes, several or none.
Results softmax_over(const C& c, Value (*f)(Value, const Dims&));

// operation_algebra.cpp: products, norms and searches
Results batch_norm(const C& c);
Results einsum(const C& c);
Results in_top_k(const C& c);
Results is_in(const C& c);
Results layer_norm(const C& c);
Results matmul(const C& c);
Results norm(const C& c);
Results normalize(const C& c);
Results psnr(const C& c);
Results rms_norm(const C& c);
Results search_sorted(const C& c);
Results tensordot(const C& c);

}  // namespace keratin::rules
