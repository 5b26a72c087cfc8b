#include "keratin/layers/windows.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/graph/named.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"

namespace keratin::windows {
namespace {

int64_t largest(const Sizes& sizes) {
  return *std::max_element(sizes.dims().begin(), sizes.dims().end());
}

}  // namespace

std::string tuple(const Dims& dims) {
  std::string out = "(";
  for (size_t i = 0; i < dims.size(); ++i) out += text(i == 0 ? "" : ", ", dims[i]);
  return out + (dims.size() == 1 ? ",)" : ")");
}

Sizes sizes(const Sizes& given, int rank, std::string_view argument, int64_t min) {
  const auto count = static_cast<size_t>(rank);
  const Dims dims = given.single() ? Dims(count, given.dims()[0]) : given.dims();
  require(dims.size() == count, "The `", argument, "` argument must be a tuple of ", rank,
          " integers. Received ", argument, "=", tuple(dims));
  for (const int64_t size : dims)
    require(size >= min, "The `", argument, "` argument must be a tuple of ", rank,
            " integers. Received ", argument, "=", tuple(dims), ", including values {", size,
            "} that do not satisfy `value ", min == 0 ? ">= 0" : "> 0", "`");
  return dims;
}

std::string padding(std::string given, bool causal) {
  given = lower_case(given);
  require(given == "valid" || given == "same" || (causal && given == "causal"),
          "The `padding` argument must be one of {'valid', 'same'", causal ? ", 'causal'" : "",
          "}. Received: ", given);
  return given;
}

std::string data_format(std::string given) {
  given = lower_case(given);
  require(given == "channels_first" || given == "channels_last",
          "The `data_format` argument must be one of {'channels_first', 'channels_last'}. "
          "Received: data_format=",
          given);
  return given;
}

void refuse_strides_with_dilation(const Sizes& strides, const Sizes& dilation) {
  require(largest(strides) <= 1 || largest(dilation) <= 1,
          "`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: strides=",
          tuple(strides.dims()), " and dilation_rate=", tuple(dilation.dims()));
}

void check_filters(int64_t filters) {
  require(filters > 0,
          "Invalid value for argument `filters`. Expected a strictly positive value. Received "
          "filters=",
          filters, ".");
}

void check_multiplier(int64_t multiplier) {
  require(multiplier > 0,
          "Invalid value for argument `depth_multiplier`. Expected a strictly positive value. "
          "Received depth_multiplier=",
          multiplier, ".");
}

int64_t channel_axis(const std::string& data_format) {
  return data_format == "channels_first" ? 1 : -1;
}

int64_t channels_of(const Layer& layer, const Shape& input, const std::string& data_format) {
  const int64_t channels = data_format == "channels_first" ? input[1] : input.back();
  require(channels != unknown, layer.class_name(), " '", layer.name(),
          "': the channel dimension of the input must be known, got shape ", keras_shape(input));
  return channels;
}

void check_fits(const Shape& input, const Window& window) {
  const Dims& size = window.size.dims();
  require(input.rank() == static_cast<int64_t>(size.size()) + 2, "expected an input with ",
          size.size(), " spatial dimensions for `", window.what, "=", tuple(size), "`, got shape ",
          keras_shape(input));
  if (window.padding != "valid") return;
  const int64_t first = window.data_format == "channels_first" ? 2 : 1;
  for (size_t i = 0; i < size.size(); ++i) {
    const int64_t room = input[first + static_cast<int64_t>(i)];
    const int64_t dilation = window.dilation.empty() ? 1 : window.dilation[i];
    // A product of hostile sizes may overflow.
    require(room == unknown || (room > 0 && (room - 1) / dilation >= size[i] - 1),
            "Computed output size would be zero or negative. Received: `inputs.shape=",
            keras_shape(input), "`, `", window.what, "=", tuple(size),
            "`, `dilation_rate=", tuple(window.dilation),
            "`, `strides=", tuple(window.strides.dims()), "`, `padding=", window.padding, "`.");
  }
}

Value add_bias(Value x, Value bias, const std::string& data_format) {
  if (data_format == "channels_last") return x + bias;
  Dims shape(static_cast<size_t>(x.rank() - 1), 1);
  shape[0] = ops::infer_size;
  return x + ops::reshape(bias, shape);
}

}  // namespace keratin::windows
