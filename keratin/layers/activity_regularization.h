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
  ActivityRegularizationLayer(ActivityRegularizationConfig config, LayerOptions options);

  Results call(const Call& c) const override;
  bool supports_masking() const override { return true; }
  // Not the activity regularizer: l1 and l2 already say it.
  Json get_config() const override;
};

using ActivityRegularization = Shared<ActivityRegularizationLayer>;

}  // namespace keratin
