// check_layer must find faults: layers with one fault each, and the failures that it reports.
#include "keratin/testing/check_layer.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "keratin/layers/dense.h"
#include "keratin/ops/ops.h"

namespace keratin::testing {
namespace {

enum class Fault {
  none,
  output,
  unsteady,
  mask,
  mask_values,
  loss,
  config,
  more_config,
  shared_copy,
  copy_config,
  shape,
  open_shape,
  dtype,
  symbolic_mask,
  gradient,
  trainable
};

// Dense with one fault.
class FaultyDense final : public LayerOf<FaultyDense, DenseConfig> {
 public:
  static inline Fault fault = Fault::none;

  FaultyDense(DenseConfig config, LayerOptions options)
      : LayerOf(std::move(config), with_fault(std::move(options))) {}

  void build(const Shapes& inputs) override {
    const bool trainable = fault != Fault::trainable;
    kernel_ = add_weight("kernel", {inputs[0].back(), cfg.units}, cfg.kernel_initializer,
                         {.trainable = trainable});
    if (cfg.use_bias)
      bias_ = add_weight("bias", {cfg.units}, cfg.bias_initializer, {.trainable = trainable});
  }
  Results call(const Call& c) const override {
    Value y = ops::matmul(c.float_input(), c.read(kernel_));
    if (cfg.use_bias) y = y + c.read(bias_);
    y = cfg.activation(c, y);
    if (fault == Fault::output) y = y * 1.01 + 0.01;
    if (fault == Fault::gradient) y = ops::stop_gradient(y);
    if (fault == Fault::unsteady) y = y + 0.01 * ++calls;
    return y.shape().known() ? y : symbolic(y);
  }
  bool supports_masking() const override { return fault != Fault::mask; }
  Masks compute_mask(const Call& c, size_t outputs) const override {
    if (fault == Fault::symbolic_mask && !c.input().shape().known())
      return {ops::any(c.input() > 0.0, {-1})};
    if (fault == Fault::mask_values && c.mask()) return {!*c.mask()};
    return Layer::compute_mask(c, outputs);
  }
  Json own_config() const override {
    Json config = LayerOf::own_config();
    if (fault == Fault::config) config["units"] = cfg.units + 1;
    if (fault == Fault::more_config) config["odd"] = 1;
    return config;
  }
  LayerPtr fresh_copy() const override {
    if (fault == Fault::shared_copy) return std::const_pointer_cast<Layer>(shared_from_this());
    DenseConfig copied = fresh_config();
    if (fault == Fault::copy_config) copied.kernel_initializer = "ones";
    return std::make_shared<FaultyDense>(std::move(copied), options());
  }

 private:
  static inline int calls = 0;

  static LayerOptions with_fault(LayerOptions options) {
    if (fault == Fault::loss && options.activity_regularizer)
      options.activity_regularizer = regularizers::OrthogonalRegularizer();
    return options;
  }
  // The type of an output whose batch is unknown.
  static Value symbolic(Value y) {
    if (fault == Fault::shape) return ops::expand_dims(y, -1);
    if (fault == Fault::open_shape && y.rank() == 2) return ops::transpose(y, {1, 0});
    if (fault == Fault::dtype) return ops::cast(y, DType::f64);
    return y;
  }

  Variable kernel_, bias_;
};

// The failures that check_layer reports.
std::string complaints(const std::string& class_name, const LayerChecks& checks) {
  ::testing::TestPartResultArray results;
  {
    const ::testing::ScopedFakeTestPartResultReporter reporter(
        ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    check_layer(class_name, checks);
  }
  std::string all;
  for (int i = 0; i < results.size(); ++i) all += results.GetTestPartResult(i).message();
  return all;
}

std::string complaints(Fault fault) {
  FaultyDense::fault = fault;
  // FaultyDense has no weights for LoRA.
  return complaints("Dense", {.custom = {{"faulty>Dense", FaultyDense::from_config}},
                              .registered_name = "faulty>Dense",
                              .skip = {"lora", "lora, alpha is lost", "lora, regularizer, no bias",
                                       "lora, mixed_float16", "lora, float64", "lora, frozen"}});
}

void expect_words(const std::string& message, const char* words) {
  EXPECT_NE(message.find(words), std::string::npos)
      << "expected: " << words << "\ngot: " << message;
}

TEST(CheckLayer, FindsEveryFault) {
  const std::pair<Fault, const char*> expected[] = {
      {Fault::output, "output 0"},
      {Fault::unsteady, "output 0 of a fresh copy"},
      {Fault::unsteady, "cpu and reference, result 0"},
      {Fault::mask, "mask of output 0"},
      {Fault::mask_values, "mask of output 0"},
      {Fault::loss, "loss 0"},
      {Fault::config, "config key 'units'"},
      {Fault::config, "a config read back writes another"},
      {Fault::more_config, "config key 'odd' is not Keras's"},
      {Fault::shared_copy, "a fresh copy shares"},
      {Fault::copy_config, "a fresh copy's config"},
      {Fault::shape, "symbolic shape"},
      {Fault::open_shape, "axis 1 of output 0"},
      {Fault::dtype, "symbolic dtype of output 0"},
      {Fault::symbolic_mask, "symbolic mask of output 0"},
      {Fault::gradient, "gradient of parameter"},
      {Fault::trainable, "trainable"},
  };
  for (const auto& [fault, words] : expected) expect_words(complaints(fault), words);
}

TEST(CheckLayer, FindsStateThatACallLeavesBehind) {
  const auto freeze = [](const Json&, Layer& layer) { layer.set_trainable(false); };
  expect_words(complaints("BatchNormalization", {.prepare = freeze}), "weight after");
  const auto weights = [](const Layer& layer) {
    const auto all = layer.weights();
    return std::vector<Variable>(all.begin(), all.begin() + 1);
  };
  expect_words(complaints("SimpleRNN", {.states = weights}), "state after 0");
}

TEST(CheckLayer, PassesAGoodLayer) { EXPECT_EQ(complaints(Fault::none), ""); }

}  // namespace
}  // namespace keratin::testing
