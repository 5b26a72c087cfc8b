#include "keratin/ops/image.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "keratin/base/text.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/einsum.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/indexing.h"
#include "keratin/ops/listed.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/records.h"

namespace keratin::ops {

namespace {

// A filter mixes the pixels whose centres lie within a radius of a point, by their distances.
struct Filter {
  std::string_view method;
  double radius;
  double (*weight)(double distance);
};

double triangle(double x) { return 1 - x; }

// Keys's cubic with a = -½: goes through the pixels, with a continuous slope.
double cubic(double x) {
  return x < 1 ? (1.5 * x - 2.5) * x * x + 1 : ((-0.5 * x + 2.5) * x - 4) * x + 2;
}

// sinc(x) · sinc(x / radius)
template <int radius>
double lanczos(double x) {
  if (x == 0) return 1;
  const double angle = std::numbers::pi * x;
  return radius * std::sin(angle) * std::sin(angle / radius) / (angle * angle);
}

// Of Keras 2 alone: exp(-½ (x / ½)²), and Mitchell and Netravali's cubic.
double gauss(double x) { return std::exp(-2 * x * x); }
double mitchell(double x) {
  return x < 1 ? (7.0 / 6 * x - 2) * x * x + 8.0 / 9
               : ((-7.0 / 18 * x + 2) * x - 10.0 / 3) * x + 16.0 / 9;
}

constexpr Filter filters[] = {{"bilinear", 1, triangle},   {"bicubic", 2, cubic},
                              {"gaussian", 1.5, gauss},    {"mitchellcubic", 2, mitchell},
                              {"lanczos3", 3, lanczos<3>}, {"lanczos5", 5, lanczos<5>}};

// The weight of each input pixel in each output pixel: [out, in], rows that sum to 1.
using Weights = std::vector<double>;

// With antialias, the filter is as much wider as the result is smaller.
Weights filter_weights(const Filter& filter, int64_t in, int64_t out, bool antialias) {
  Weights weights(static_cast<size_t>(in * out), 0.0);
  const double step = static_cast<double>(in) / static_cast<double>(out);
  const double width = antialias ? std::max(step, 1.0) : 1.0;
  for (int64_t o = 0; o < out; ++o) {
    const double at = (static_cast<double>(o) + 0.5) * step;
    double* row = &weights[static_cast<size_t>(o * in)];
    double total = 0;
    for (int64_t i = 0; i < in; ++i) {
      const double distance = std::fabs(static_cast<double>(i) + 0.5 - at) / width;
      if (distance < filter.radius) total += row[i] = filter.weight(distance);
    }
    for (int64_t i = 0; i < in; ++i) row[i] /= total;
  }
  return weights;
}

// How much of pixel o each pixel covers, in units of 1 / out and 1 / in.
Weights area_weights(int64_t in, int64_t out) {
  Weights weights(static_cast<size_t>(in * out), 0.0);
  for (int64_t o = 0; o < out; ++o)
    for (int64_t i = o * in / out; i < in && i * out < (o + 1) * in; ++i)
      weights[static_cast<size_t>(o * in + i)] =
          static_cast<double>(std::min((o + 1) * in, (i + 1) * out) - std::max(o * in, i * out)) /
          static_cast<double>(in);
  return weights;
}

const Filter* find_filter(std::string_view method) {
  const auto found = std::find_if(std::begin(filters), std::end(filters),
                                  [&](const Filter& f) { return f.method == method; });
  return found == std::end(filters) ? nullptr : found;
}

constexpr int64_t max_size = int64_t{1} << 24;  // so that products with sizes of an input fit

Types infer_resize(const Node& n) {
  const auto& [size, method, antialias] = n.attr<ResizeAttrs>();
  const Shape& shape = n.in().shape();
  require(shape.rank() == 4, "resize: expected [batch, height, width, channels], got ",
          n.in().type());
  require(method == "nearest" || method == "area" || find_filter(method) != nullptr,
          "resize: the method must be 'nearest', 'bilinear', 'bicubic', 'lanczos3', 'lanczos5', "
          "'area', 'gaussian' or 'mitchellcubic', got '",
          method, "'");
  require(method == "nearest" || is_float(n.in().dtype()), "resize: ", method,
          " needs a float tensor, got ", n.in().type());
  require(size.size() == 2 && size[0] > 0 && size[1] > 0,
          "resize: the size must be a positive height and width, got ", Listed{size});
  require(size[0] < max_size && size[1] < max_size && shape[1] < max_size && shape[2] < max_size,
          "resize: sizes must be less than ", max_size, ", got ", Listed{size}, " for ",
          n.in().type());
  require(shape[1] != 0 && shape[2] != 0, "resize: cannot enlarge nothing, got ", n.in().type());
  return {{n.in().dtype(), {shape[0], size[0], size[1], shape[3]}}};
}

// floor((o + ½) · in / out), with integers.
Value resize_nearest(Value x, int64_t axis, int64_t out) {
  const int64_t in = x.shape()[axis];
  std::vector<int64_t> source;
  for (int64_t o = 0; o < out; ++o) source.push_back((2 * o + 1) * in / (2 * out));
  return take(x, constant(x.block(), Tensor::of(DType::i64, {out}, source)), axis);
}

// low + (high - low) · weight, with s - ½ between the pixels low and high.
Value resize_bilinear(Value x, int64_t axis, int64_t out) {
  const int64_t in = x.shape()[axis];
  std::vector<int64_t> low, high;
  std::vector<double> weight;
  for (int64_t o = 0; o < out; ++o) {
    // (s - ½) · 2 · out, which is whole
    const int64_t scaled = (2 * o + 1) * in - out;
    const int64_t floor = scaled >= 0 ? scaled / (2 * out) : -1;
    low.push_back(std::max<int64_t>(floor, 0));
    high.push_back(std::min(floor + 1, in - 1));
    weight.push_back(static_cast<double>(scaled - floor * 2 * out) / static_cast<double>(2 * out));
  }
  const auto at = [&](const std::vector<int64_t>& source) {
    return take(x, constant(x.block(), Tensor::of(DType::i64, {out}, source)), axis);
  };
  Dims along(static_cast<size_t>(x.rank() - axis), 1);
  along[0] = out;
  const Value lower = at(low);
  const Value mix = constant(x.block(), Tensor::of(x.dtype(), Shape(along), weight));
  return lower + (at(high) - lower) * mix;
}

Value resize_weighted(Value x, int64_t axis, int64_t out, const ResizeAttrs& attrs) {
  const int64_t in = x.shape()[axis];
  constexpr int64_t max_weights = int64_t{1} << 28;
  require(in <= max_weights / out, "resize: ", attrs.method, " from ", in, " to ", out,
          " pixels takes more than ", max_weights, " weights");
  const Weights weights =
      attrs.method == "area" ? area_weights(in, out)
                             : filter_weights(*find_filter(attrs.method), in, out, attrs.antialias);
  return einsum(axis == 1 ? "nhwc,oh->nowc" : "nhwc,ow->nhoc",
                {x, constant(x.block(), Tensor::of(x.dtype(), {out, in}, weights))});
}

// One axis after the other.
Values decompose_resize(const Node& n) {
  const auto& attrs = n.attr<ResizeAttrs>();
  Value x = n.in();
  for (int64_t axis : {1, 2}) {
    const int64_t in = x.shape()[axis], out = attrs.size[static_cast<size_t>(axis - 1)];
    if (out == in) continue;
    if (attrs.method == "nearest")
      x = resize_nearest(x, axis, out);
    else if (attrs.method == "bilinear" && !(attrs.antialias && out < in))
      x = resize_bilinear(x, axis, out);
    else
      x = resize_weighted(x, axis, out, attrs);
  }
  return {x};
}

}  // namespace

// y[n, o, p, c] = x[n, s_o, s_p, c], or a mix of the pixels around (s_o, s_p)
const OpDef resize_op{.name = "resize",
                      .attrs = attrs_type<ResizeAttrs>(),
                      .arity = 1,
                      .infer = infer_resize,
                      .decompose = decompose_resize};

Value resize(Value x, ResizeAttrs attrs, const std::string& data_format) {
  require(data_format == "channels_last" || data_format == "channels_first",
          "resize: the data format must be 'channels_last' or 'channels_first', got '", data_format,
          "'");
  if (data_format == "channels_last") return emit(resize_op, {x}, std::move(attrs));
  require(x.rank() == 4, "resize: expected [batch, channels, height, width], got ", x.type());
  return transpose(emit(resize_op, {transpose(x, {0, 2, 3, 1})}, std::move(attrs)), {0, 3, 1, 2});
}

}  // namespace keratin::ops
