// Lesson 4: layers, losses, metrics and callbacks of your own. They are ordinary C++: written once
// in ops, they differentiate and run compiled like everything else.
#include <keratin/keratin.h>

#include <cmath>
#include <filesystem>
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

// A loss is a struct, or any function of truth and prediction, with one number per sample.
struct PseudoHuber {
  double delta = 1;

  LossTerms call(Value y_true, Value y_pred) const {
    const Value far = (y_true - y_pred) / delta;
    return ops::mean(ops::sqrt(ops::square(far) + 1.0) - 1.0, {-1});
  }
  static constexpr std::string_view keras_name = "PseudoHuber";
  static constexpr auto fields = field_list(field("delta", &PseudoHuber::delta));
};

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
  // Files have the names "lesson>Scale" and so on, as after Keras's register_keras_serializable.
  register_serializable<ScaleLayer>("lesson");
  register_serializable<PseudoHuber>("lesson");
  set_random_seed(1);
  const auto in = Input({.shape = {3}, .name = "in"});
  Model model({.inputs = in, .outputs = Scale({.start = 0.5})(in)});

  const auto largest_error = [](Value y_true, Value y_pred) {
    return ops::max(ops::abs(y_true - y_pred), {-1});
  };
  model.compile({.optimizer = SGD({.learning_rate = 0.5}),
                 .loss = PseudoHuber{},
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

  // The file opens with them, ready to go on training.
  const std::filesystem::path file = std::filesystem::temp_directory_path() / "lesson_4.keras";
  model.save(file);
  const Model again = load_model(file, {.custom_objects = {{"largest_error", largest_error}}});
  std::filesystem::remove(file);
  require(again.get_weights()[0] == scale, "the scales should be in the file");
}
