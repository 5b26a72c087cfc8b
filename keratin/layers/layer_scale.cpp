#include "keratin/layers/core.h"

#include "keratin/base/text.h"
#include "keratin/ops/pointwise.h"

namespace keratin {

LayerScaleLayer::LayerScaleLayer(LayerScaleConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  require(cfg.projection_dim > 0, "LayerScale '", name(),
          "': projection_dim must be positive, got ", cfg.projection_dim);
}

void LayerScaleLayer::build(const Shapes& inputs) {
  const Shape& x = inputs[0];
  require(x.rank() > 0 && x.back() == cfg.projection_dim, "LayerScale '", name(), "': expected ",
          cfg.projection_dim, " features along the last axis, got shape ", keras_shape(x));
  gamma_ = add_weight("variable", {cfg.projection_dim}, initializers::Constant(cfg.init_values));
}

Results LayerScaleLayer::call(const Call& c) const { return c.float_input() * c.read(gamma_); }

}  // namespace keratin
