#include "keratin/layers/wrappers.h"
#include "keratin/tensor/shape_rules.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/graph/call_protocol.h"
#include "keratin/ir/node.h"
#include "keratin/layers/rnn.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/indexing.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/slicing.h"

namespace keratin {
namespace {

// Layers that treat the samples of a batch independently: all steps can be one batch.
constexpr std::string_view apart[] = {
    "Activation",
    "AdaptiveAveragePooling1D",
    "AdaptiveAveragePooling2D",
    "AdaptiveAveragePooling3D",
    "AdaptiveMaxPooling1D",
    "AdaptiveMaxPooling2D",
    "AdaptiveMaxPooling3D",
    "Add",
    "AlphaDropout",
    "Average",
    "AveragePooling1D",
    "AveragePooling2D",
    "AveragePooling3D",
    "Bidirectional",
    "Concatenate",
    "Conv1D",
    "Conv1DTranspose",
    "Conv2D",
    "Conv2DTranspose",
    "Conv3D",
    "Conv3DTranspose",
    "ConvLSTM1D",
    "ConvLSTM2D",
    "ConvLSTM3D",
    "Cropping1D",
    "Cropping2D",
    "Cropping3D",
    "Dense",
    "DepthwiseConv1D",
    "DepthwiseConv2D",
    "Dropout",
    "ELU",
    "Embedding",
    "Flatten",
    "Functional",
    "GRU",
    "GRUCell",
    "GaussianDropout",
    "GaussianNoise",
    "GlobalAveragePooling1D",
    "GlobalAveragePooling2D",
    "GlobalAveragePooling3D",
    "GlobalMaxPooling1D",
    "GlobalMaxPooling2D",
    "GlobalMaxPooling3D",
    "GroupNormalization",
    "Identity",
    "InputLayer",
    "LSTM",
    "LSTMCell",
    "LayerNormalization",
    "LeakyReLU",
    "LocallyConnected1D",
    "LocallyConnected2D",
    "Masking",
    "MaxPooling1D",
    "MaxPooling2D",
    "MaxPooling3D",
    "Maximum",
    "Minimum",
    "Multiply",
    "PReLU",
    "Permute",
    "RMSNormalization",
    "RNN",
    "ReLU",
    "RepeatVector",
    "Rescaling",
    "Reshape",
    "ReversibleEmbedding",
    "STFTSpectrogram",
    "SeparableConv1D",
    "SeparableConv2D",
    "Sequential",
    "SimpleRNN",
    "SimpleRNNCell",
    "Softmax",
    "SpatialDropout1D",
    "SpatialDropout2D",
    "SpatialDropout3D",
    "StackedRNNCells",
    "Subtract",
    "TimeDistributed",
    "UnitNormalization",
    "UpSampling1D",
    "UpSampling2D",
    "UpSampling3D",
    "ZeroPadding1D",
    "ZeroPadding2D",
    "ZeroPadding3D",
};

static_assert(std::is_sorted(std::begin(apart), std::end(apart)));

// True if the layer works along an axis that may be the batch's.
bool works_along_batch(const Layer& layer) {
  const Json config = layer.own_config();
  const Json* axis = config.find("axis");
  if (axis == nullptr) return false;
  const auto fine = [](const Json& a) {
    return a.is_int() && (a.as_int() == -1 || a.as_int() > 0);
  };
  if (!axis->is_array()) return !fine(*axis);
  return !std::all_of(axis->as_array().begin(), axis->as_array().end(), fine);
}

bool keeps_samples_apart(const Layer& layer, bool training) {
  const bool known = std::binary_search(std::begin(apart), std::end(apart), layer.class_name());
  if (!known && (layer.class_name() != "BatchNormalization" || training)) return false;
  if (works_along_batch(layer)) return false;
  // A stateful layer carries its state from step to step.
  if (const auto* recurrent = dynamic_cast<const RecurrentLayer*>(&layer))
    if (recurrent->flags().stateful) return false;
  for (const Layer::Sublayer& sub : layer.sublayers())
    if (!keeps_samples_apart(*sub.layer, training)) return false;
  return true;
}

// [batch, time, …] to [batch · time, …]; only the batch's size may be unknown.
Value join_steps(Value x) {
  Dims dims = x.shape().dims();
  dims.erase(dims.begin());
  dims[0] = ops::infer_size;
  return ops::reshape(x, dims);
}

Value part_steps(Value x, int64_t time) {
  Dims dims = x.shape().dims();
  dims[0] = time;
  dims.insert(dims.begin(), ops::infer_size);
  return ops::reshape(x, dims);
}

Value step(Value x, int64_t t) { return ops::squeeze(ops::slice_axis(x, 1, t, t + 1), 1); }

bool steps_known(Value x) {
  const Dims dims = x.shape().dims();
  return std::count(dims.begin() + 1, dims.end(), unknown) == 0;
}

Shape step_shape(const Shape& sequence) {
  require(sequence.rank() >= 3,
          "`TimeDistributed` Layer should be passed an `input_shape` with at least 3 dimensions, "
          "received: ",
          keras_shape(sequence));
  Dims dims = sequence.dims();
  dims.erase(dims.begin() + 1);
  return Shape(dims);
}

void check_mask(Value mask, const Shape& input) {
  const Shape& shape = mask.shape();
  require(shape.rank() >= 2,
          "The `mask` passed to the `TimeDistributed` layer must be at least 2D (e.g., "
          "`(batch_size, timesteps)`), but it has ",
          shape.rank(), " dimension(s) with shape ", keras_shape(shape), ".");
  require(compatible({shape[0], shape[1]}, {input[0], input[1]}),
          "The `mask` passed to the `TimeDistributed` layer has a shape ", keras_shape(shape),
          " that is incompatible with the input shape ", keras_shape(input),
          ". The first two dimensions of the mask (batch size and timesteps) must match the "
          "input's first two dimensions. Expected mask shape prefix: ",
          keras_shape({input[0], input[1]}), ".");
}

}  // namespace

TimeDistributedLayer::TimeDistributedLayer(TimeDistributedConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  require(cfg.layer != nullptr,
          "Please initialize `TimeDistributed` layer with a layer. Received: nothing");
  add_sublayer("layer", cfg.layer);
}

void TimeDistributedLayer::build(const Shapes& inputs) {
  cfg.layer->ensure_built({step_shape(inputs[0])});
}

// Runs `call` alone. As in Keras, activity regularizers, masks of outputs and casts to the compute
// dtype, which belong to `__call__`, are left out.
Results TimeDistributedLayer::on(const Call& c, Value x, Value mask) const {
  Traced input{x};
  if (mask.defined()) input.mask = mask;
  // A recurrent layer does call its cell, which casts to its own dtype.
  if (dynamic_cast<const RecurrentLayer*>(cfg.layer.get()) != nullptr) {
    if (is_float(x.dtype())) input.value = ops::cast(x, cfg.layer->compute_dtype());
    return cfg.layer->call(Call(c.tracer(), *cfg.layer, {{input}, {}}, c.training()));
  }
  return cfg.layer->call(Call(c, *cfg.layer, {{input}, {}}));
}

Results TimeDistributedLayer::on_all_steps(const Call& c, Value x, Value mask) const {
  const int64_t time = x.shape()[1];
  return on(c, join_steps(x), mask.defined() ? join_steps(mask) : mask).map<Value>([&](Value y) {
    return part_steps(y, time);
  });
}

Results TimeDistributedLayer::on_each_step(const Call& c, Value x, Value mask) const {
  std::vector<Values> outputs;  // of each step
  Results structure;
  for (int64_t t = 0; t < x.shape()[1]; ++t) {
    structure = on(c, step(x, t), mask.defined() ? step(mask, t) : mask);
    outputs.push_back(structure.flat());
  }
  size_t next = 0;
  return structure.map<Value>([&](Value) {
    Values steps;
    for (const Values& output : outputs) steps.push_back(output[next]);
    ++next;
    return ops::stack(steps, 1);
  });
}

// For unknown sizes, where programs only serve to infer shapes: one step stands for all.
Results TimeDistributedLayer::on_unknown_steps(const Call& c, Value x, Value mask) const {
  const Value zero = ops::constant(x.block(), Tensor::of<int64_t>(DType::i64, {}, {0}));
  const auto first = [&](Value v) { return v.defined() ? ops::take(v, zero, 1) : v; };
  const Results results = on(c, first(x), first(mask));
  return results.map<Value>([&](Value y) {
    Dims limits(static_cast<size_t>(x.rank()), 1), ones(static_cast<size_t>(y.rank() + 1), 1);
    limits[0] = limits[1] = ops::to_end;
    ones[0] = ones[1] = ops::keep_size;
    const Value steps = ops::reshape(ops::slice(x, Dims(limits.size(), 0), limits), ones);
    const Value never = ops::constant(x.block(), Tensor::scalar(DType::boolean, 0));
    return ops::where(never, ops::cast(steps, y.dtype()), ops::expand_dims(y, 1));
  });
}

Results TimeDistributedLayer::call(const Call& c) const {
  const Value x = c.input();
  step_shape(x.shape());
  if (const auto mask = c.mask()) check_mask(*mask, x.shape());
  const Value mask = cfg.layer->takes_mask() && c.mask() ? *c.mask() : Value();
  if (!steps_known(x)) return on_unknown_steps(c, x, mask);
  if (keeps_samples_apart(*cfg.layer, c.training())) return on_all_steps(c, x, mask);
  return on_each_step(c, x, mask);
}

Tree<Traced> TimeDistributedLayer::call_layers(const Call& call, const Call& for_masks) const {
  const Value x = call.input();
  if (call.dialect() == Dialect::keras3 || !steps_known(x))
    return call_with_masks(*this, call, for_masks);
  step_shape(x.shape());
  const auto given = for_masks.mask();
  if (given) check_mask(*given, x.shape());
  const int64_t time = x.shape()[1];
  Traced joined{join_steps(x)};
  if (given) joined.mask = join_steps(*given);
  const Tree<Traced> out = call.invoke(*cfg.layer, Arguments<Traced>{{joined}, {}});
  return out.map<Traced>([&](const Traced& t) {
    Traced y{part_steps(t.value, time)};
    if (t.mask) {
      y.mask = part_steps(*t.mask, time);
    } else if (given) {
      Dims axes;
      for (int64_t axis = 2; axis < given->rank(); ++axis) axes.push_back(axis);
      y.mask = axes.empty() ? *given : ops::any(*given, axes);
    }
    return y;
  });
}

}  // namespace keratin
