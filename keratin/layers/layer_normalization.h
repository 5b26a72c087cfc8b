#pragma once

#include "keratin/base/export.h"
#include "keratin/layers/shared_fields.h"

namespace keratin {

struct KERATIN_API LayerNormalizationConfig {
  Sizes axis = -1;
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
  bool rms_scaling = false;  // x / √(variance + epsilon) · gamma, in older models
  Initializer beta_initializer = "zeros";
  Initializer gamma_initializer = "ones";
  Regularizer beta_regularizer = {};
  Regularizer gamma_regularizer = {};
  Constraint beta_constraint = {};
  Constraint gamma_constraint = {};

  static constexpr std::string_view keras_name = "LayerNormalization";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields =
      field_list(field("axis", &LayerNormalizationConfig::axis), fields_of<ScaleAndCenterFields>(),
                 field("rms_scaling", &LayerNormalizationConfig::rms_scaling),
                 fields_of<BetaAndGammaFields>());
};

// (x - mean) / √(variance + epsilon) · gamma + beta, with the statistics of each sample over the
// axes.
class KERATIN_API LayerNormalizationLayer final
    : public LayerOf<LayerNormalizationLayer, LayerNormalizationConfig> {
 public:
  LayerNormalizationLayer(LayerNormalizationConfig config, LayerOptions options);

  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;
  bool supports_masking() const override { return true; }
  // The input keeps its precision; only the result is cast to the layer's dtype.
  bool autocasts() const override { return false; }

 private:
  Dims axes_;  // sorted
  Variable gamma_, beta_;
};

using LayerNormalization = Shared<LayerNormalizationLayer>;

}  // namespace keratin
