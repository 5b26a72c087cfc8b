#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/ops/conv.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/records.h"
#include "keratin/ops/shape_rules.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::ops {

namespace {

// Along one axis, the full result has (in - 1)·stride + extent elements. Keras removes `low` of
// them at the start and `high` at the end (or adds zeros if negative).
struct Cut {
  int64_t low = 0;
  int64_t high = 0;
};

Cut keras_cut(const std::string& padding, int64_t extent, int64_t stride,
              std::optional<int64_t> output_padding) {
  if (padding == "valid")
    return {0, output_padding ? -*output_padding : std::min<int64_t>(0, extent - stride)};
  const int64_t total = output_padding ? extent - extent % 2 - *output_padding : extent - stride;
  // The padding on both sides; the larger half is at the start.
  const int64_t left = 2 * (extent - 1) - total;
  const int64_t low = extent - 1 - std::min((left + 1) / 2, extent - 1);
  return {low, total - low};
}

// The convolution whose gradient by the input this op is. Unknown sizes stay unknown.
ConvAttrs convolution(const Node& n) {
  const auto& attrs = n.attr<ConvTransposeAttrs>();
  const Shape &x = n.in(0).shape(), &w = n.in(1).shape();
  ConvAttrs result{.strides = attrs.strides, .dilations = attrs.dilations, .padding = "explicit"};
  for (size_t i = 0; i < static_cast<size_t>(x.rank() - 2); ++i) {
    const int64_t in = x[static_cast<int64_t>(i) + 1], window = w[static_cast<int64_t>(i)];
    const int64_t stride = entry_or(attrs.strides, i, 1);
    const int64_t extent = (window - 1) * entry_or(attrs.dilations, i, 1) + 1;
    const auto extra = attrs.output_padding.empty()
                           ? std::nullopt
                           : std::optional<int64_t>(attrs.output_padding[i]);
    const Cut cut = window == unknown ? Cut{} : keras_cut(attrs.padding, extent, stride, extra);
    result.low.push_back(cut.low);
    result.high.push_back(cut.high);
    result.sizes.push_back(in == unknown || window == unknown
                               ? unknown
                               : (in - 1) * stride + extent - cut.low - cut.high);
  }
  return result;
}

void check_list(std::string_view what, const Dims& list, int64_t spatial, int64_t least) {
  require(list.empty() || static_cast<int64_t>(list.size()) == spatial, "conv_transpose: ", what,
          " must have one entry for each of ", spatial, " spatial axes, got ", list.size());
  for (int64_t value : list)
    require(value >= least && value < (int64_t{1} << 31), "conv_transpose: ", what,
            " must be at least ", least, " and less than 2^31, got ", value);
}

Types infer_conv_transpose(const Node& n) {
  const auto& attrs = n.attr<ConvTransposeAttrs>();
  const Shape &x = n.in(0).shape(), &w = n.in(1).shape();
  require(is_float(n.in(0).dtype()) && n.in(0).dtype() == n.in(1).dtype(),
          "conv_transpose: inputs must be floats of one dtype, got ", n.in(0).type(), " and ",
          n.in(1).type());
  require(x.rank() >= 3 && x.rank() <= 2 + max_spatial && w.rank() == x.rank(),
          "conv_transpose: input and filter must have 1 to 3 spatial axes, got ", x, " and ", w);
  require(attrs.padding == "valid" || attrs.padding == "same",
          "conv_transpose: padding must be 'valid' or 'same', got '", attrs.padding, "'");
  require(compatible(Shape{x.back()}, Shape{w.back()}), "conv_transpose: the filter ", w, " needs ",
          w.back(), " channels, the input ", x, " has ", x.back());
  const int64_t spatial = x.rank() - 2;
  check_list("strides", attrs.strides, spatial, 1);
  check_list("dilations", attrs.dilations, spatial, 1);
  check_list("output_padding", attrs.output_padding, spatial, 0);
  for (int64_t axis = 0; axis < spatial; ++axis)
    require(x[axis + 1] != 0 && w[axis] != 0 && w[axis] < (int64_t{1} << 31),
            "conv_transpose: spatial sizes must be at least 1, got ", x, " and ", w);
  Dims dims = convolution(n).sizes;
  dims.insert(dims.begin(), x[0]);
  dims.push_back(w[w.rank() - 2]);
  const Shape shape(dims);
  if (shape.known()) shape.count();  // refuses what overflows
  return {{n.in().dtype(), shape}};
}

}  // namespace

// y = conv_grad_input(x, w), with the padding and size that Keras gives to y
const OpDef conv_transpose_op{
    .name = "conv_transpose",
    .attrs = attrs_type<ConvTransposeAttrs>(),
    .arity = 2,
    .infer = infer_conv_transpose,
    .decompose = [](const Node& n) -> Values {
      return {conv_grad_input(n.in(0), n.in(1), convolution(n))};
    },
};

Value conv_transpose(Value x, Value w, ConvTransposeAttrs attrs, const std::string& data_format) {
  const bool first = is_channels_first("conv_transpose", data_format);
  require(!first || x.rank() >= 3, "conv_transpose: the input must have 1 to 3 spatial axes, got ",
          x.shape());
  for (Dims* list : {&attrs.strides, &attrs.dilations, &attrs.output_padding})
    if (list->size() == 1) list->assign(static_cast<size_t>(x.rank() - 2), (*list)[0]);
  const Value in = first ? transpose(x, to_channels_last(x.rank())) : x;
  const Value y = emit(conv_transpose_op, {in, w}, std::move(attrs));
  return first ? transpose(y, to_channels_first(y.rank())) : y;
}

}  // namespace keratin::ops
