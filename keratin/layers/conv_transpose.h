#pragma once

#include <array>

#include "keratin/base/export.h"
#include "keratin/graph/config.h"

namespace keratin {

template <int rank>
struct KERATIN_API ConvTransposeConfig {
  int64_t filters = 0;
  Sizes kernel_size = 0;
  Sizes strides = 1;
  std::string padding = "valid";
  std::optional<Sizes> output_padding = {};  // less than the strides
  std::string data_format = "channels_last";
  Sizes dilation_rate = 1;
  Activation activation = "linear";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  Constraint kernel_constraint = {};
  Constraint bias_constraint = {};

  static constexpr std::string_view keras_name =
      std::array{"Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"}[rank - 1];
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr bool writes_activity_regularizer = true;
  static constexpr auto fields =
      field_list(field("filters", &ConvTransposeConfig::filters),
                 field("kernel_size", &ConvTransposeConfig::kernel_size),
                 field("strides", &ConvTransposeConfig::strides),
                 field("padding", &ConvTransposeConfig::padding),
                 field("output_padding", &ConvTransposeConfig::output_padding),
                 field("data_format", &ConvTransposeConfig::data_format),
                 field("dilation_rate", &ConvTransposeConfig::dilation_rate),
                 field("activation", &ConvTransposeConfig::activation),
                 field("use_bias", &ConvTransposeConfig::use_bias),
                 field("kernel_initializer", &ConvTransposeConfig::kernel_initializer),
                 field("bias_initializer", &ConvTransposeConfig::bias_initializer),
                 field("kernel_regularizer", &ConvTransposeConfig::kernel_regularizer),
                 field("bias_regularizer", &ConvTransposeConfig::bias_regularizer),
                 field("kernel_constraint", &ConvTransposeConfig::kernel_constraint),
                 field("bias_constraint", &ConvTransposeConfig::bias_constraint));
};

// The way back through a convolution: each input spreads over a window, see ops::conv_transpose.
template <int rank>
class KERATIN_API ConvTransposeLayer final
    : public LayerOf<ConvTransposeLayer<rank>, ConvTransposeConfig<rank>> {
 public:
  ConvTransposeLayer(ConvTransposeConfig<rank> config, LayerOptions options);

  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;

 private:
  using LayerOf<ConvTransposeLayer, ConvTransposeConfig<rank>>::cfg;
  void check_output_padding();

  Variable kernel_, bias_;
};

extern template class ConvTransposeLayer<1>;
extern template class ConvTransposeLayer<2>;
extern template class ConvTransposeLayer<3>;

using Conv1DTranspose = Shared<ConvTransposeLayer<1>>;
using Conv2DTranspose = Shared<ConvTransposeLayer<2>>;
using Conv3DTranspose = Shared<ConvTransposeLayer<3>>;

}  // namespace keratin
