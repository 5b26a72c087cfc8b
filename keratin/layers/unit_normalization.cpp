#include "keratin/layers/normalizations.h"

#include "keratin/base/text.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"

namespace keratin {

UnitNormalizationLayer::UnitNormalizationLayer(UnitNormalizationConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  set_built();
}

Results UnitNormalizationLayer::call(const Call& c) const {
  const Value x = c.float_input();
  for (const int64_t axis : cfg.axis.dims())
    require(axis >= -x.rank() && axis < x.rank(), "UnitNormalization '", name(), "': Axis ", axis,
            " is out of bounds for input shape ", keras_shape(x.shape()), ".");
  const Value inverse = ops::rsqrt(ops::sum(ops::square(x), cfg.axis.dims(), true));
  return x * ops::minimum(inverse, ops::scalar_like(inverse, 1e12));
}

}  // namespace keratin
