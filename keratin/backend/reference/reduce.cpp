#include "keratin/ops/reduce.h"

#include <algorithm>

#include "keratin/backend/reference/families.h"
#include "keratin/ops/records.h"
#include "keratin/ops/scalar.h"

namespace keratin::reference {

namespace {

// Folds the input into the output: start, then combine for each element, in row-major order.
template <class A, class S, class Combine>
void fold(const Call& call, A start, Combine combine) {
  const Shape& input = call.node.in().shape();
  Dims kept = input.dims();
  for (int64_t axis : call.node.attr<ops::ReduceAttrs>().axes) kept[static_cast<size_t>(axis)] = 1;
  const Shape reduced(kept);
  std::vector<A> totals(static_cast<size_t>(reduced.count()), start);
  int64_t position = 0;
  for_each_index(input, [&](const Dims& index) {
    A& total = totals[static_cast<size_t>(broadcast_position(index, reduced))];
    total = combine(total, static_cast<A>(static_cast<compute_t<S>>(call.in<S>(0)[position++])));
  });
  for (size_t i = 0; i < totals.size(); ++i)
    call.out<S>()[i] = static_cast<S>(static_cast<compute_t<S>>(totals[i]));
}

// Floats are summed in double: the reference should not be what rounds.
template <class S>
using accumulator_t = std::conditional_t<std::is_integral_v<S>, S, double>;

template <class Combine>
void fold_numbers(const Call& call, double start, Combine combine) {
  dispatch(call.node.in().dtype(), [&](auto tag) {
    using S = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<S, bool>) {
      using A = accumulator_t<S>;
      fold<A, S>(call, static_cast<A>(start), combine);
    }
  });
}

void sum(const Call& call) { fold_numbers(call, 0, scalar::Add{}); }
void prod(const Call& call) { fold_numbers(call, 1, scalar::Mul{}); }

template <class Combine>
void extremum(const Call& call, bool largest) {
  dispatch(call.node.in().dtype(), [&](auto tag) {
    using S = typename decltype(tag)::type;
    using A = accumulator_t<S>;
    if constexpr (!std::is_same_v<S, bool>) {
      using Limits = std::numeric_limits<A>;
      const A start = std::is_integral_v<A> ? (largest ? Limits::lowest() : Limits::max())
                                            : (largest ? -Limits::infinity() : Limits::infinity());
      fold<A, S>(call, start, Combine{});
    }
  });
}
void max(const Call& call) { extremum<scalar::Maximum>(call, true); }
void min(const Call& call) { extremum<scalar::Minimum>(call, false); }

void any(const Call& call) { fold<uint8_t, bool>(call, 0, scalar::BitOr{}); }
void all(const Call& call) { fold<uint8_t, bool>(call, 1, scalar::BitAnd{}); }

// The first position along the axis whose element beats all before it; NaN beats everything.
template <class Beats>
void arg_extremum(const Call& call) {
  dispatch(call.node.in().dtype(), [&](auto tag) {
    using S = typename decltype(tag)::type;
    const Shape& shape = call.node.in().shape();
    const int64_t axis = call.node.attr<ops::ArgAttrs>().axis;
    const int64_t outer = shape.count(0, axis), size = shape[axis];
    const int64_t inner = shape.count(axis + 1, shape.rank());
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        const auto at = [&](int64_t k) {
          return static_cast<compute_t<S>>(call.in<S>(0)[(o * size + k) * inner + i]);
        };
        int64_t best = 0;
        for (int64_t k = 1; k < size; ++k)
          if (at(best) == at(best) && (at(k) != at(k) || Beats{}(at(k), at(best)))) best = k;
        call.out<int64_t>()[o * inner + i] = best;
      }
  });
}
void argmax(const Call& call) { arg_extremum<std::greater<>>(call); }
void argmin(const Call& call) { arg_extremum<std::less<>>(call); }

constexpr Entry table[] = {
    {&ops::sum_op, sum},       {&ops::prod_op, prod},     {&ops::max_op, max},
    {&ops::min_op, min},       {&ops::any_op, any},       {&ops::all_op, all},
    {&ops::argmax_op, argmax}, {&ops::argmin_op, argmin},
};

}  // namespace

std::span<const Entry> reduce_loops() { return table; }

}  // namespace keratin::reference
