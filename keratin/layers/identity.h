#pragma once

#include "keratin/base/export.h"
#include "keratin/graph/config.h"

namespace keratin {

struct KERATIN_API IdentityConfig {
  static constexpr std::string_view keras_name = "Identity";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields = field_list();
};

// Returns its input, a tensor or a structure of tensors.
class KERATIN_API IdentityLayer final : public LayerOf<IdentityLayer, IdentityConfig> {
 public:
  IdentityLayer(IdentityConfig config, LayerOptions options);

  Results call(const Call& c) const override;
  bool supports_masking() const override { return true; }
};

using Identity = Shared<IdentityLayer>;

}  // namespace keratin
