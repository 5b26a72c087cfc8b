#pragma once

#include "keratin/base/export.h"
#include "keratin/graph/config.h"

namespace keratin {

struct KERATIN_API RMSNormalizationConfig {
  Sizes axis = -1;
  double epsilon = 1e-6;

  static constexpr std::string_view keras_name = "RMSNormalization";
  static constexpr auto call_arguments = arguments_of_call("x");
  static constexpr auto fields = field_list(field("axis", &RMSNormalizationConfig::axis),
                                            field("epsilon", &RMSNormalizationConfig::epsilon));
};

// x / √(mean of x² over the axes + epsilon) · scale
class KERATIN_API RMSNormalizationLayer final
    : public LayerOf<RMSNormalizationLayer, RMSNormalizationConfig> {
 public:
  RMSNormalizationLayer(RMSNormalizationConfig config, LayerOptions options);

  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;

 private:
  Dims axes_;  // sorted
  Variable scale_;
};

using RMSNormalization = Shared<RMSNormalizationLayer>;

}  // namespace keratin
