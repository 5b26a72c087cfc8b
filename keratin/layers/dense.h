#pragma once

#include "keratin/base/export.h"
#include "keratin/graph/saved_form.h"
#include "keratin/layers/shared_fields.h"

namespace keratin {

struct LoraOptions {
  int64_t rank = 0;
  std::optional<double> alpha = {};  // default: the rank
  Initializer a_initializer = "he_uniform";
  Initializer b_initializer = "zeros";
};

// The base of layers whose kernel can get a low-rank update, LoRA: they compute with
// kernel + alpha / rank · a · b, where training changes a and b but not the kernel. Files have the
// sum as kernel; where one is read, a and b become zeros.
class KERATIN_API LoraLayer : public Layer, public HasSavedWeights {
 public:
  bool lora_enabled() const { return lora_a_.defined(); }

  std::vector<Variable> saved_weights() const override;
  Tensor saved_value(const Variable& weight) const override;
  std::vector<Variable> unsaved_weights() const override;

 protected:
  using Layer::Layer;

  // Brings lora_rank and lora_alpha to Keras's form.
  template <class Config>
  static void check_lora(Config& config);
  // Adds a and b for a kernel that has been built. Only then alpha is known to Keras, too.
  template <class Config>
  void add_lora(Config& config, const Variable& kernel, const LoraOptions& options);
  // The kernel with the update.
  Value with_lora(const Call& c, const Variable& kernel) const;

 private:
  void make_lora(const Variable& kernel, const LoraOptions& options);

  Variable lora_kernel_, lora_a_, lora_b_;
  double lora_scale_ = 1;  // alpha / rank
};

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
  std::optional<int64_t> lora_rank = {};
  std::optional<double> lora_alpha = {};  // default: the rank

  static constexpr std::string_view keras_name = "Dense";
  static constexpr auto call_arguments = arguments_of_call("inputs", "training");
  static constexpr auto fields = field_list(
      field("units", &DenseConfig::units), fields_of<ActivationAndBiasFields>(),
      fields_of<KernelAndBiasFields>(),
      field("quantization_config", &DenseConfig::quantization_config), fields_of<LoraFields>());
};

// y = activation(x · kernel + bias), applied to the last axis of x.
class KERATIN_API DenseLayer final : public LayerOf<DenseLayer, DenseConfig, LoraLayer> {
 public:
  DenseLayer(DenseConfig config, LayerOptions options);

  void enable_lora(const LoraOptions& options);
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
  std::optional<int64_t> lora_rank = {};
  std::optional<double> lora_alpha = {};  // default: the rank
  Json gptq_unpacked_column_size = {};    // of quantized layers, which Keratin does not have

  static constexpr std::string_view keras_name = "EinsumDense";
  static constexpr auto call_arguments = arguments_of_call("inputs", "training");
  static constexpr bool writes_activity_regularizer = true;
  static constexpr auto fields = field_list(
      field("output_shape", &EinsumDenseConfig::output_shape),
      field("equation", &EinsumDenseConfig::equation),
      field("activation", &EinsumDenseConfig::activation),
      field("bias_axes", &EinsumDenseConfig::bias_axes), fields_of<KernelAndBiasFields>(),
      field("quantization_config", &EinsumDenseConfig::quantization_config),
      fields_of<LoraFields>(),
      field<Written::if_changed>("gptq_unpacked_column_size",
                                 &EinsumDenseConfig::gptq_unpacked_column_size));
};

// y = activation(einsum(equation, x, kernel) + bias). The equation is X,Y->Z, ...X,Y->...Z or
// X...,Y->Z...; bias_axes are letters of Z.
class KERATIN_API EinsumDenseLayer final
    : public LayerOf<EinsumDenseLayer, EinsumDenseConfig, LoraLayer> {
 public:
  EinsumDenseLayer(EinsumDenseConfig config, LayerOptions options);

  void enable_lora(const LoraOptions& options);
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
