#pragma once

#include "keratin/base/export.h"
#include "keratin/layers/open_dims.h"
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

struct KERATIN_API EinsumDenseConfig {
  std::string equation = {};
  // The sizes after the batch; null where they follow from the input.
  OpenDims output_shape = {};
  Activation activation = "linear";
  std::optional<std::string> bias_axes = {};
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  Constraint kernel_constraint = {};
  Constraint bias_constraint = {};
  Json quantization_config = {};

  static constexpr std::string_view keras_name = "EinsumDense";
  static constexpr auto call_arguments = arguments_of_call("inputs", "training");
  static constexpr bool writes_activity_regularizer = true;
  static constexpr auto fields = field_list(
      field("output_shape", &EinsumDenseConfig::output_shape),
      field("equation", &EinsumDenseConfig::equation),
      field("activation", &EinsumDenseConfig::activation),
      field("bias_axes", &EinsumDenseConfig::bias_axes), fields_of<KernelAndBiasFields>(),
      field("quantization_config", &EinsumDenseConfig::quantization_config));
};

// y = activation(einsum(equation, x, kernel) + bias). The equation is X,Y->Z, ...X,Y->...Z or
// X...,Y->Z...; bias_axes are letters of Z.
class KERATIN_API EinsumDenseLayer final : public LayerOf<EinsumDenseLayer, EinsumDenseConfig> {
 public:
  EinsumDenseLayer(EinsumDenseConfig config, LayerOptions options);

  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;

 private:
  struct Terms;
  Terms terms(const Shape& input) const;
  std::optional<int64_t> output_size(const Terms& t, size_t letter) const;
  void check_shared(const Terms& t, const Shape& input) const;
  Dims kernel_shape(const Terms& t, const Shape& input, Dims& from_input, Dims& to_output) const;
  Dims bias_shape(const Terms& t) const;

  Variable kernel_, bias_;
};

using EinsumDense = Shared<EinsumDenseLayer>;

}  // namespace keratin
