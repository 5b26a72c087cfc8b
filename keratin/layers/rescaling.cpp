#include "keratin/layers/preprocessing.h"

#include "keratin/graph/json_tensor.h"
#include "keratin/ir/node.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/pointwise.h"

namespace keratin {

RescalingLayer::RescalingLayer(RescalingConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  tensor_from_json(cfg.scale, DType::f64);  // an error if these are not numbers
  tensor_from_json(cfg.offset, DType::f64);
}

Results RescalingLayer::call(const Call& c) const {
  const Value x = c.float_input();
  const auto constant = [&](const Json& json) {
    return ops::constant(c.block(), tensor_from_json(json, x.dtype()));
  };
  return x * constant(cfg.scale) + constant(cfg.offset);
}

}  // namespace keratin
