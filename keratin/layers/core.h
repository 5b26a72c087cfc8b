#pragma once

#include "keratin/base/export.h"
#include "keratin/graph/config.h"

// Layers that pass their input on.
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

struct KERATIN_API MaskingConfig {
  double mask_value = 0;

  static constexpr std::string_view keras_name = "Masking";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields = field_list(field("mask_value", &MaskingConfig::mask_value));
};

// Masks the timesteps whose features all equal mask_value, and sets them to 0.
class KERATIN_API MaskingLayer final : public LayerOf<MaskingLayer, MaskingConfig> {
 public:
  MaskingLayer(MaskingConfig config, LayerOptions options);

  Results call(const Call& c) const override;
  Masks compute_mask(const Call& c, size_t outputs) const override;
  bool supports_masking() const override { return true; }

 private:
  Value differs(Value x) const;  // from mask_value, element by element
};

using Masking = Shared<MaskingLayer>;

}  // namespace keratin
