#include "keratin/base/text.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/norm_rules.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/records.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/scalar.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::ops {

namespace {

const BatchNormAttrs& batch_norm_attrs(const Node& n) { return n.attr<BatchNormAttrs>(); }
Dims channels_of(const Node& n) { return {batch_norm_attrs(n).axis}; }
Dims reduced_of(const Node& n) { return other_axes(n.in().shape(), channels_of(n)); }

void check_batch_norm(const Node& n, size_t before_scale) {
  const BatchNormAttrs& attrs = batch_norm_attrs(n);
  check_norm(n, {attrs.axis}, attrs.epsilon);
  require(n.in().rank() >= 2, n.name(), ": expected rank 2 or more, got ", n.in().type());
  check_inputs(n, before_scale + (attrs.scale ? 1 : 0) + (attrs.offset ? 1 : 0));
  size_t next = before_scale;
  if (attrs.scale) check_parameter(n, next++, "scale", channels_of(n), n.in().dtype());
  if (attrs.offset) check_parameter(n, next, "offset", channels_of(n), n.in().dtype());
}

// Mean and variance, inputs 1 and 2.
void check_statistics(const Node& n) {
  const DType dtype = statistics_dtype(n.in().dtype());
  check_parameter(n, 1, "mean", channels_of(n), dtype);
  check_parameter(n, 2, "variance", channels_of(n), dtype);
}

Type channel_type(const Node& n, DType dtype) {
  return {dtype, sizes_of(n.in().shape(), channels_of(n))};
}

Value spread_channels(const Node& n, Value parameter) {
  return spread(parameter, n.in().shape(), channels_of(n));
}

double channel_count(const Node& n) {
  return static_cast<double>(sizes_of(n.in().shape(), reduced_of(n)).count());
}

// x before a widening cast, which the arithmetic of statistics makes unnecessary.
Value before_widening(Value x) {
  if (x.node().op().scalar != ScalarOp::cast) return x;
  const Value narrow = x.node().in();
  return is_float(narrow.dtype()) && size_of(narrow.dtype()) < size_of(x.dtype()) &&
                 statistics_dtype(narrow.dtype()) == statistics_dtype(x.dtype())
             ? narrow
             : x;
}

// x without a bias per channel that was added to it (undefined if there is none): normalising
// removes the bias anyway, so x need not be computed.
struct Biased {
  Value plain, bias;
};
Biased biased(const Node& n) {
  const Value x = before_widening(n.in());
  const Node& add = x.node();
  if (add.op().scalar == ScalarOp::add && batch_norm_attrs(n).axis == x.rank() - 1)
    for (size_t i : {0, 1}) {
      const Shape& bias = add.in(i).shape();
      if (bias.rank() >= 1 && bias.known() && bias.count() == bias.back() &&
          bias.back() == x.shape().back() && add.in(1 - i).shape() == x.shape())
        return {add.in(1 - i), precise(reshape(add.in(i), {bias.back()}))};
    }
  return {x, {}};
}

Moments moments_of_channels(const Node& n, Value x) {
  if (batch_norm_attrs(n).axis == n.in().rank() - 1) return moments(x);
  const Value centre = mean(precise(x), reduced_of(n));
  return {centre, mean(square(precise(x) - spread_channels(n, centre)), reduced_of(n))};
}

// x · inv + (offset - mean · inv) with inv = scale / √(variance + epsilon): two operations per
// element, the rest is per channel.
Value normalized(const Node& n, Value x, Value mean, Value variance, size_t next) {
  const BatchNormAttrs& attrs = batch_norm_attrs(n);
  Value inverse = rsqrt(variance + attrs.epsilon);
  if (attrs.scale) inverse = inverse * precise(n.in(next++));
  Value shift = -(mean * inverse);
  if (attrs.offset) shift = precise(n.in(next)) + shift;
  const Value y = precise(x) * spread_channels(n, inverse) + spread_channels(n, shift);
  return cast(y, n.in().dtype());
}

Values batch_norm_gradient(const Node& n, const Values& dy) {
  BatchNormAttrs attrs = batch_norm_attrs(n);
  const bool offset = attrs.offset;
  attrs.offset = false;
  Values inputs = {n.in(), n.out(1), n.out(2), dy[0]};
  if (attrs.scale) inputs.push_back(n.in(1));
  const Node& grads = emit_node(batch_norm_grad_op, inputs, attrs);
  Value dx = grads.out();
  const double count = channel_count(n);
  if (flows(dy[1])) {
    const Value more = spread_channels(n, dy[1] / count);
    dx = dx + cast(broadcast_to(more, dx.shape().dims()), dx.dtype());
  }
  if (flows(dy[2])) {
    const Value centred = precise(n.in()) - spread_channels(n, n.out(1));
    dx = dx + cast(centred * spread_channels(n, dy[2] * (2 / count)), dx.dtype());
  }
  Values result = {dx};
  if (attrs.scale) result.push_back(grads.out(1));
  if (offset) result.push_back(grads.out(2));
  return result;
}

Attrs make_attrs(std::string_view who, Value x, int64_t axis, double epsilon, Value scale,
                 Value offset) {
  require(x.defined(), who, ": the input is an undefined value");
  return BatchNormAttrs{normalize_axis(axis, x.rank(), who), epsilon, scale.defined(),
                        offset.defined()};
}

void add_present(Values& inputs, Value value) {
  if (value.defined()) inputs.push_back(value);
}

}  // namespace

// y = (x - mean) / √(variance + epsilon) · scale + offset; mean; variance (divided by the count)
const OpDef batch_norm_training_op{
    .name = "batch_norm_training",
    .attrs = attrs_type<BatchNormAttrs>(),
    .infer = [](const Node& n) -> Types {
      check_batch_norm(n, 1);
      const Type statistic = channel_type(n, statistics_dtype(n.in().dtype()));
      return {n.in().type(), statistic, statistic};
    },
    .decompose = [](const Node& n) -> Values {
      const auto [x, bias] = biased(n);
      const Moments m = moments_of_channels(n, x);
      const Value mean = bias.defined() ? m.mean + bias : m.mean;
      return {normalized(n, x, m.mean, m.variance, 1), mean, m.variance};
    },
    .grad = batch_norm_gradient,
};

// Given x, mean, variance, dy (and scale), with h = (x - mean) · rstd and sums over a channel's m
// elements: dx = scale · rstd · (dy - Σ dy / m - h · Σ(dy · h) / m); dscale = Σ dy · h;
// doffset = Σ dy
const OpDef batch_norm_grad_op{
    .name = "batch_norm_grad",
    .attrs = attrs_type<BatchNormAttrs>(),
    .infer = [](const Node& n) -> Types {
      check_batch_norm(n, 4);
      check_statistics(n);
      require(n.in(3).dtype() == n.in().dtype() && compatible(n.in(3).shape(), n.in().shape()),
              n.name(), ": dy must be ", n.in().type(), ", got ", n.in(3).type());
      const Type parameter = channel_type(n, n.in().dtype());
      return {n.in().type(), parameter, parameter};
    },
    .decompose = [](const Node& n) -> Values {
      const BatchNormAttrs& attrs = batch_norm_attrs(n);
      const DType dtype = n.in().dtype();
      const double count = channel_count(n);
      const Value dy = precise(n.in(3)), rstd = rsqrt(n.in(2) + attrs.epsilon);
      const auto [x, bias] = biased(n);
      const Value mean = bias.defined() ? n.in(1) - bias : n.in(1);
      const Value centred = precise(x) - spread_channels(n, mean);
      const Value doffset = sum(dy, reduced_of(n));
      const Value dscale = sum(dy * centred, reduced_of(n)) * rstd;
      // dx = factor · dy + slope · x + flat: few operations per element, on values that are in
      // memory.
      const Value factor = attrs.scale ? rstd * precise(n.in(4)) : rstd;
      const Value slope = factor * rstd * dscale / -count;
      const Value flat = factor * doffset / -count - slope * mean;
      const Value dx = dy * spread_channels(n, factor) +
                       (precise(x) * spread_channels(n, slope) + spread_channels(n, flat));
      return {cast(dx, dtype), cast(dscale, dtype), cast(doffset, dtype)};
    },
};

// y = (x - mean) / √(variance + epsilon) · scale + offset
const OpDef batch_norm_inference_op{
    .name = "batch_norm_inference",
    .attrs = attrs_type<BatchNormAttrs>(),
    .infer = [](const Node& n) -> Types {
      check_batch_norm(n, 3);
      check_statistics(n);
      return {n.in().type()};
    },
    .decompose = [](const Node& n) -> Values {
      return {normalized(n, n.in(), n.in(1), n.in(2), 3)};
    },
};

BatchNorm batch_norm_training(Value x, Value scale, Value offset, int64_t axis, double epsilon) {
  Attrs attrs = make_attrs("batch_norm_training", x, axis, epsilon, scale, offset);
  Values inputs = {x};
  add_present(inputs, scale);
  add_present(inputs, offset);
  const Node& node = emit_node(batch_norm_training_op, inputs, std::move(attrs));
  return {node.out(0), node.out(1), node.out(2)};
}

Value batch_norm_inference(Value x, Value mean, Value variance, Value scale, Value offset,
                           int64_t axis, double epsilon) {
  Attrs attrs = make_attrs("batch_norm_inference", x, axis, epsilon, scale, offset);
  Values inputs = {x, mean, variance};
  add_present(inputs, scale);
  add_present(inputs, offset);
  return emit(batch_norm_inference_op, inputs, std::move(attrs));
}

}  // namespace keratin::ops
