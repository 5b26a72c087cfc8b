#pragma once

#include "keratin/base/export.h"
#include "keratin/graph/config.h"

namespace keratin {

struct KERATIN_API UnitNormalizationConfig {
  Sizes axis = -1;

  static constexpr std::string_view keras_name = "UnitNormalization";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields = field_list(field("axis", &UnitNormalizationConfig::axis));
};

// x / ‖x‖ over the axes; zeros stay zeros.
class KERATIN_API UnitNormalizationLayer final
    : public LayerOf<UnitNormalizationLayer, UnitNormalizationConfig> {
 public:
  UnitNormalizationLayer(UnitNormalizationConfig config, LayerOptions options);

  Results call(const Call& c) const override;
  bool supports_masking() const override { return true; }
};

using UnitNormalization = Shared<UnitNormalizationLayer>;

}  // namespace keratin
