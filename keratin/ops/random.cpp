#include "keratin/ops/random.h"

#include <cmath>
#include <numbers>

#include "keratin/base/text.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/indexing.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/pointwise_rules.h"
#include "keratin/ops/records.h"
#include "keratin/ops/sort.h"
#include "keratin/tensor/elements.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::ops {

namespace {

void check_key(const Node& n, size_t i) {
  require(n.in(i).dtype() == DType::i64 && compatible(n.in(i).shape(), Shape{2}), n.name(),
          ": the key must be i64[2], got ", n.in(i).type());
}

void check_dtype(std::string_view who, DType dtype) {
  require(is_float(dtype), who, ": expected a float dtype, got ", dtype);
}

// Bits of the mantissa, with the hidden one.
int precision(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 53;
    case DType::f32:
      return 24;
    case DType::f16:
      return 11;
    default:
      return 8;
  }
}

int64_t whole_blocks(int64_t words) { return (words + 3) / 4 * 4; }

Value integer_like(Value like, int64_t value) {
  return constant(like.block(), Tensor::of<int64_t>(like.dtype(), {}, {value}));
}

// The upper bits of every word, as whole numbers.
Value upper_bits(Value words, int bits) {
  return shift_right_logical(words, integer_like(words, 32 - bits));
}

// Whole numbers uniform in [0, 2^bits): f32 up to 24 bits, f64 (from two words each) beyond.
Value whole_numbers(Value key, const Shape& shape, int bits) {
  const Value words = random_bits(key, shape);
  if (bits <= 24) return cast(upper_bits(words, bits), DType::f32);
  const int64_t count = shape.known() ? shape.count() : 0;  // unknown: only types matter
  const Value more = random_bits(advance(key, count), shape);
  const Value high = cast(upper_bits(words, bits - 26), DType::f64);
  return high * 0x1p26 + cast(upper_bits(more, 26), DType::f64);
}

// Uniform in (-1, 1): odd multiples of 2^-bits, as many above zero as below.
Value symmetric(Value key, DType dtype, const Shape& shape) {
  const int bits = dtype == DType::f64 ? 52 : 23;
  const Value odd = whole_numbers(key, shape, bits) * 2.0 + (1 - std::ldexp(1, bits));
  return odd * std::ldexp(1, -bits);
}

double largest_below(DType dtype, double limit) {
  return dispatch(dtype, [&](auto tag) -> double {
    using S = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<S>) {
      const S nearest = static_cast<S>(limit);
      return nearest < limit ? nearest : std::nextafter(nearest, -std::numeric_limits<S>::max());
    } else if constexpr (std::is_floating_point_v<compute_t<S>>) {
      S nearest(static_cast<float>(limit));
      if (static_cast<float>(nearest) < limit) return static_cast<float>(nearest);
      const bool negative = (nearest.bits & 0x8000) != 0, zero = (nearest.bits & 0x7fff) == 0;
      nearest.bits = zero ? 0x8001 : static_cast<uint16_t>(nearest.bits + (negative ? 1 : -1));
      return static_cast<float>(nearest);
    } else {
      return limit;
    }
  });
}

// True where the upper 24 bits of a word are below the probability.
Value happens(Value words, double p) {
  return less(upper_bits(words, 24), integer_like(words, std::llround(p * 0x1p24)));
}

}  // namespace

// word[offset + i] of the stream of the seed, key = {seed, offset}
const OpDef random_bits_op{
    .name = "random_bits",
    .attrs = attrs_type<RandomAttrs>(),
    .arity = 1,
    .infer = [](const Node& n) -> Types {
      check_key(n, 0);
      const Shape shape(n.attr<RandomAttrs>().shape);
      if (shape.known()) shape.count();  // refuses what overflows
      return {{DType::i32, shape}};
    },
    .grad = no_gradient,
};

// y = word < rate ? 0 : x / (1 - rate), with the words of the key; the gradient is the same of dy
const OpDef dropout_op{
    .name = "dropout",
    .attrs = attrs_type<DropoutAttrs>(),
    .arity = 2,
    .infer = [](const Node& n) -> Types {
      const double rate = n.attr<DropoutAttrs>().rate;
      require(is_float(n.in().dtype()), "dropout: expected a float tensor, got ", n.in().type());
      check_key(n, 1);
      require(rate >= 0 && rate <= 1, "dropout: the rate must lie in [0, 1], got ", rate);
      return {n.in().type()};
    },
    .decompose = [](const Node& n) -> Values {
      const double kept = 1 - n.attr<DropoutAttrs>().rate;
      if (kept == 1) return {n.in()};
      if (kept == 0) return {zeros_like(n.in())};
      const Value keep = happens(random_bits(n.in(1), n.in().shape()), kept);
      return {where(keep, n.in() * (1 / kept), scalar_like(n.in(), 0))};
    },
    .grad = [](const Node& n, const Values& dy) -> Values {
      return {dropout(dy[0], n.in(1), n.attr<DropoutAttrs>().rate), Value()};
    },
};

Value random_bits(Value key, const Shape& shape) {
  return emit(random_bits_op, {key}, RandomAttrs{shape.dims()});
}

int64_t random_words(DType dtype, const Shape& shape) {
  return whole_blocks(shape.count()) * (dtype == DType::f64 ? 2 : 1);
}

Value advance(Value key, int64_t n) {
  require(n >= 0, "advance: expected a number of words, got ", n);
  return key + constant(key.block(), Tensor::of<int64_t>(DType::i64, {2}, {0, whole_blocks(n)}));
}

Value random_uniform(Value key, DType dtype, const Shape& shape, double low, double high) {
  check_dtype("random_uniform", dtype);
  require(low < high && std::isfinite(low) && std::isfinite(high),
          "random_uniform: expected low < high, got ", low, " and ", high);
  const int bits = precision(dtype);
  Value y = whole_numbers(key, shape, bits) * (std::ldexp(1, -bits) * (high - low));
  if (low != 0) y = y + low;
  y = cast(y, dtype);
  // Rounding may give the upper end, which is excluded.
  return low == 0 && high == 1 ? y : minimum(y, scalar_like(y, largest_below(dtype, high)));
}

Value random_normal(Value key, DType dtype, const Shape& shape, double mean, double stddev) {
  check_dtype("random_normal", dtype);
  const Value x = erfinv(symmetric(key, dtype, shape));
  return cast(x * (std::numbers::sqrt2 * stddev) + mean, dtype);
}

// |u| < 1 makes |x| < √2 · erfinv(erf(√2)) = 2.
Value truncated_normal(Value key, DType dtype, const Shape& shape, double mean, double stddev) {
  check_dtype("truncated_normal", dtype);
  const Value x = erfinv(symmetric(key, dtype, shape) * std::erf(std::numbers::sqrt2));
  return cast(x * (std::numbers::sqrt2 * stddev) + mean, dtype);
}

Value bernoulli(Value key, const Shape& shape, double p) {
  require(p >= 0 && p <= 1, "bernoulli: p must lie in [0, 1], got ", p);
  return happens(random_bits(key, shape), p);
}

Value randint(Value key, DType dtype, const Shape& shape, int64_t low, int64_t high) {
  require(is_integer(dtype), "randint: expected an integer dtype, got ", dtype);
  require(low < high && static_cast<uint64_t>(high) - static_cast<uint64_t>(low) <= 1ULL << 31,
          "randint: expected low < high, at most 2^31 values, got ", low, " and ", high);
  const Tensor ends = Tensor::of<int64_t>(dtype, {2}, {low, high - 1}).cast(DType::i64);
  require(ends == Tensor::of<int64_t>(DType::i64, {2}, {low, high - 1}), "randint: ", low, " to ",
          high, " does not fit ", dtype);
  const Value signed_words = cast(random_bits(key, shape), DType::i64);
  const Value words = bitwise_and(signed_words, integer_like(signed_words, 0xffffffff));
  const Value scaled = words * integer_like(words, high - low);
  return cast(bitwise_right_shift(scaled, integer_like(words, 32)) + integer_like(words, low),
              dtype);
}

Value permutation(Value key, int64_t n) {
  require(n >= 0, "permutation: expected a size, got ", n);
  return argsort(random_bits(key, {n}), {.axis = 0});
}

Value shuffle(Value x, Value key, int64_t axis) {
  axis = normalize_axis(axis, x.rank(), "shuffle");
  const int64_t size = x.shape()[axis];
  require(size != unknown, "shuffle: the size of axis ", axis, " must be known, got ", x.shape());
  return take(x, permutation(key, size), axis);
}

Value dropout(Value x, Value key, double rate) {
  return emit(dropout_op, {x, key}, DropoutAttrs{rate});
}

}  // namespace keratin::ops
