#include "keratin/layers/dropout.h"

namespace keratin {
namespace {

LayerOptions with_penalty(LayerOptions options, const ActivityRegularizationConfig& config) {
  options.activity_regularizer = regularizers::L1L2(config.l1, config.l2);
  return options;
}

}  // namespace

ActivityRegularizationLayer::ActivityRegularizationLayer(ActivityRegularizationConfig config,
                                                         LayerOptions options)
    : LayerOf(config, with_penalty(std::move(options), config)) {
  set_built();
}

Results ActivityRegularizationLayer::call(const Call& c) const { return c.input(); }

Json ActivityRegularizationLayer::get_config() const {
  Json config = own_config();
  config["name"] = name();
  config["trainable"] = trainable();
  config["dtype"] = dtype_policy().to_json();
  return config;
}

}  // namespace keratin
