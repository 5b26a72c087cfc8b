#pragma once

#include <array>

#include "keratin/base/export.h"
#include "keratin/graph/config.h"

namespace keratin {

template <int rank>
struct KERATIN_API ConvConfig {
  int64_t filters = 0;
  Sizes kernel_size = 0;
  Sizes strides = 1;
  std::string padding = "valid";  // or same; for one axis, causal too
  std::string data_format = "channels_last";
  Sizes dilation_rate = 1;
  int64_t groups = 1;
  Activation activation = "linear";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  Constraint kernel_constraint = {};
  Constraint bias_constraint = {};

  static constexpr std::string_view keras_name = std::array{"Conv1D", "Conv2D", "Conv3D"}[rank - 1];
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr bool writes_activity_regularizer = true;
  static constexpr auto fields = field_list(
      field("filters", &ConvConfig::filters), field("kernel_size", &ConvConfig::kernel_size),
      field("strides", &ConvConfig::strides), field("padding", &ConvConfig::padding),
      field("data_format", &ConvConfig::data_format),
      field("dilation_rate", &ConvConfig::dilation_rate), field("groups", &ConvConfig::groups),
      field("activation", &ConvConfig::activation), field("use_bias", &ConvConfig::use_bias),
      field("kernel_initializer", &ConvConfig::kernel_initializer),
      field("bias_initializer", &ConvConfig::bias_initializer),
      field("kernel_regularizer", &ConvConfig::kernel_regularizer),
      field("bias_regularizer", &ConvConfig::bias_regularizer),
      field("kernel_constraint", &ConvConfig::kernel_constraint),
      field("bias_constraint", &ConvConfig::bias_constraint));
};

// y = activation(kernel ∗ x + bias), see ops::conv.
template <int rank>
class KERATIN_API ConvLayer final : public LayerOf<ConvLayer<rank>, ConvConfig<rank>> {
 public:
  ConvLayer(ConvConfig<rank> config, LayerOptions options);

  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;

 private:
  using LayerOf<ConvLayer, ConvConfig<rank>>::cfg;
  Variable kernel_, bias_;
};

extern template class ConvLayer<1>;
extern template class ConvLayer<2>;
extern template class ConvLayer<3>;

using Conv1D = Shared<ConvLayer<1>>;
using Conv2D = Shared<ConvLayer<2>>;
using Conv3D = Shared<ConvLayer<3>>;

}  // namespace keratin
