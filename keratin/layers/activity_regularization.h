#pragma once

#include "keratin/base/export.h"
#include "keratin/graph/config.h"

namespace keratin {

struct KERATIN_API ActivityRegularizationConfig {
  double l1 = 0;
  double l2 = 0;

  static constexpr std::string_view keras_name = "ActivityRegularization";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields = field_list(field("l1", &ActivityRegularizationConfig::l1),
                                            field("l2", &ActivityRegularizationConfig::l2));
};

// Returns its input, and adds l1 · Σ|x| + l2 · Σx², per sample, to the losses.
class KERATIN_API ActivityRegularizationLayer final
    : public LayerOf<ActivityRegularizationLayer, ActivityRegularizationConfig> {
 public:
  ActivityRegularizationLayer(ActivityRegularizationConfig config, LayerOptions options)
      : LayerOf(config, with_penalty(std::move(options), config)) {
    set_built();
  }

  Results call(const Call& c) const override { return c.input(); }
  bool supports_masking() const override { return true; }
  // Not the activity regularizer: l1 and l2 already say it.
  Json get_config() const override {
    Json config = own_config();
    config["name"] = name();
    config["trainable"] = trainable();
    config["dtype"] = dtype_policy().to_json();
    return config;
  }

 private:
  static LayerOptions with_penalty(LayerOptions options,
                                   const ActivityRegularizationConfig& config) {
    options.activity_regularizer = regularizers::L1L2(config.l1, config.l2);
    return options;
  }
};

using ActivityRegularization = Shared<ActivityRegularizationLayer>;

}  // namespace keratin
