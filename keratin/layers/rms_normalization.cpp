#include "keratin/layers/normalizations.h"

#include <algorithm>

#include "keratin/layers/norm_axes.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/norm.h"

namespace keratin {

RMSNormalizationLayer::RMSNormalizationLayer(RMSNormalizationConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {}

void RMSNormalizationLayer::build(const Shapes& inputs) {
  Dims given = cfg.axis.dims();
  std::sort(given.begin(), given.end());
  cfg.axis = given;  // a list from now on, as in Keras
  axes_ = norm_axes::checked(*this, inputs[0], cfg.axis);
  scale_ = add_weight("scale", norm_axes::sizes(inputs[0], axes_), "ones");
  std::sort(axes_.begin(), axes_.end());
}

// Keras always scales along the last axes, which fails or is wrong for other axes; here the scale
// is along the given axes.
Results RMSNormalizationLayer::call(const Call& c) const {
  const Value x = c.float_input();
  const Value scale = ops::reshape(c.read(scale_), norm_axes::sizes(x.shape(), axes_));
  return ops::rms_norm(x, scale, axes_, cfg.epsilon);
}

}  // namespace keratin
