// Lesson 4: layers, losses, metrics and callbacks of your own. They are ordinary C++: written once
// in ops, they differentiate and run compiled like everything else.
#include <keratin/keratin.h>

#include <cmath>
#include <iostream>

#include "example.h"

using namespace keratin;

// y = x · scale: one trainable number per feature.
struct ScaleConfig {
  double start = 1;

  static constexpr std::string_view keras_name = "Scale";
  static constexpr auto fields = field_list(field("start", &ScaleConfig::start));
};

class ScaleLayer final : public LayerOf<ScaleLayer, ScaleConfig> {
 public:
  ScaleLayer(ScaleConfig config, LayerOptions options)
      : LayerOf(std::move(config), std::move(options)) {}
  void build(const Shapes& inputs) override {
    scale_ = add_weight("scale", {inputs[0].back()}, initializers::Constant(cfg.start));
  }
  Results call(const Call& c) const override { return c.float_input() * c.read(scale_); }
  bool supports_masking() const override { return true; }

 private:
  Variable scale_;
};
using Scale = Shared<ScaleLayer>;

// Counts epochs until the loss is small.
class Patience final : public Callback {
 public:
  void on_epoch_end(Training& training, int64_t epoch, Logs& logs) override {
    if (logs.at("loss") > 1e-4) return;
    std::cout << "small enough after epoch " << epoch + 1 << '\n';
    training.stop_training = true;
  }
};

int main() {
  set_random_seed(1);
  const auto in = Input({.shape = {3}, .name = "in"});
  Model model({.inputs = in, .outputs = Scale({.start = 0.5})(in)});

  // A loss is any function of truth and prediction that gives one number per sample.
  const auto pseudo_huber = [](Value y_true, Value y_pred) {
    return ops::mean(ops::sqrt(ops::square(y_true - y_pred) + 1.0) - 1.0, {-1});
  };
  const auto largest_error = [](Value y_true, Value y_pred) {
    return ops::max(ops::abs(y_true - y_pred), {-1});
  };
  model.compile({.optimizer = SGD({.learning_rate = 0.5}),
                 .loss = Loss(pseudo_huber, {.name = "pseudo_huber"}),
                 .metrics = {Metric(largest_error, {.name = "largest_error"})}});

  Tensor x(DType::f32, {64, 3}), y(DType::f32, {64, 3});
  for (int64_t i = 0; i < x.count(); ++i) {
    x.set(i, static_cast<double>(i * 37 % 41) / 20 - 1);
    y.set(i, x.at(i) * static_cast<double>(1 + i % 3));  // the scales to be found are 1, 2 and 3
  }
  model.fit(
      x, y,
      {.batch_size = 16, .epochs = 200, .verbose = 0, .callbacks = {std::make_shared<Patience>()}});
  const Tensor scale = model.get_weights()[0];
  std::cout << "scales " << scale << '\n';
  for (int64_t i = 0; i < 3; ++i)
    require(std::abs(scale.at(i) - static_cast<double>(i + 1)) < 0.1, "the scales should be found");
}
