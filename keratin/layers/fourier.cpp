#include "keratin/layers/fourier.h"

#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include "keratin/base/text.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/indexing.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/slicing.h"

namespace keratin::fourier {
namespace {

constexpr int64_t max_table = int64_t{1} << 26;

// exp(-2πi · row · column / length)
Complex turns(Value like, int64_t rows, int64_t columns, int64_t length) {
  require(rows <= max_table / columns, "Fourier transform: the length ", length,
          " has a prime factor that is too large");
  std::vector<double> real, imag;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(row * column % length) /
                           static_cast<double>(length);
      real.push_back(std::cos(angle));
      imag.push_back(-std::sin(angle));
    }
  const auto table = [&](const std::vector<double>& values) {
    return ops::constant(like.block(), Tensor::of(like.dtype(), {rows, columns}, values));
  };
  return {table(real), table(imag)};
}

using Product = Value (*)(Value, Value);
Complex multiply(const Complex& a, const Complex& b, Product product) {
  return {product(a.real, b.real) - product(a.imag, b.imag),
          product(a.real, b.imag) + product(a.imag, b.real)};
}

Value matmul(Value a, Value b) { return ops::matmul(a, b); }

// The axes in front, unchanged, and then these sizes; the sizes of `x` may be unknown in front.
Value with_last_axes(Value x, int64_t replaced, const Dims& sizes) {
  Dims shape(static_cast<size_t>(x.rank() - replaced), ops::keep_size);
  shape.insert(shape.end(), sizes.begin(), sizes.end());
  return ops::reshape(x, shape);
}

// The factor of n that is closest to its root, but not larger.
int64_t middle_factor(int64_t n) {
  int64_t factor = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
  while (n % factor != 0) --factor;
  return factor;
}

// The frames of […, time]: [… , frames, length].
Value frames_of(Value x, int64_t length, int64_t stride) {
  const int64_t time = x.shape().back();
  require(time >= length, "expected a signal of at least ", length, " samples, got ", time);
  const int64_t frames = (time - length) / stride + 1;
  const Shape shape = {frames, length};
  const Value frame = ops::iota(x.block(), DType::i64, shape, 0);
  const Value within = ops::iota(x.block(), DType::i64, shape, 1);
  const Value step = ops::scalar_like(frame, static_cast<double>(stride));
  return ops::take(x, frame * step + within, x.rank() - 1);
}

// A result of the right shape for a signal of unknown length: programs with unknown sizes only
// serve to infer shapes.
Complex of_unknown_length(Value x, int64_t bins) {
  Dims shape(static_cast<size_t>(x.rank() + 1), -1);
  shape.back() = bins;
  const Value y = ops::broadcast_to(ops::expand_dims(x, -1), shape);
  return {y, y};
}

}  // namespace

// Two transforms of shorter lengths: n = n1 · b + n2 and k = k1 + a · k2, where a · b is the
// length.
Complex rfft(Value x) {
  const int64_t length = x.shape().back(), a = middle_factor(length), b = length / a;
  const int64_t bins = length / 2 + 1, columns = (bins + a - 1) / a;
  const Value signal = with_last_axes(x, 1, {a, b});
  const Complex outer = turns(x, a, a, a);
  Complex y{matmul(outer.real, signal), matmul(outer.imag, signal)};
  y = multiply(y, turns(x, a, b, length), [](Value u, Value v) { return u * v; });
  y = multiply(y, turns(x, b, columns, b), matmul);
  const auto in_order = [&](Value v) {
    Dims order;
    for (int64_t axis = 0; axis < v.rank() - 2; ++axis) order.push_back(axis);
    order.insert(order.end(), {v.rank() - 1, v.rank() - 2});
    return ops::slice_axis(with_last_axes(ops::transpose(v, order), 2, {columns * a}), -1, 0, bins);
  };
  return {in_order(y.real), in_order(y.imag)};
}

Complex stft(Value signal, const std::vector<double>& window, int64_t stride, int64_t fft_length) {
  if (signal.shape().back() == unknown) return of_unknown_length(signal, fft_length / 2 + 1);
  Dims pad(static_cast<size_t>(signal.rank()), 0);
  pad.back() = fft_length / 2;
  const Value frames = frames_of(ops::pad_reflect(signal, pad, pad), fft_length, stride);
  std::vector<double> centred(static_cast<size_t>(fft_length), 0.0);
  std::copy(window.begin(), window.end(),
            centred.begin() + static_cast<std::ptrdiff_t>((centred.size() - window.size()) / 2));
  return rfft(frames *
              ops::constant(signal.block(), Tensor::of(signal.dtype(), {fft_length}, centred)));
}

}  // namespace keratin::fourier
