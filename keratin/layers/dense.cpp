#include "keratin/layers/dense.h"

#include "keratin/base/text.h"
#include "keratin/layers/lora.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/pointwise.h"

namespace keratin {

DenseLayer::DenseLayer(DenseConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  require(cfg.units > 0,
          "Received an invalid value for `units`, expected a positive integer. Received: units=",
          cfg.units);
  check_lora(cfg);
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
  // Keras forgets alpha here; EinsumDense keeps it.
  if (cfg.lora_rank) add_lora(cfg, kernel_, {.rank = *cfg.lora_rank});
}

void DenseLayer::enable_lora(const LoraOptions& options) { add_lora(cfg, kernel_, options); }

Results DenseLayer::call(const Call& c) const {
  Value y = ops::matmul(c.float_input(), with_lora(c, kernel_));
  if (cfg.use_bias) y = y + c.read(bias_);
  return cfg.activation(c, y);
}

}  // namespace keratin
