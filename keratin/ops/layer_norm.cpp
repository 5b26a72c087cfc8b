#include "keratin/base/text.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/norm_rules.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/records.h"
#include "keratin/ops/reduce.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::ops {

namespace {

const LayerNormAttrs& layer_norm_attrs(const Node& n) { return n.attr<LayerNormAttrs>(); }

// x, then the statistics and dy of a gradient op, then scale and offset.
void check_layer_norm(const Node& n, size_t before_scale) {
  const LayerNormAttrs& attrs = layer_norm_attrs(n);
  check_norm(n, attrs.axes, attrs.epsilon);
  check_inputs(n, before_scale + (attrs.scale ? 1 : 0) + (attrs.offset ? 1 : 0));
  size_t next = before_scale;
  if (attrs.scale) check_parameter(n, next++, "scale", attrs.axes, n.in().dtype());
  if (attrs.offset) check_parameter(n, next, "offset", attrs.axes, n.in().dtype());
}

// One number per row: x with size 1 along the axes.
Type statistic_type(const Node& n) {
  const Shape& x = n.in().shape();
  return {statistics_dtype(n.in().dtype()), kept(x, other_axes(x, layer_norm_attrs(n).axes))};
}

// The statistics and dy that a gradient op is given.
void check_given(const Node& n, size_t statistics) {
  const Type statistic = statistic_type(n);
  for (size_t i = 1; i <= statistics; ++i)
    require(n.in(i).dtype() == statistic.dtype && compatible(n.in(i).shape(), statistic.shape),
            n.name(), ": a statistic must be ", statistic, ", got ", n.in(i).type());
  const Value dy = n.in(statistics + 1);
  require(dy.dtype() == n.in().dtype() && compatible(dy.shape(), n.in().shape()), n.name(),
          ": dy must be ", n.in().type(), ", got ", dy.type());
}

Type parameter_type(const Node& n) {
  return {n.in().dtype(), sizes_of(n.in().shape(), layer_norm_attrs(n).axes)};
}

double row_count(const Node& n) {
  return static_cast<double>(sizes_of(n.in().shape(), layer_norm_attrs(n).axes).count());
}

// normal · scale + offset, with input `next` the first of the two.
Value scaled(const Node& n, Value normal, size_t next) {
  const LayerNormAttrs& attrs = layer_norm_attrs(n);
  const Shape& x = n.in().shape();
  if (attrs.scale) normal = normal * spread(n.in(next++), x, attrs.axes);
  if (attrs.offset) normal = normal + spread(n.in(next), x, attrs.axes);
  return cast(normal, n.in().dtype());
}

// The attributes of the gradient op, which does not depend on the offset.
Attrs grad_attrs(const Node& n) {
  LayerNormAttrs attrs = layer_norm_attrs(n);
  attrs.offset = false;
  return attrs;
}

// x's gradient, then those of scale and offset, where the node has them.
Values input_gradients(const Node& n, Value dx, const Node& grads) {
  Values result = {dx};
  if (layer_norm_attrs(n).scale) result.push_back(grads.out(1));
  if (layer_norm_attrs(n).offset) result.push_back(grads.out(2));
  return result;
}

Values layer_norm_gradient(const Node& n, const Values& dy) {
  Values inputs = {n.in(), n.out(1), n.out(2), dy[0]};
  if (layer_norm_attrs(n).scale) inputs.push_back(n.in(1));
  const Node& grads = emit_node(layer_norm_grad_op, inputs, grad_attrs(n));
  Value dx = grads.out();
  const auto add = [&](Value more) { dx = dx + cast(more, dx.dtype()); };
  const Value mean = n.out(1), rstd = n.out(2);
  if (flows(dy[1])) add(broadcast_to(dy[1] / row_count(n), dx.shape().dims()));
  if (flows(dy[2])) {
    const Value slope = rstd * square(rstd) / -row_count(n);  // of rstd by x - mean
    add(dy[2] * slope * (precise(n.in()) - mean));
  }
  return input_gradients(n, dx, grads);
}

Values rms_norm_gradient(const Node& n, const Values& dy) {
  Values inputs = {n.in(), n.out(1), dy[0]};
  if (layer_norm_attrs(n).scale) inputs.push_back(n.in(1));
  const Node& grads = emit_node(rms_norm_grad_op, inputs, grad_attrs(n));
  Value dx = grads.out();
  if (flows(dy[1])) {
    const Value rstd = n.out(1);
    const Value slope = rstd * square(rstd) / -row_count(n);  // of rstd by x
    dx = dx + cast(dy[1] * slope * precise(n.in()), dx.dtype());
  }
  return input_gradients(n, dx, grads);
}

Attrs make_attrs(std::string_view who, Value x, const Dims& axes, double epsilon, Value scale,
                 Value offset) {
  require(x.defined(), who, ": the input is an undefined value");
  return LayerNormAttrs{normalize_axes(axes, x.rank(), who), epsilon, scale.defined(),
                        offset.defined()};
}

Values present(Values inputs) {
  std::erase_if(inputs, [](const Value& value) { return !value.defined(); });
  return inputs;
}

}  // namespace

// y = (x - mean) · rstd · scale + offset; mean; rstd = 1 / √(variance + epsilon)
const OpDef layer_norm_op{
    .name = "layer_norm",
    .attrs = attrs_type<LayerNormAttrs>(),
    .infer = [](const Node& n) -> Types {
      check_layer_norm(n, 1);
      return {n.in().type(), statistic_type(n), statistic_type(n)};
    },
    .decompose = [](const Node& n) -> Values {
      const LayerNormAttrs& attrs = layer_norm_attrs(n);
      const Value x = precise(n.in()), centre = mean(x, attrs.axes, true), centred = x - centre;
      const Value rstd = rsqrt(mean(square(centred), attrs.axes, true) + attrs.epsilon);
      return {scaled(n, centred * rstd, 1), centre, rstd};
    },
    .grad = layer_norm_gradient,
};

// Given x, mean, rstd, dy (and scale), with g = dy · scale and h = (x - mean) · rstd:
// dx = rstd · (g - mean g - h · mean(g · h)); dscale = Σ dy · h; doffset = Σ dy
const OpDef layer_norm_grad_op{
    .name = "layer_norm_grad",
    .attrs = attrs_type<LayerNormAttrs>(),
    .infer = [](const Node& n) -> Types {
      check_layer_norm(n, 4);
      check_given(n, 2);
      return {n.in().type(), parameter_type(n), parameter_type(n)};
    },
    .decompose = [](const Node& n) -> Values {
      const LayerNormAttrs& attrs = layer_norm_attrs(n);
      const DType dtype = n.in().dtype();
      const Value rstd = n.in(2), dy = precise(n.in(3));
      const Value h = (precise(n.in()) - n.in(1)) * rstd;
      const Value g = attrs.scale ? dy * spread(n.in(4), dy.shape(), attrs.axes) : dy;
      const Value dx = rstd * (g - mean(g, attrs.axes, true) - h * mean(g * h, attrs.axes, true));
      return {cast(dx, dtype), gather_parameter(dy * h, attrs.axes, dtype),
              gather_parameter(dy, attrs.axes, dtype)};
    },
};

// y = x · rstd · scale; rstd = 1 / √(mean(x²) + epsilon)
const OpDef rms_norm_op{
    .name = "rms_norm",
    .attrs = attrs_type<LayerNormAttrs>(),
    .infer = [](const Node& n) -> Types {
      check_layer_norm(n, 1);
      require(!layer_norm_attrs(n).offset, "rms_norm: there is no offset");
      return {n.in().type(), statistic_type(n)};
    },
    .decompose = [](const Node& n) -> Values {
      const LayerNormAttrs& attrs = layer_norm_attrs(n);
      const Value x = precise(n.in());
      const Value rstd = rsqrt(mean(square(x), attrs.axes, true) + attrs.epsilon);
      return {scaled(n, x * rstd, 1), rstd};
    },
    .grad = rms_norm_gradient,
};

// Given x, rstd, dy (and scale), with g = dy · scale and h = x · rstd:
// dx = rstd · (g - h · mean(g · h)); dscale = Σ dy · h
const OpDef rms_norm_grad_op{
    .name = "rms_norm_grad",
    .attrs = attrs_type<LayerNormAttrs>(),
    .infer = [](const Node& n) -> Types {
      check_layer_norm(n, 3);
      check_given(n, 1);
      return {n.in().type(), parameter_type(n)};
    },
    .decompose = [](const Node& n) -> Values {
      const LayerNormAttrs& attrs = layer_norm_attrs(n);
      const DType dtype = n.in().dtype();
      const Value rstd = n.in(1), dy = precise(n.in(2)), h = precise(n.in()) * rstd;
      const Value g = attrs.scale ? dy * spread(n.in(3), dy.shape(), attrs.axes) : dy;
      return {cast(rstd * (g - h * mean(g * h, attrs.axes, true)), dtype),
              gather_parameter(dy * h, attrs.axes, dtype)};
    },
};

Value layer_norm(Value x, Value scale, Value offset, const Dims& axes, double epsilon) {
  Attrs attrs = make_attrs("layer_norm", x, axes, epsilon, scale, offset);
  return emit(layer_norm_op, present({x, scale, offset}), std::move(attrs));
}

Value rms_norm(Value x, Value scale, const Dims& axes, double epsilon) {
  Attrs attrs = make_attrs("rms_norm", x, axes, epsilon, scale, {});
  return emit(rms_norm_op, present({x, scale}), std::move(attrs));
}

}  // namespace keratin::ops
