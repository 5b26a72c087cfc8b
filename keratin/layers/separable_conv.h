#pragma once

#include <array>

#include "keratin/base/export.h"
#include "keratin/graph/config.h"

namespace keratin {

template <int rank>
struct KERATIN_API SeparableConvConfig {
  int64_t filters = 0;
  Sizes kernel_size = 0;
  Sizes strides = 1;
  std::string padding = "valid";
  std::string data_format = "channels_last";
  Sizes dilation_rate = 1;
  int64_t depth_multiplier = 1;
  Activation activation = "linear";
  bool use_bias = true;
  Initializer depthwise_initializer = "glorot_uniform";
  Initializer pointwise_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer depthwise_regularizer = {};
  Regularizer pointwise_regularizer = {};
  Regularizer bias_regularizer = {};
  Constraint depthwise_constraint = {};
  Constraint pointwise_constraint = {};
  Constraint bias_constraint = {};

  static constexpr std::string_view keras_name =
      std::array{"SeparableConv1D", "SeparableConv2D"}[rank - 1];
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr bool writes_activity_regularizer = true;
  static constexpr auto fields =
      field_list(field("depth_multiplier", &SeparableConvConfig::depth_multiplier),
                 field("filters", &SeparableConvConfig::filters),
                 field("kernel_size", &SeparableConvConfig::kernel_size),
                 field("strides", &SeparableConvConfig::strides),
                 field("padding", &SeparableConvConfig::padding),
                 field("data_format", &SeparableConvConfig::data_format),
                 field("dilation_rate", &SeparableConvConfig::dilation_rate),
                 field("activation", &SeparableConvConfig::activation),
                 field("use_bias", &SeparableConvConfig::use_bias),
                 field("depthwise_initializer", &SeparableConvConfig::depthwise_initializer),
                 field("pointwise_initializer", &SeparableConvConfig::pointwise_initializer),
                 field("bias_initializer", &SeparableConvConfig::bias_initializer),
                 field("depthwise_regularizer", &SeparableConvConfig::depthwise_regularizer),
                 field("pointwise_regularizer", &SeparableConvConfig::pointwise_regularizer),
                 field("bias_regularizer", &SeparableConvConfig::bias_regularizer),
                 field("depthwise_constraint", &SeparableConvConfig::depthwise_constraint),
                 field("pointwise_constraint", &SeparableConvConfig::pointwise_constraint),
                 field("bias_constraint", &SeparableConvConfig::bias_constraint));
};

// Each channel convolved by itself, then the channels of each position mixed.
template <int rank>
class KERATIN_API SeparableConvLayer final
    : public LayerOf<SeparableConvLayer<rank>, SeparableConvConfig<rank>> {
 public:
  SeparableConvLayer(SeparableConvConfig<rank> config, LayerOptions options);

  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;

 private:
  using LayerOf<SeparableConvLayer, SeparableConvConfig<rank>>::cfg;
  Variable depthwise_, pointwise_, bias_;
};

extern template class SeparableConvLayer<1>;
extern template class SeparableConvLayer<2>;

using SeparableConv1D = Shared<SeparableConvLayer<1>>;
using SeparableConv2D = Shared<SeparableConvLayer<2>>;

}  // namespace keratin
