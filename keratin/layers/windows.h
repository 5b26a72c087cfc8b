#pragma once

#include "keratin/graph/config.h"

// What convolutions and pooling share. Inputs are [batch, spatial…, channels], or channels_first.
// Arguments are brought to one form when a layer is made, as in Keras, so configs have that form.
namespace keratin::windows {

// One size for each axis; each must be at least `min`.
Sizes sizes(const Sizes& given, int rank, std::string_view argument, int64_t min = 1);
std::string padding(std::string given, bool causal = false);
std::string data_format(std::string given);

// Keras refuses strides with dilation.
void refuse_strides_with_dilation(const Sizes& strides, const Sizes& dilation);
void check_filters(int64_t filters);
void check_multiplier(int64_t multiplier);

int64_t channel_axis(const std::string& data_format);
// The number of channels of an input; an error if it is unknown.
int64_t channels_of(const Layer& layer, const Shape& input, const std::string& data_format);

struct Window {
  std::string_view what;  // the argument that gives its size
  const Sizes& size;
  const Sizes& strides;
  Dims dilation;
  const std::string& padding;
  const std::string& data_format;
};
// Errors: an input in which no window fits.
void check_fits(const Shape& input, const Window& window);

// bias[c] added to each channel
Value add_bias(Value x, Value bias, const std::string& data_format);

// (3, 2), (3,)
std::string tuple(const Dims& dims);

}  // namespace keratin::windows
