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

Initializer filled(const Json& config) {
  return initializers::Constant(config.at("value").as_double());
}

Constraint capped(const Json& config) {
  const double limit = config.at("limit").as_double();
  return {"Capped", [limit](Value w) { return ops::minimum(w, ops::scalar_like(w, limit)); }};
}

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
  register_serializable("mine", "Filled", filled);
  register_serializable("mine", "small", small);
  register_serializable("mine", "Capped", capped);
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
                     .kernel_regularizer = Regularizer("small", small)},
                    "dense");
  Model model({.inputs = x, .outputs = dense(shift(swirl(x)))});
  model.compile({.optimizer = Slow({.learning_rate = Halving{.start = 0.05}, .damping = 0.25}),
                 .loss = Bent{.power = 2},
                 .metrics = {Metric("far", far)}});
  return model;
}

}  // namespace keratin
