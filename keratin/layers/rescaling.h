#pragma once

#include "keratin/base/export.h"
#include "keratin/graph/config.h"

namespace keratin {

struct KERATIN_API RescalingConfig {
  Json scale = 1.0;  // a number, or one for each channel
  Json offset = 0.0;

  static constexpr std::string_view keras_name = "Rescaling";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields = field_list(field("scale", &RescalingConfig::scale),
                                            field("offset", &RescalingConfig::offset));
};

// y = x · scale + offset
class KERATIN_API RescalingLayer final : public LayerOf<RescalingLayer, RescalingConfig> {
 public:
  RescalingLayer(RescalingConfig config, LayerOptions options);
  Results call(const Call& c) const override;
  bool supports_masking() const override { return true; }
};

using Rescaling = Shared<RescalingLayer>;

}  // namespace keratin
