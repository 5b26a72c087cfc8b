#include "keratin/layers/core.h"

#include <cmath>

#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"

namespace keratin {

MaskingLayer::MaskingLayer(MaskingConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  set_built();
}

Value MaskingLayer::differs(Value x) const {
  const bool fraction = cfg.mask_value != std::trunc(cfg.mask_value);
  if (fraction && !is_float(x.dtype())) x = ops::cast(x, DType::f32);
  return ops::not_equal(x, ops::scalar_like(x, cfg.mask_value));
}

Results MaskingLayer::call(const Call& c) const {
  const Value x = c.input();
  const Value keep = ops::any(differs(x), {-1}, /*keepdims=*/true);
  if (c.dialect() == Dialect::keras2) return x * ops::cast(keep, x.dtype());
  return ops::where(keep, x, ops::scalar_like(x, 0));
}

Masks MaskingLayer::compute_mask(const Call& c, size_t) const {
  return {ops::any(differs(c.input()), {-1})};
}

}  // namespace keratin
