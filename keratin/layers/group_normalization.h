#pragma once

#include "keratin/base/export.h"
#include "keratin/layers/shared_fields.h"

namespace keratin {

struct KERATIN_API GroupNormalizationConfig {
  int64_t groups = 32;  // -1: one for each channel
  int64_t axis = -1;    // of the channels
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
  Initializer beta_initializer = "zeros";
  Initializer gamma_initializer = "ones";
  Regularizer beta_regularizer = {};
  Regularizer gamma_regularizer = {};
  Constraint beta_constraint = {};
  Constraint gamma_constraint = {};

  static constexpr std::string_view keras_name = "GroupNormalization";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields =
      field_list(field("groups", &GroupNormalizationConfig::groups),
                 field("axis", &GroupNormalizationConfig::axis), fields_of<ScaleAndCenterFields>(),
                 fields_of<BetaAndGammaFields>());
};

// Normalizes each group of channels of each sample separately, then scales channel by channel.
class KERATIN_API GroupNormalizationLayer final
    : public LayerOf<GroupNormalizationLayer, GroupNormalizationConfig> {
 public:
  GroupNormalizationLayer(GroupNormalizationConfig config, LayerOptions options);

  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;
  bool supports_masking() const override { return true; }
  // The input keeps its precision; only the result is cast to the layer's dtype.
  bool autocasts() const override { return false; }

 private:
  Variable gamma_, beta_;
};

using GroupNormalization = Shared<GroupNormalizationLayer>;

}  // namespace keratin
