#pragma once

#include <array>

#include "keratin/base/export.h"
#include "keratin/graph/config.h"

namespace keratin {

template <int rank>
struct KERATIN_API DepthwiseConvConfig {
  int64_t depth_multiplier = 1;
  Sizes kernel_size = 0;
  Sizes strides = 1;
  std::string padding = "valid";
  std::string data_format = "channels_last";
  Sizes dilation_rate = 1;
  Activation activation = "linear";
  bool use_bias = true;
  Initializer depthwise_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer depthwise_regularizer = {};
  Regularizer bias_regularizer = {};
  Constraint depthwise_constraint = {};
  Constraint bias_constraint = {};

  static constexpr std::string_view keras_name =
      std::array{"DepthwiseConv1D", "DepthwiseConv2D"}[rank - 1];
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr bool writes_activity_regularizer = true;
  static constexpr auto fields =
      field_list(field("depth_multiplier", &DepthwiseConvConfig::depth_multiplier),
                 field("kernel_size", &DepthwiseConvConfig::kernel_size),
                 field("strides", &DepthwiseConvConfig::strides),
                 field("padding", &DepthwiseConvConfig::padding),
                 field("data_format", &DepthwiseConvConfig::data_format),
                 field("dilation_rate", &DepthwiseConvConfig::dilation_rate),
                 field("activation", &DepthwiseConvConfig::activation),
                 field("use_bias", &DepthwiseConvConfig::use_bias),
                 field("depthwise_initializer", &DepthwiseConvConfig::depthwise_initializer),
                 field("bias_initializer", &DepthwiseConvConfig::bias_initializer),
                 field("depthwise_regularizer", &DepthwiseConvConfig::depthwise_regularizer),
                 field("bias_regularizer", &DepthwiseConvConfig::bias_regularizer),
                 field("depthwise_constraint", &DepthwiseConvConfig::depthwise_constraint),
                 field("bias_constraint", &DepthwiseConvConfig::bias_constraint));
};

// Each channel convolved by itself, into depth_multiplier channels.
template <int rank>
class KERATIN_API DepthwiseConvLayer final
    : public LayerOf<DepthwiseConvLayer<rank>, DepthwiseConvConfig<rank>> {
 public:
  DepthwiseConvLayer(DepthwiseConvConfig<rank> config, LayerOptions options);

  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;

 private:
  using LayerOf<DepthwiseConvLayer, DepthwiseConvConfig<rank>>::cfg;
  Variable kernel_, bias_;
};

extern template class DepthwiseConvLayer<1>;
extern template class DepthwiseConvLayer<2>;

using DepthwiseConv1D = Shared<DepthwiseConvLayer<1>>;
using DepthwiseConv2D = Shared<DepthwiseConvLayer<2>>;

}  // namespace keratin
