#pragma once

#include "keratin/base/export.h"
#include "keratin/layers/shared_fields.h"

namespace keratin {

struct KERATIN_API DenseConfig {
  int64_t units = 0;
  Activation activation = "linear";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  Constraint kernel_constraint = {};
  Constraint bias_constraint = {};
  Json quantization_config = {};

  static constexpr std::string_view keras_name = "Dense";
  static constexpr auto call_arguments = arguments_of_call("inputs", "training");
  static constexpr auto fields =
      field_list(field("units", &DenseConfig::units), fields_of<ActivationAndBiasFields>(),
                 fields_of<KernelAndBiasFields>(),
                 field("quantization_config", &DenseConfig::quantization_config));
};

// y = activation(x · kernel + bias), applied to the last axis of x.
class KERATIN_API DenseLayer final : public LayerOf<DenseLayer, DenseConfig> {
 public:
  DenseLayer(DenseConfig config, LayerOptions options);

  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;
  // A mask marks timesteps, and Dense mixes features only, so masks pass through.
  bool supports_masking() const override { return true; }

 private:
  Variable kernel_, bias_;
};

using Dense = Shared<DenseLayer>;

}  // namespace keratin
