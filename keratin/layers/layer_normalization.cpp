#include "keratin/layers/normalizations.h"

#include <algorithm>

#include "keratin/layers/norm_axes.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/norm.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"

namespace keratin {

LayerNormalizationLayer::LayerNormalizationLayer(LayerNormalizationConfig config,
                                                 LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {}

void LayerNormalizationLayer::build(const Shapes& inputs) {
  Dims given = cfg.axis.dims();
  std::sort(given.begin(), given.end());
  cfg.axis = given;  // a list from now on, as in Keras
  // Negative axes come first: the weights have the sizes in that order, but their elements are in
  // the order of the input's axes.
  axes_ = norm_axes::checked(*this, inputs[0], cfg.axis);
  const Shape shape = norm_axes::sizes(inputs[0], axes_);
  std::sort(axes_.begin(), axes_.end());
  if (cfg.scale || cfg.rms_scaling)
    gamma_ = add_weight("gamma", shape, cfg.gamma_initializer,
                        {.regularizer = cfg.gamma_regularizer, .constraint = cfg.gamma_constraint});
  if (cfg.center && !cfg.rms_scaling)
    beta_ = add_weight("beta", shape, cfg.beta_initializer,
                       {.regularizer = cfg.beta_regularizer, .constraint = cfg.beta_constraint});
}

Results LayerNormalizationLayer::call(const Call& c) const {
  const Value x = ops::cast(c.input(), ops::statistics_dtype(c.input().dtype()));
  const auto weight = [&](const Variable& variable) {
    if (!variable.defined()) return Value();
    return ops::cast(ops::reshape(c.read(variable), norm_axes::sizes(x.shape(), axes_)), x.dtype());
  };
  if (!cfg.rms_scaling)
    return ops::cast(ops::layer_norm(x, weight(gamma_), weight(beta_), axes_, cfg.epsilon),
                     compute_dtype());
  const Value inverse = ops::rsqrt(ops::var(x, axes_, true) + cfg.epsilon);
  const Value gamma = ops::restore_axes(weight(gamma_), x.shape(), [&] {
    Dims others;
    for (int64_t i = 0; i < x.rank(); ++i)
      if (std::find(axes_.begin(), axes_.end(), i) == axes_.end()) others.push_back(i);
    return others;
  }());
  return ops::cast(x * inverse * gamma, compute_dtype());
}

}  // namespace keratin
