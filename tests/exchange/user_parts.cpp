// What user_parts.py has in Python, in C++.
#include "tests/exchange/user_parts.h"

#include "keratin/keratin.h"

namespace keratin {
namespace {

struct SwirlConfig {
  double factor = 2;

  static constexpr std::string_view keras_name = "Swirl";
  static constexpr auto fields = field_list(field("factor", &SwirlConfig::factor));
};

// Keeps a table beside its weights and words in a file.
class SwirlLayer final : public LayerOf<SwirlLayer, SwirlConfig> {
 public:
  SwirlLayer(SwirlConfig config, LayerOptions options)
      : LayerOf(std::move(config), std::move(options)) {}

  void build(const Shapes& inputs) override {
    kernel_ = add_weight("kernel", {inputs[0].back()}, "ones");
  }
  Results call(const Call& c) const override {
    double sum = static_cast<double>(words_.size());
    for (int64_t i = 0; i < table_.count(); ++i) sum += table_.at(i);
    return c.input() * c.read(kernel_) * cfg.factor + sum;
  }

  LayerAssets assets() const override {
    return {.tensors = {{"table", table_}}, .files = {{"words.txt", words_}}};
  }
  LayerAssets expected_assets() const override { return assets(); }
  void load_assets(const LayerAssets& assets) override {
    if (const auto table = assets.tensors.find("table"); table != assets.tensors.end())
      table_ = table->second;
    if (const auto words = assets.files.find("words.txt"); words != assets.files.end())
      words_ = words->second;
    mark_changed();
  }

 private:
  Variable kernel_;
  Tensor table_ = Tensor({0.5F, 0.25F});
  std::string words_ = "none";
};

struct ShiftConfig {
  static constexpr std::string_view keras_name = "Shift";
  static constexpr auto fields = field_list();
};

// Gives its weight a name in files.
class ShiftLayer final : public LayerOf<ShiftLayer, ShiftConfig>, public HasSavedWeights {
 public:
  ShiftLayer(ShiftConfig config, LayerOptions options)
      : LayerOf(std::move(config), std::move(options)) {}

  void build(const Shapes& inputs) override {
    offset_ = add_weight("offset", {inputs[0].back()}, "zeros");
  }
  Results call(const Call& c) const override { return c.input() + c.read(offset_); }

  std::vector<Variable> saved_weights() const override { return {}; }
  Tensor saved_value(const Variable& weight) const override { return weight.value(); }
  std::vector<Variable> unsaved_weights() const override { return {}; }
  LayerAssets assets() const override { return {.tensors = {{"offset", offset_.value()}}}; }
  LayerAssets expected_assets() const override { return assets(); }
  void load_assets(const LayerAssets& assets) override {
    offset_.assign(assets.tensors.at("offset"));
  }

 private:
  Variable offset_;
};

Value twist(Value x) { return x * ops::sigmoid(x * 2.0); }
Value small(Value x) { return ops::sum(ops::abs(x)) * 0.01; }
Value far(Value y_true, Value y_pred) {
  return ops::mean(ops::cast(ops::abs(y_true - y_pred) > 0.5, DType::f32), {-1});
}

struct Filled {
  double value = 0.5;

  Tensor call(const Shape& shape, DType dtype, uint64_t) const {
    return Tensor::full(dtype, shape, value);
  }
  static constexpr std::string_view keras_name = "Filled";
  static constexpr auto fields = field_list(field("value", &Filled::value));
};

struct Capped {
  double limit = 1;

  Value call(Value w) const { return ops::minimum(w, ops::scalar_like(w, limit)); }
  static constexpr std::string_view keras_name = "Capped";
  static constexpr auto fields = field_list(field("limit", &Capped::limit));
};

struct Squash {
  double by = 0.5;

  Value call(Value x) const { return ops::tanh(x * by); }
  static constexpr std::string_view keras_name = "Squash";
  static constexpr auto fields = field_list(field("by", &Squash::by));
};

struct Shrink {
  double factor = 0.1;

  Value call(Value x) const { return ops::sum(ops::square(x)) * factor; }
  static constexpr std::string_view keras_name = "Shrink";
  static constexpr auto fields = field_list(field("factor", &Shrink::factor));
};

struct PulseConfig {
  int64_t units = 2;
  Activation activation = "tanh";

  static constexpr std::string_view keras_name = "Pulse";
  static constexpr auto fields = field_list(field("units", &PulseConfig::units),
                                            field("activation", &PulseConfig::activation));
};

class PulseCell final : public LayerOf<PulseCell, PulseConfig, RnnCell> {
 public:
  PulseCell(PulseConfig config, LayerOptions options)
      : LayerOf(std::move(config), std::move(options)) {}

  Tree<Shape> state_shapes() const override { return Shape{cfg.units}; }
  void build(const Shapes& inputs) override {
    kernel_ = add_weight("kernel", {inputs[0].back(), cfg.units}, "glorot_uniform");
  }
  Results call(const Call& c) const override {
    const Value sum = ops::matmul(c.input(), c.read(kernel_)) + states(c)[0] * 0.5;
    const Value y = cfg.activation(c, sum);
    return stepped(c, y, {y});
  }

 private:
  Variable kernel_;
};

struct TwiceConfig {
  LayerPtr layer = {};

  static constexpr std::string_view keras_name = "Twice";
  static constexpr auto fields = field_list(field("layer", &TwiceConfig::layer));
};

class TwiceLayer final : public WrapperOf<TwiceLayer, TwiceConfig> {
 public:
  TwiceLayer(TwiceConfig config, LayerOptions options)
      : WrapperOf(std::move(config), std::move(options)) {}
  Results call(const Call& c) const override {
    return c.invoke(*layer(), Traced{c.input()}).value +
           c.invoke(*layer(), Traced{c.input() * 0.5}).value;
  }
};

struct TowerConfig {
  int64_t units = 3;

  static constexpr std::string_view keras_name = "Tower";
  static constexpr auto fields = field_list(field("units", &TowerConfig::units));
};

class TowerLayer final : public LayerOf<TowerLayer, TowerConfig> {
 public:
  TowerLayer(TowerConfig config, LayerOptions options)
      : LayerOf(std::move(config), std::move(options)) {
    layers_ = {Dense({.units = cfg.units, .activation = Activation("twist", twist)}, "first"),
               Dense({.units = cfg.units}, "second"), Shared<ShiftLayer>({}, "third")};
    add_sublayer("first", layers_[0]);
    for (size_t i = 1; i < layers_.size(); ++i) add_sublayer("rest", layers_[i], /*in_list=*/true);
  }
  void build(const Shapes& inputs) override {
    Shape shape = inputs[0];
    for (const LayerPtr& layer : layers_) {
      layer->ensure_built({shape});
      shape = layer->compute_output_shape({shape})[0];
    }
  }
  Results call(const Call& c) const override {
    Traced x{c.input()};
    for (const LayerPtr& layer : layers_) x = c.invoke(*layer, x);
    return x.value;
  }

 private:
  std::vector<LayerPtr> layers_;
};

struct NetConfig {
  int64_t units = 2;

  static constexpr std::string_view keras_name = "Net";
  static constexpr auto fields = field_list(field("units", &NetConfig::units));
};

class NetModel final : public LayerOf<NetModel, NetConfig> {
 public:
  NetModel(NetConfig config, LayerOptions options) : LayerOf(config, std::move(options)) {
    body_ = Dense({.units = 4, .activation = "relu"}, "body");
    head_ = Dense({.units = cfg.units}, "head");
    add_sublayer("body", body_);
    add_sublayer("head", head_);
  }
  void build(const Shapes& inputs) override {
    body_->ensure_built(inputs);
    head_->ensure_built(body_->compute_output_shape(inputs));
  }
  Results call(const Call& c) const override {
    return c.invoke(*head_, c.invoke(*body_, Traced{c.input()})).value;
  }

 private:
  LayerPtr body_, head_;
};

struct OffConfig {
  double limit = 0.5;

  static constexpr std::string_view keras_name = "Off";
  static constexpr auto fields = field_list(field("limit", &OffConfig::limit));
};

class OffMetric final : public MetricOf<OffMetric, OffConfig> {
 public:
  OffMetric(OffConfig config, MetricOptions options) : MetricOf(config, std::move(options)) {
    sum_ = add_variable("sum", {});
  }
  void update(Tracer& tracer, const Sample& sample) override {
    const Value far = ops::abs(sample.y_true - sample.y_pred) > cfg.limit;
    add(tracer, sum_, ops::sum(ops::cast(far, dtype())));
  }
  Value result(Tracer& tracer) override { return read(tracer, sum_); }

 private:
  Variable sum_;
};
using Off = SharedMetric<OffMetric>;

struct Bent {
  double power = 3;

  LossTerms call(Value y_true, Value y_pred) const {
    const Value far = ops::abs(y_true - y_pred);
    return ops::mean(ops::power(far, ops::scalar_like(far, power)), {-1});
  }
  static constexpr std::string_view keras_name = "Bent";
  static constexpr auto fields = field_list(field("power", &Bent::power));
};

struct Halving {
  double start = 0.1;
  double steps = 5;

  Value call(Value step) const {
    return ops::power(ops::scalar_like(step, 0.5), step * (1 / steps)) * start;
  }
  static constexpr std::string_view keras_name = "Halving";
  static constexpr auto fields =
      field_list(field("start", &Halving::start), field("steps", &Halving::steps));
};

struct SlowConfig {
  LearningRate learning_rate = 0.1;
  double damping = 0.5;

  static constexpr std::string_view keras_name = "Slow";
  static constexpr auto fields = field_list(field("learning_rate", &SlowConfig::learning_rate),
                                            field("damping", &SlowConfig::damping));
};

class SlowOptimizer final : public OptimizerOf<SlowOptimizer, SlowConfig> {
 public:
  SlowOptimizer(SlowConfig config, OptimizerOptions options)
      : OptimizerOf(std::move(config), std::move(options)) {}

 private:
  void make_slots(const std::vector<Variable>& variables) override {
    speeds_ = add_slots(variables, "speed");
  }
  void update(const Step& step) override {
    const Variable& speed = speeds_[step.index];
    step.descend(step.assign(speed, step.read(speed) * cfg.damping + step.gradient) * step.rate);
  }
  std::vector<Variable> speeds_;
};
using Slow = SharedOptimizer<SlowOptimizer>;

}  // namespace

void register_user_parts() {
  register_serializable<SwirlLayer>("mine");
  register_serializable<ShiftLayer>("mine");
  register_serializable("mine", "twist", twist);
  register_serializable<Filled>("mine");
  register_serializable("mine", "small", small);
  register_serializable<Capped>("mine");
  register_serializable<Squash>("mine");
  register_serializable<Shrink>("mine");
  register_serializable<PulseCell>("mine");
  register_serializable<TwiceLayer>("mine");
  register_serializable<TowerLayer>("mine");
  register_serializable<NetModel>("mine");
  register_serializable<OffMetric>("mine");
  register_serializable<Bent>("mine");
  register_serializable("mine", "far", far);
  register_serializable<Halving>("mine");
  register_serializable<SlowOptimizer>("mine");
}

Model user_parts_model() {
  const auto x = Input({.shape = {4}, .name = "x"});
  const Shared<SwirlLayer> swirl({.factor = 0.5}, "swirl");
  const Shared<ShiftLayer> shift({}, "shift");
  const Dense dense({.units = 3,
                     .activation = Activation("twist", twist),
                     .kernel_initializer = Filled{.value = 0.25},
                     .kernel_regularizer = Regularizer("small", small),
                     .kernel_constraint = Capped{.limit = 0.9}},
                    "dense");
  Model model({.inputs = x, .outputs = dense(shift(swirl(x)))});
  model.compile({.optimizer = Slow({.learning_rate = Halving{.start = 0.05}, .damping = 0.25}),
                 .loss = Bent{.power = 2},
                 .metrics = {Metric("far", far)}});
  return model;
}

// Parts in recurrent layers and wrappers, and in dicts and lists of losses and metrics.
Model user_sequences_model() {
  const auto x = Input({.shape = {4}, .name = "x"});
  const LSTM lstm({.units = 2,
                   .activation = Activation("twist", twist),
                   .recurrent_activation = Squash{.by = 2},
                   .kernel_initializer = Filled{.value = 0.25},
                   .bias_regularizer = Shrink{.factor = 0.25},
                   .recurrent_constraint = Capped{.limit = 0.75},
                   .return_sequences = true},
                  "lstm");
  const Shared<PulseCell> pulse({.units = 2, .activation = Activation("twist", twist)}, "pulse");
  const Bidirectional both({.layer = RNN({.cell = pulse, .return_sequences = true})}, "both");
  const StackedRNNCells cells({.cells = {Shared<PulseCell>({.units = 3}), GRUCell({.units = 2})}});
  const RNN stacked({.cell = cells, .return_sequences = true}, "stacked");
  const TimeDistributed each({.layer = Shared<SwirlLayer>({.factor = 0.5})}, "each");
  const auto flat = Flatten()(each(stacked(both(lstm(Reshape({.target_shape = {2, 2}})(x))))));
  const Shared<TwiceLayer> a(
      {.layer = Dense({.units = 4, .activation = Activation("twist", twist)})}, "a");
  const Shared<TowerLayer> b({.units = 4}, "b");
  Model model(
      {.inputs = x, .outputs = Symbols::Dict{{"a", a(flat)}, {"b", b(flat)}}, .name = "sequences"});
  model.compile(
      {.optimizer = SGD({.learning_rate = Halving{.start = 0.02}}),
       .loss = PerOutput<Loss>::ByName{{"a", Bent{.power = 2}}, {"b", "mse"}},
       .metrics = std::map<std::string, Metrics::List>{
           {"a", {Metric("far", far), Off({.limit = 0.25})}}, {"b", {Off({.limit = 0.5})}}}});
  return model;
}

}  // namespace keratin
