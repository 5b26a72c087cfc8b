#pragma once

#include "keratin/base/export.h"
#include "keratin/graph/config.h"

// Layers that pass their input on, masked or times a weight.
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

struct KERATIN_API LayerScaleConfig {
  double init_values = 1e-6;
  int64_t projection_dim = 0;

  static constexpr std::string_view keras_name = "LayerScale";
  static constexpr auto call_arguments = arguments_of_call("x");
  static constexpr auto fields =
      field_list(field("init_values", &LayerScaleConfig::init_values),
                 field("projection_dim", &LayerScaleConfig::projection_dim));
};

// y = x · gamma, a weight for each feature. It is not in keras.layers: it belongs to ConvNeXt, and
// files name it by the module of that.
class KERATIN_API LayerScaleLayer final : public LayerOf<LayerScaleLayer, LayerScaleConfig> {
 public:
  LayerScaleLayer(LayerScaleConfig config, LayerOptions options);
  std::string_view module() const override { return "keras.src.applications.convnext"; }
  std::string_view registered_name() const override { return LayerScaleConfig::keras_name; }
  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;

 private:
  Variable gamma_;
};

using LayerScale = Shared<LayerScaleLayer>;

}  // namespace keratin
