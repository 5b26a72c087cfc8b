#include "keratin/ops/reduce.h"

#include <algorithm>

#include "keratin/backend/reference/loops.h"
#include "keratin/ops/records.h"
#include "keratin/ops/scalar.h"
#include "keratin/tensor/elements.h"

namespace keratin::reference {

namespace {

// Folds the input into the output: start, then combine for each element, in row-major order.
template <class A, class S, class Combine>
void fold(const Node& node, const UnaryOperands<View>& v, A start, Combine combine) {
  const Shape& input = v.x.shape();
  Dims kept = input.dims();
  for (int64_t axis : node.attr<ops::ReduceAttrs>().axes) kept[static_cast<size_t>(axis)] = 1;
  const Shape reduced(kept);
  std::vector<A> totals(static_cast<size_t>(reduced.count()), start);
  const S* element = v.x.as<S>();
  for_each_index(input, [&](const Dims& index) {
    A& total = totals[static_cast<size_t>(broadcast_position(index, reduced))];
    total = combine(total, static_cast<A>(static_cast<compute_t<S>>(*element++)));
  });
  for (size_t i = 0; i < totals.size(); ++i)
    v.y.as<S>()[i] = static_cast<S>(static_cast<compute_t<S>>(totals[i]));
}

// Floats are summed in double: the reference should not be what rounds.
template <class S>
using accumulator_t = std::conditional_t<std::is_integral_v<S>, S, double>;

template <class Combine>
void fold_numbers(const Node& node, const UnaryOperands<View>& v, double start, Combine combine) {
  dispatch(v.x.dtype(), [&](auto tag) {
    using S = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<S, bool>) {
      using A = accumulator_t<S>;
      fold<A, S>(node, v, static_cast<A>(start), combine);
    }
  });
}

void sum(const Node& node, const UnaryOperands<View>& v) {
  fold_numbers(node, v, 0, scalar::Add{});
}
void prod(const Node& node, const UnaryOperands<View>& v) {
  fold_numbers(node, v, 1, scalar::Mul{});
}

template <class Combine>
void extremum(const Node& node, const UnaryOperands<View>& v, bool largest) {
  dispatch(v.x.dtype(), [&](auto tag) {
    using S = typename decltype(tag)::type;
    using A = accumulator_t<S>;
    if constexpr (!std::is_same_v<S, bool>) {
      using Limits = std::numeric_limits<A>;
      const A start = std::is_integral_v<A> ? (largest ? Limits::lowest() : Limits::max())
                                            : (largest ? -Limits::infinity() : Limits::infinity());
      fold<A, S>(node, v, start, Combine{});
    }
  });
}
void max(const Node& node, const UnaryOperands<View>& v) {
  extremum<scalar::Maximum>(node, v, true);
}
void min(const Node& node, const UnaryOperands<View>& v) {
  extremum<scalar::Minimum>(node, v, false);
}

void any(const Node& node, const UnaryOperands<View>& v) {
  fold<uint8_t, bool>(node, v, 0, scalar::BitOr{});
}
void all(const Node& node, const UnaryOperands<View>& v) {
  fold<uint8_t, bool>(node, v, 1, scalar::BitAnd{});
}

// The first position along the axis whose element beats all before it; NaN beats everything.
template <class Beats>
void arg_extremum(const Node& node, const UnaryOperands<View>& v) {
  dispatch(v.x.dtype(), [&](auto tag) {
    using S = typename decltype(tag)::type;
    const Shape& shape = v.x.shape();
    const int64_t axis = node.attr<ops::ArgAttrs>().axis;
    const int64_t outer = shape.count(0, axis), size = shape[axis];
    const int64_t inner = shape.count(axis + 1, shape.rank());
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        const auto at = [&](int64_t k) {
          return static_cast<compute_t<S>>(v.x.as<S>()[(o * size + k) * inner + i]);
        };
        int64_t best = 0;
        for (int64_t k = 1; k < size; ++k)
          if (at(best) == at(best) && (at(k) != at(k) || Beats{}(at(k), at(best)))) best = k;
        v.y.as<int64_t>()[o * inner + i] = best;
      }
  });
}
void argmax(const Node& node, const UnaryOperands<View>& v) {
  arg_extremum<std::greater<>>(node, v);
}
void argmin(const Node& node, const UnaryOperands<View>& v) { arg_extremum<std::less<>>(node, v); }

}  // namespace

extern const KernelDef sum_loop{
    .name = "sum", .ops = {&ops::sum_op}, .make = make_loop<UnaryOperands, sum>};
extern const KernelDef prod_loop{
    .name = "prod", .ops = {&ops::prod_op}, .make = make_loop<UnaryOperands, prod>};
extern const KernelDef max_loop{
    .name = "max", .ops = {&ops::max_op}, .make = make_loop<UnaryOperands, max>};
extern const KernelDef min_loop{
    .name = "min", .ops = {&ops::min_op}, .make = make_loop<UnaryOperands, min>};
extern const KernelDef any_loop{
    .name = "any", .ops = {&ops::any_op}, .make = make_loop<UnaryOperands, any>};
extern const KernelDef all_loop{
    .name = "all", .ops = {&ops::all_op}, .make = make_loop<UnaryOperands, all>};
extern const KernelDef argmax_loop{
    .name = "argmax", .ops = {&ops::argmax_op}, .make = make_loop<UnaryOperands, argmax>};
extern const KernelDef argmin_loop{
    .name = "argmin", .ops = {&ops::argmin_op}, .make = make_loop<UnaryOperands, argmin>};

}  // namespace keratin::reference
