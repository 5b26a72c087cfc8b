#include "keratin/ops/window.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/ops/shape_rules.h"

namespace keratin::ops {

namespace {

constexpr int64_t limit = int64_t{1} << 31;  // so that products of two fit

void check_list(std::string_view who, std::string_view what, const Dims& list, size_t axes,
                int64_t least) {
  require(list.empty() || list.size() == axes, who, ": ", what, " must have one entry for each of ",
          axes, " spatial axes, got ", list.size());
  for (int64_t value : list)
    require(value >= least && value < limit, who, ": ", what, " must be at least ", least,
            " and less than 2^31, got ", value);
}

// The size of the output, and the padding that belongs to it.
void resolve(std::string_view who, const std::string& padding, WindowAxis& axis) {
  if (padding == "same" && axis.input != unknown)
    axis.output = (axis.input + axis.stride - 1) / axis.stride;
  if (axis.window == unknown) return;
  if (padding == "causal") axis.low = axis.extent() - 1;
  if (axis.input == unknown) return;
  if (padding == "same") {
    const int64_t total =
        std::max<int64_t>(0, (axis.output - 1) * axis.stride + axis.extent() - axis.input);
    axis.low = total / 2;
    axis.high = total - axis.low;
    return;
  }
  const int64_t room = axis.input + axis.low + axis.high - axis.extent();
  require(room >= 0, who, ": a window of ", axis.extent(), " does not fit into a size of ",
          axis.input, " with padding ", axis.low, " and ", axis.high);
  axis.output = room / axis.stride + 1;
}

}  // namespace

WindowAxes slide(std::string_view who, const Shape& input, const Dims& window, const Sliding& how) {
  const size_t axes = window.size();
  const bool given = how.padding == "explicit";
  require(given || how.padding == "valid" || how.padding == "same" || how.padding == "causal", who,
          ": padding must be 'valid', 'same', 'causal' or 'explicit', got '", how.padding, "'");
  require(how.padding != "causal" || axes == 1, who, ": causal padding is for 1 spatial axis, got ",
          axes);
  require(given || (how.low.empty() && how.high.empty()), who,
          ": low and high padding are for 'explicit', the padding is '", how.padding, "'");
  // The shape may come from a gradient op's attributes, and not from a tensor.
  require(input.fits(), who, ": an input ", input, " would have too many elements");
  check_list(who, "strides", how.strides, axes, 1);
  check_list(who, "dilations", how.dilations, axes, 1);
  check_list(who, "low", how.low, axes, -limit);
  check_list(who, "high", how.high, axes, -limit);
  WindowAxes result;
  for (size_t i = 0; i < axes; ++i) {
    WindowAxis& axis = result[result.size() - axes + i];
    axis = {.input = input[static_cast<int64_t>(i) + 1],
            .window = window[i],
            .output = unknown,
            .stride = entry_or(how.strides, i, 1),
            .dilation = entry_or(how.dilations, i, 1),
            .low = entry_or(how.low, i, 0),
            .high = entry_or(how.high, i, 0)};
    require(axis.window == unknown || (axis.window > 0 && axis.window < limit), who,
            ": a window must have a size of at least 1, got ", axis.window);
    resolve(who, how.padding, axis);
  }
  return result;
}

Dims to_channels_last(int64_t rank) {
  Dims permutation = {0};
  for (int64_t axis = 2; axis < rank; ++axis) permutation.push_back(axis);
  permutation.push_back(1);
  return permutation;
}

Dims to_channels_first(int64_t rank) {
  Dims permutation = {0, rank - 1};
  for (int64_t axis = 1; axis + 1 < rank; ++axis) permutation.push_back(axis);
  return permutation;
}

bool is_channels_first(std::string_view who, std::string_view data_format) {
  require(data_format == "channels_last" || data_format == "channels_first", who,
          ": the data format must be 'channels_last' or 'channels_first', got '", data_format, "'");
  return data_format == "channels_first";
}

}  // namespace keratin::ops
