#pragma once

#include <optional>

#include "keratin/base/export.h"
#include "keratin/base/fields.h"
#include "keratin/ir/value.h"
#include "keratin/ops/window.h"

// Convolutions over 1 to 3 spatial axes. Inputs are [batch, spatial…, channels], filters are
// [spatial…, channels / groups, outputs], as in Keras.
namespace keratin::ops {

struct KERATIN_API ConvAttrs {
  Dims strides;    // empty: 1 everywhere
  Dims dilations;  // empty: 1 everywhere
  int64_t groups = 1;
  std::string padding =
      "valid";  // "valid", "same", "causal" or "explicit", which uses low and high
  Dims low;
  Dims high;
  Dims sizes;  // of the gradient ops: the spatial sizes of the input or the filter
  static constexpr auto fields =
      field_list(field("strides", &ConvAttrs::strides), field("dilations", &ConvAttrs::dilations),
                 field("groups", &ConvAttrs::groups), field("padding", &ConvAttrs::padding),
                 field("low", &ConvAttrs::low), field("high", &ConvAttrs::high),
                 field("sizes", &ConvAttrs::sizes));
};

// y[n, o, f] = Σ_{k,c} x[n, o·stride - low + k·dilation, c] · w[k, c, f]; with groups, filter f
// sees only the channels of its group. Channels first is done with transposes.
KERATIN_API Value conv(Value x, Value w, ConvAttrs attrs = {},
                       const std::string& data_format = "channels_last");
// The gradients of conv, themselves closed under differentiation.
KERATIN_API Value conv_grad_input(Value dy, Value w, ConvAttrs attrs);
KERATIN_API Value conv_grad_filter(Value x, Value dy, ConvAttrs attrs);

struct KERATIN_API ConvTransposeAttrs {
  Dims strides;
  Dims dilations;
  std::string padding = "valid";  // "valid" or "same"
  Dims output_padding;            // empty: Keras's default
  static constexpr auto fields =
      field_list(field("strides", &ConvTransposeAttrs::strides),
                 field("dilations", &ConvTransposeAttrs::dilations),
                 field("padding", &ConvTransposeAttrs::padding),
                 field("output_padding", &ConvTransposeAttrs::output_padding));
};
// The gradient of a convolution by its input, as a forward op. The filter is
// [spatial…, outputs, channels]; sizes follow Keras: in · stride for "same",
// (in - 1) · stride + max(window, stride) for "valid", unless output_padding is given.
KERATIN_API Value conv_transpose(Value x, Value w, ConvTransposeAttrs attrs = {},
                                 const std::string& data_format = "channels_last");

// Convolves each channel separately; the filter is [spatial…, channels, multiplier].
KERATIN_API Value depthwise_conv(Value x, Value w, ConvAttrs attrs = {},
                                 const std::string& data_format = "channels_last");
// Depthwise, then across the channels of each position with a filter [1…, channels, outputs].
KERATIN_API Value separable_conv(Value x, Value depthwise, Value pointwise,
                                 const ConvAttrs& attrs = {},
                                 const std::string& data_format = "channels_last");

// The sizes of a conv, conv_grad_input or conv_grad_filter node, for backends.
struct KERATIN_API ConvGeometry {
  int64_t batch = 0;
  int64_t channels = 0;  // of the input, all groups together
  int64_t outputs = 0;   // likewise
  int64_t groups = 1;
  int64_t spatial = 1;  // how many axes
  WindowAxes axes;      // the last `spatial` ones matter

  Shape input() const;
  Shape filter() const;
  Shape output() const;
};
KERATIN_API ConvGeometry conv_geometry(const Node& n);

}  // namespace keratin::ops
