// A check must be able to fail: layers with one fault each, and what check_layer says of them.
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
  mask,
  config,
  shared_copy,
  copy_config,
  shape,
  gradient,
  trainable
};

// Dense, but for its fault.
class FaultyDense final : public LayerOf<FaultyDense, DenseConfig> {
 public:
  static inline Fault fault = Fault::none;

  FaultyDense(DenseConfig config, LayerOptions options)
      : LayerOf(std::move(config), std::move(options)) {}

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
    y = cfg.activation(y);
    if (fault == Fault::output) y = y * 1.01 + 0.01;
    if (fault == Fault::gradient) y = ops::stop_gradient(y);
    if (fault == Fault::shape && !y.shape().known()) y = ops::expand_dims(y, -1);
    return y;
  }
  bool supports_masking() const override { return fault != Fault::mask; }
  Json own_config() const override {
    Json config = LayerOf::own_config();
    if (fault == Fault::config) config["units"] = cfg.units + 1;
    return config;
  }
  LayerPtr fresh_copy() const override {
    if (fault == Fault::shared_copy) return std::const_pointer_cast<Layer>(shared_from_this());
    DenseConfig copied = fresh_config();
    if (fault == Fault::copy_config) copied.kernel_initializer = "ones";
    return std::make_shared<FaultyDense>(std::move(copied), options());
  }

 private:
  Variable kernel_, bias_;
};

// All that check_layer complains of.
std::string complaints(Fault fault) {
  FaultyDense::fault = fault;
  ::testing::TestPartResultArray results;
  {
    const ::testing::ScopedFakeTestPartResultReporter reporter(
        ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    check_layer("Dense", {.custom = {{"Dense", FaultyDense::from_config}}});
  }
  std::string all;
  for (int i = 0; i < results.size(); ++i) all += results.GetTestPartResult(i).message();
  return all;
}

TEST(CheckLayer, SeesEveryFault) {
  const std::pair<Fault, const char*> expected[] = {
      {Fault::output, "output 0"},
      {Fault::mask, "mask of output 0"},
      {Fault::config, "config key 'units'"},
      {Fault::shared_copy, "a fresh copy shares"},
      {Fault::copy_config, "a fresh copy's config"},
      {Fault::shape, "symbolic shape"},
      {Fault::gradient, "gradient of parameter"},
      {Fault::trainable, "trainable"},
  };
  for (const auto& [fault, words] : expected) {
    const std::string said = complaints(fault);
    EXPECT_NE(said.find(words), std::string::npos) << "expected: " << words << "\nsaid: " << said;
  }
}

TEST(CheckLayer, HasNothingToSayOfAGoodLayer) { EXPECT_EQ(complaints(Fault::none), ""); }

}  // namespace
}  // namespace keratin::testing
