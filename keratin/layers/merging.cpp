#include "keratin/layers/merging.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/ops/einsum.h"
#include "keratin/ops/fill.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/promote.h"
#include "keratin/ops/reduce.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin {
namespace {

std::string shapes_text(const Shapes& shapes) {
  std::string out = "[";
  for (const Shape& shape : shapes) out += (out.size() > 1 ? ", " : "") + keras_shape(shape);
  return out + "]";
}

Shape without_batch(const Shape& shape) {
  return Dims(shape.begin() + std::min<int64_t>(1, shape.rank()), shape.end());
}

// The shape to which two shapes broadcast, aligned at the end.
Shape broadcast(const Shape& a, const Shape& b) {
  if (a.rank() < b.rank()) return broadcast(b, a);
  Dims dims = a.dims();
  for (int64_t i = 1; i <= b.rank(); ++i) {
    int64_t& size = dims[static_cast<size_t>(a.rank() - i)];
    const int64_t other = b[b.rank() - i];
    if (size == unknown || other == unknown) {
      size = unknown;
    } else {
      require(size == other || size == 1 || other == 1,
              "Inputs have incompatible shapes. Received shapes ", keras_shape(a), " and ",
              keras_shape(b));
      if (size == 1) size = other;
    }
  }
  return Shape(dims);
}

void require_list(const Call& c, std::string_view who) {
  if (c.argument(0).is_list()) return;
  fail(who, " should be called on a list of inputs. Received: input_shape=",
       keras_shape(c.input().shape()), " (not a list of shapes)");
}

// The unmasked of two values; if neither is masked, the one that the op picks.
template <class Op>
Value pick(const detail::MergeInputs& inputs, Op op) {
  Value out = inputs.values[0];
  std::optional<Value> out_mask = inputs.masks[0];
  for (size_t i = 1; i < inputs.values.size(); ++i) {
    Value x = inputs.values[i];
    const std::optional<Value>& mask = inputs.masks[i];
    if (mask) x = ops::where(*mask, x, out);
    if (out_mask) out = ops::where(*out_mask, out, x);
    out_mask = mask && out_mask ? std::optional(*out_mask | *mask) : std::nullopt;
    out = op(out, x);
  }
  return out;
}

Shapes shapes_of(const Values& values) {
  Shapes shapes;
  for (const Value& value : values) shapes.push_back(value.shape());
  return shapes;
}

Value total(const Values& values) {
  Value sum = values[0];
  for (size_t i = 1; i < values.size(); ++i) sum = sum + values[i];
  return sum;
}

// x divided by its norm along an axis, or by 1e-7 if the norm is smaller.
Value unit_length(Value x, int64_t axis) {
  const Value inverse = ops::rsqrt(ops::sum(ops::square(x), {axis}, /*keepdims=*/true));
  return x * ops::minimum(inverse, ops::scalar_like(x, 1e7));
}

}  // namespace

void detail::check_merge(std::string_view who, const Shapes& inputs) {
  require(!inputs.empty(), "A merge layer should be called on a list of at least 1 input. ", who,
          " received none.");
  int64_t batch = unknown;
  for (const Shape& shape : inputs) {
    if (shape.rank() == 0 || shape[0] == unknown) continue;
    require(batch == unknown || batch == shape[0],
            "Cannot merge tensors with different batch sizes. Received tensors with shapes ",
            shapes_text(inputs));
    batch = shape[0];
  }
  Shape common = without_batch(inputs[0]);
  for (const Shape& shape : inputs) common = broadcast(common, without_batch(shape));
}

void detail::check_count(std::string_view who, const Shapes& inputs, size_t count) {
  require(inputs.size() == count, "A `", who, "` layer should be called on exactly ", count,
          " inputs. Received: input_shape=", shapes_text(inputs));
}

detail::MergeInputs detail::merge_inputs(const Call& c) {
  require_list(c, "A merge layer");
  detail::MergeInputs inputs{ops::promote(c.inputs()), c.masks()};
  require(!inputs.values.empty(),
          "A merge layer should be called on a list of at least 1 input. Received none.");
  int64_t rank = 0;
  for (const Value x : inputs.values) rank = std::max(rank, x.rank());
  for (size_t i = 0; i < inputs.values.size(); ++i) {
    Value& x = inputs.values[i];
    std::optional<Value>& mask = inputs.masks[i];
    // Keras 2 ignores masks here, and so does Keras 3 if it has to add axes.
    if (c.dialect() == Dialect::keras2 || x.rank() < rank) mask.reset();
    if (mask && mask->rank() < x.rank()) mask = ops::expand_dims(*mask, -1);
    while (x.rank() < rank) x = ops::expand_dims(x, std::min<int64_t>(1, x.rank()));
  }
  return inputs;
}

std::optional<Value> detail::merge_masks(const Call& c) {
  const bool both = c.dialect() == Dialect::keras2;
  std::optional<Value> merged;
  for (const std::optional<Value>& mask : c.masks()) {
    if (!mask && both) continue;
    if (!mask) return std::nullopt;
    merged = !merged ? mask : std::optional(both ? *merged & *mask : *merged | *mask);
  }
  return merged;
}

Value AddRule::merge(const detail::MergeInputs& inputs) { return total(inputs.values); }

Value SubtractRule::merge(const detail::MergeInputs& inputs) {
  detail::check_count(keras_name, shapes_of(inputs.values), count);
  return inputs.values[0] - inputs.values[1];
}

Value MultiplyRule::merge(const detail::MergeInputs& inputs) {
  Value out;
  std::optional<Value> any;
  bool all = true;
  for (size_t i = 0; i < inputs.values.size(); ++i) {
    Value x = inputs.values[i];
    const std::optional<Value>& mask = inputs.masks[i];
    all = all && mask;
    if (mask) {
      x = ops::where(*mask, x, ops::scalar_like(x, 1));
      any = any ? *any | *mask : *mask;
    }
    out = out.defined() ? out * x : x;
  }
  return all ? ops::where(*any, out, ops::scalar_like(out, 0)) : out;
}

Value AverageRule::merge(const detail::MergeInputs& inputs) {
  Value sum = total(inputs.values);
  if (!is_float(sum.dtype())) sum = ops::cast(sum, DType::f32);
  return sum / static_cast<double>(inputs.values.size());
}

Value MaximumRule::merge(const detail::MergeInputs& inputs) { return pick(inputs, ops::maximum); }

Value MinimumRule::merge(const detail::MergeInputs& inputs) { return pick(inputs, ops::minimum); }

ConcatenateLayer::ConcatenateLayer(ConcatenateConfig config, LayerOptions options)
    : LayerOf(config, std::move(options)) {}

void ConcatenateLayer::build(const Shapes& inputs) {
  require(!inputs.empty(),
          "A `Concatenate` layer should be called on a list of at least 1 input. Received none.");
  const int64_t rank = inputs[0].rank();
  require(cfg.axis >= -rank && cfg.axis < rank, "Concatenate '", name(), "': axis ", cfg.axis,
          " is outside the inputs ", shapes_text(inputs));
  const int64_t along = cfg.axis < 0 ? cfg.axis + rank : cfg.axis;
  bool match = true;
  for (const Shape& a : inputs)
    for (const Shape& b : inputs) {
      match = match && a.rank() == b.rank();
      for (int64_t i = 0; match && i < rank; ++i)
        match = i == along || a[i] == b[i] || a[i] == unknown || b[i] == unknown;
    }
  require(match,
          "A `Concatenate` layer requires inputs with matching shapes except for the concatenation "
          "axis. Received: input_shape=",
          shapes_text(inputs));
}

Results ConcatenateLayer::call(const Call& c) const {
  require_list(c, "A `Concatenate` layer");
  return ops::concatenate(ops::promote(c.inputs()), cfg.axis);
}

Masks ConcatenateLayer::compute_mask(const Call& c, size_t outputs) const {
  const Masks masks = c.masks();
  if (std::none_of(masks.begin(), masks.end(), [](const auto& m) { return m.has_value(); }))
    return Masks(outputs);
  const Values inputs = c.inputs();
  Values whole;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!masks[i]) {
      whole.push_back(ops::fill_like(inputs[i], 1, DType::boolean));
      continue;
    }
    Value mask = *masks[i];
    const bool lower = mask.rank() < inputs[i].rank();
    while (mask.rank() < inputs[i].rank()) mask = ops::expand_dims(mask, -1);
    if (lower) mask = mask | ops::fill_like(inputs[i], 0, DType::boolean);
    whole.push_back(mask);
  }
  const Value joined = ops::concatenate(whole, cfg.axis);
  return {c.dialect() == Dialect::keras2 ? ops::all(joined, {-1}) : ops::any(joined, {-1})};
}

DotLayer::DotLayer(DotConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  require(cfg.axes.single() || cfg.axes.dims().size() == 2,
          "Invalid format for argument `axes`: it should contain two elements. Received: axes=",
          cfg.axes.to_json());
}

namespace {

// Checked at every call: the inputs of later calls may have other shapes.
void check_pair(const Shapes& inputs) {
  require(inputs.size() == 2,
          "A `Dot` layer should be called on a list of 2 inputs. Received: ", shapes_text(inputs));
  const Shape &a = inputs[0], &b = inputs[1];
  require(a.rank() >= 2 && b.rank() >= 2,
          "Cannot do batch_dot on inputs with rank < 2. Received inputs with shapes ",
          keras_shape(a), " and ", keras_shape(b));
}

}  // namespace

std::pair<int64_t, int64_t> DotLayer::axes_for(const Shape& a, const Shape& b) const {
  const Dims axes = cfg.axes.expand(2, "Dot");
  const auto from_front = [&](int64_t axis, int64_t rank) {
    require(axis >= -rank && axis < rank, "Dot '", name(), "': axis ", axis,
            " is outside an input of rank ", rank);
    const int64_t along = axis < 0 ? axis + rank : axis;
    require(along != 0,
            "Cannot perform batch_dot over axis 0. If your inputs are not batched, add a dummy "
            "batch dimension to your inputs using keras.ops.expand_dims(x, 0)");
    return along;
  };
  return {from_front(axes[0], a.rank()), from_front(axes[1], b.rank())};
}

void DotLayer::build(const Shapes& inputs) {
  check_pair(inputs);
  const Shape &a = inputs[0], &b = inputs[1];
  const auto [along_a, along_b] = axes_for(a, b);
  const int64_t size_a = a[along_a], size_b = b[along_b];
  require(size_a == size_b || size_a == unknown || size_b == unknown,
          "Incompatible input shapes: axis values ", size_a, " (at axis ", along_a, ") != ", size_b,
          " (at axis ", along_b, "). Full input shapes: ", keras_shape(a), ", ", keras_shape(b));
}

Results DotLayer::call(const Call& c) const {
  require_list(c, "A `Dot` layer");
  Values inputs = ops::promote(c.inputs());
  check_pair(shapes_of(inputs));
  const auto [along_a, along_b] = axes_for(inputs[0].shape(), inputs[1].shape());
  if (cfg.normalize) inputs = {unit_length(inputs[0], along_a), unit_length(inputs[1], along_b)};
  // Letters: 'a' is the batch, 'z' the axis that is summed over, others are the remaining axes.
  std::string terms[2], result = "a";
  char next = 'b';
  for (size_t i = 0; i < 2; ++i) {
    terms[i] = "a";
    for (int64_t axis = 1; axis < inputs[i].rank(); ++axis) {
      const bool summed = axis == (i == 0 ? along_a : along_b);
      terms[i] += summed ? 'z' : next;
      if (!summed) result += next++;
    }
  }
  const Value y = ops::einsum(terms[0] + "," + terms[1] + "->" + result, inputs);
  return y.rank() == 1 ? ops::expand_dims(y, 1) : y;
}

namespace layers {

SymbolicTensor add(const Symbols& inputs, LayerOptions options) {
  return Add({}, std::move(options))(inputs);
}
SymbolicTensor subtract(const Symbols& inputs, LayerOptions options) {
  return Subtract({}, std::move(options))(inputs);
}
SymbolicTensor multiply(const Symbols& inputs, LayerOptions options) {
  return Multiply({}, std::move(options))(inputs);
}
SymbolicTensor average(const Symbols& inputs, LayerOptions options) {
  return Average({}, std::move(options))(inputs);
}
SymbolicTensor maximum(const Symbols& inputs, LayerOptions options) {
  return Maximum({}, std::move(options))(inputs);
}
SymbolicTensor minimum(const Symbols& inputs, LayerOptions options) {
  return Minimum({}, std::move(options))(inputs);
}
SymbolicTensor concatenate(const Symbols& inputs, int64_t axis, LayerOptions options) {
  return Concatenate({.axis = axis}, std::move(options))(inputs);
}
SymbolicTensor dot(const Symbols& inputs, DotConfig config, LayerOptions options) {
  return Dot(std::move(config), std::move(options))(inputs);
}

}  // namespace layers
}  // namespace keratin
