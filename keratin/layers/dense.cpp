#include "keratin/layers/dense.h"

#include "keratin/base/text.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/pointwise.h"

namespace keratin {

DenseLayer::DenseLayer(DenseConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  require(cfg.units > 0,
          "Received an invalid value for `units`, expected a positive integer. Received: units=",
          cfg.units);
  set_input_spec({{.min_ndim = 2}});
}

void DenseLayer::build(const Shapes& inputs) {
  const int64_t features = inputs[0].back();
  require(features != unknown, "Dense '", name(),
          "': the last dimension of the input must be known, got shape ", keras_shape(inputs[0]));
  kernel_ =
      add_weight("kernel", {features, cfg.units}, cfg.kernel_initializer,
                 {.regularizer = cfg.kernel_regularizer, .constraint = cfg.kernel_constraint});
  if (cfg.use_bias)
    bias_ = add_weight("bias", {cfg.units}, cfg.bias_initializer,
                       {.regularizer = cfg.bias_regularizer, .constraint = cfg.bias_constraint});
  set_input_spec({{.min_ndim = 2, .axes = {{-1, features}}}});
}

Results DenseLayer::call(const Call& c) const {
  Value y = ops::matmul(c.float_input(), c.read(kernel_));
  if (cfg.use_bias) y = y + c.read(bias_);
  return cfg.activation(c, y);
}

}  // namespace keratin
