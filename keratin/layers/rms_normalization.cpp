#include "keratin/layers/rms_normalization.h"

#include <algorithm>

#include "keratin/layers/norm_axes.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/norm.h"

namespace keratin {

void RMSNormalizationLayer::build(const Shapes& inputs) {
  Dims given = cfg.axis.dims();
  std::sort(given.begin(), given.end());
  cfg.axis = given;  // from now on the config has a list, as Keras's has
  axes_ = norm_axes::checked(*this, inputs[0], cfg.axis);
  scale_ = add_weight("scale", norm_axes::sizes(inputs[0], axes_), "ones");
  std::sort(axes_.begin(), axes_.end());
}

// Keras scales along the last axes whatever the axis is, which fails or is wrong for others; here
// the scale belongs to the axes.
Results RMSNormalizationLayer::call(const Call& c) const {
  const Value x = c.float_input();
  const Value scale = ops::reshape(c.read(scale_), norm_axes::sizes(x.shape(), axes_));
  return ops::rms_norm(x, scale, axes_, cfg.epsilon);
}

}  // namespace keratin
