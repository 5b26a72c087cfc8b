#pragma once

#include "keratin/base/export.h"
#include "keratin/base/fields.h"
#include "keratin/ir/value.h"

// Random numbers from a counter (Philox4x32-10): a key, i64[2] {seed, offset}, is a position in
// the stream of 32-bit words of its seed, and all numbers are a function of the key alone. The same
// key gives the same numbers on every device; `advance` skips the numbers that were drawn.
namespace keratin::ops {

struct KERATIN_API RandomAttrs {
  Dims shape;
  static constexpr auto fields = field_list(field("shape", &RandomAttrs::shape));
};
struct KERATIN_API DropoutAttrs {
  double rate = 0;
  static constexpr auto fields = field_list(field("rate", &DropoutAttrs::rate));
};

// Element i is word offset + i of the stream, as i32. Sizes may be unknown until a program is
// specialised.
KERATIN_API Value random_bits(Value key, const Shape& shape);

// How many words a draw of this dtype takes: two for each f64, else one, in whole blocks of four.
KERATIN_API int64_t random_words(DType dtype, const Shape& shape);
// The key n words further on, rounded up to a whole block of four.
KERATIN_API Value advance(Value key, int64_t n);

// In [low, high), evenly spaced with as many bits as the dtype has: 53, 24, 11 (f16), 8 (bf16).
KERATIN_API Value random_uniform(Value key, DType dtype, const Shape& shape, double low = 0,
                                 double high = 1);
// mean + stddev · √2 erfinv(u), u uniform in (-1, 1).
KERATIN_API Value random_normal(Value key, DType dtype, const Shape& shape, double mean = 0,
                                double stddev = 1);
// The same conditioned on |x - mean| < 2 stddev.
KERATIN_API Value truncated_normal(Value key, DType dtype, const Shape& shape, double mean = 0,
                                   double stddev = 1);
// True with probability p, to 24 bits.
KERATIN_API Value bernoulli(Value key, const Shape& shape, double p);
// In [low, high), at most 2^31 values: low + ⌊word · (high - low) / 2^32⌋.
KERATIN_API Value randint(Value key, DType dtype, const Shape& shape, int64_t low, int64_t high);

// 0 … n - 1 in random order, as i64.
KERATIN_API Value permutation(Value key, int64_t n);
// x with its slices along an axis in random order; the size of the axis must be known.
KERATIN_API Value shuffle(Value x, Value key, int64_t axis = 0);

// Zero with probability `rate`, else x / (1 - rate).
KERATIN_API Value dropout(Value x, Value key, double rate);

}  // namespace keratin::ops
