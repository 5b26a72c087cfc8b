#include "keratin/ops/conv.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/records.h"
#include "keratin/ops/shape_rules.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::ops {

namespace {

// channels = depth · groups
int64_t channels_of(const Node& n, int64_t depth) {
  const int64_t groups = n.attr<ConvAttrs>().groups;
  constexpr int64_t limit = int64_t{1} << 31;
  require(groups >= 1 && groups < limit && depth < limit, n.name(),
          ": groups must be at least 1 and less than 2^31, as must the filter's channels, got ",
          groups, " and ", depth);
  return depth == unknown ? unknown : depth * groups;
}

template <class Size>
Shape conv_shape(const ConvGeometry& g, std::optional<int64_t> batch, Size size,
                 std::initializer_list<int64_t> last) {
  Dims dims;
  if (batch) dims.push_back(*batch);
  for (auto axis = g.axes.end() - g.spatial; axis != g.axes.end(); ++axis)
    dims.push_back((*axis).*size);
  dims.insert(dims.end(), last);
  return Shape(dims);
}

// The spatial sizes between the first axis and the last ones.
Dims middle(const Shape& shape, int64_t first, int64_t last) {
  return Dims(shape.begin() + first, shape.end() - last);
}

ConvGeometry make_geometry(const Node& n, const Shape& input, const Shape& filter) {
  const auto& attrs = n.attr<ConvAttrs>();
  const int64_t channels = input.back(), needed = channels_of(n, filter[filter.rank() - 2]);
  require(filter.back() == unknown || filter.back() % attrs.groups == 0, n.name(), ": ",
          filter.back(), " outputs cannot be split into ", attrs.groups, " groups");
  require(channels == unknown || channels % attrs.groups == 0, n.name(), ": ", channels,
          " channels cannot be split into ", attrs.groups, " groups");
  require(sizes_agree(needed, channels), n.name(), ": the filter ", filter, " with ", attrs.groups,
          " groups needs ", needed, " channels, the input ", input, " has ", channels);
  return {.batch = input[0],
          .channels = channels == unknown ? needed : channels,
          .outputs = filter.back(),
          .groups = attrs.groups,
          .spatial = input.rank() - 2,
          .axes = slide(n.name(), input, middle(filter, 0, 2),
                        {attrs.strides, attrs.dilations, attrs.padding, attrs.low, attrs.high})};
}

void check_rank(const Node& n, const Shape& shape, std::string_view what) {
  require(shape.rank() >= 3 && shape.rank() <= 2 + max_spatial, n.name(), ": ", what,
          " must have 1 to 3 spatial axes, got ", shape);
}

void check_sizes(const Node& n, const Dims& sizes, int64_t spatial) {
  require(static_cast<int64_t>(sizes.size()) == spatial, n.name(), ": sizes must have ", spatial,
          " entries, got ", sizes.size());
  for (int64_t size : sizes)
    require(size >= 0, n.name(), ": sizes must not be negative, got ", size);
}

// Checks dy of the gradient ops: it must have the shape of the convolution's result.
void check_output(const Node& n, const ConvGeometry& g, const Shape& dy) {
  require(compatible(g.output(), dy), n.name(), ": the convolution gives ", g.output(),
          ", got a gradient of ", dy);
}

ConvGeometry geometry_of_conv(const Node& n) {
  const Shape &x = n.in(0).shape(), &w = n.in(1).shape();
  check_rank(n, x, "the input");
  require(w.rank() == x.rank(), n.name(), ": the filter must have rank ", x.rank(), ", got ", w);
  return make_geometry(n, x, w);
}

ConvGeometry geometry_of_grad_input(const Node& n) {
  const auto& attrs = n.attr<ConvAttrs>();
  const Shape &dy = n.in(0).shape(), &w = n.in(1).shape();
  check_rank(n, dy, "the gradient");
  require(w.rank() == dy.rank(), n.name(), ": the filter must have rank ", dy.rank(), ", got ", w);
  check_sizes(n, attrs.sizes, dy.rank() - 2);
  Dims input = attrs.sizes;
  input.insert(input.begin(), dy[0]);
  input.push_back(channels_of(n, w[w.rank() - 2]));
  const ConvGeometry g = make_geometry(n, Shape(input), w);
  check_output(n, g, dy);
  return g;
}

ConvGeometry geometry_of_grad_filter(const Node& n) {
  const auto& attrs = n.attr<ConvAttrs>();
  const Shape &x = n.in(0).shape(), &dy = n.in(1).shape();
  check_rank(n, x, "the input");
  require(dy.rank() == x.rank(), n.name(), ": the gradient must have rank ", x.rank(), ", got ",
          dy);
  check_sizes(n, attrs.sizes, x.rank() - 2);
  require(attrs.groups >= 1, n.name(), ": groups must be at least 1, got ", attrs.groups);
  Dims filter = attrs.sizes;
  filter.push_back(x.back() == unknown ? unknown : x.back() / attrs.groups);
  filter.push_back(dy.back());
  ConvGeometry g = make_geometry(n, x, Shape(filter));
  check_output(n, g, dy);
  return g;
}

void check_operands(const Node& n) {
  require(is_float(n.in(0).dtype()) && n.in(0).dtype() == n.in(1).dtype(), n.name(),
          ": inputs must be floats of one dtype, got ", n.in(0).type(), " and ", n.in(1).type());
}

double conv_flops(const Node& n) {
  const ConvGeometry g = conv_geometry(n);
  const int64_t taps = g.filter().count() / std::max<int64_t>(1, g.outputs);
  return 2.0 * static_cast<double>(g.output().count()) * static_cast<double>(taps);
}

ConvAttrs with_sizes(ConvAttrs attrs, Dims sizes) {
  attrs.sizes = std::move(sizes);
  return attrs;
}
ConvAttrs forward_attrs(const Node& n) { return with_sizes(n.attr<ConvAttrs>(), {}); }
ConvAttrs by_input(const Node& n, Value input) {
  return with_sizes(n.attr<ConvAttrs>(), middle(input.shape(), 1, 1));
}
ConvAttrs by_filter(const Node& n, Value filter) {
  return with_sizes(n.attr<ConvAttrs>(), middle(filter.shape(), 0, 2));
}

// One entry is for all axes, and a list of ones becomes empty, so that equal nodes compare equal.
void canonicalize(Dims& list, int64_t spatial) {
  if (list.size() == 1 && spatial > 1) list.assign(static_cast<size_t>(spatial), list[0]);
  if (std::all_of(list.begin(), list.end(), [](int64_t v) { return v == 1; })) list.clear();
}

ConvAttrs canonical(ConvAttrs attrs, int64_t rank) {
  canonicalize(attrs.strides, rank - 2);
  canonicalize(attrs.dilations, rank - 2);
  return attrs;
}

// Runs f on x with its channels last, and puts them back.
template <class F>
Value conv_channels_last(std::string_view who, Value x, const std::string& data_format, F f) {
  if (!is_channels_first(who, data_format)) return f(x);
  require(x.rank() >= 3, who, ": the input must have 1 to 3 spatial axes, got ", x.shape());
  const Value y = f(transpose(x, to_channels_last(x.rank())));
  return transpose(y, to_channels_first(y.rank()));
}

}  // namespace

Shape ConvGeometry::input() const {
  return conv_shape(*this, batch, &WindowAxis::input, {channels});
}
Shape ConvGeometry::filter() const {
  const int64_t depth = channels == unknown ? unknown : channels / groups;
  return conv_shape(*this, std::nullopt, &WindowAxis::window, {depth, outputs});
}
Shape ConvGeometry::output() const {
  return conv_shape(*this, batch, &WindowAxis::output, {outputs});
}

ConvGeometry conv_geometry(const Node& n) {
  if (&n.op() == &conv_op) return geometry_of_conv(n);
  if (&n.op() == &conv_grad_input_op) return geometry_of_grad_input(n);
  ensure(&n.op() == &conv_grad_filter_op, "conv_geometry: '", n.name(), "' is no convolution");
  return geometry_of_grad_filter(n);
}

// y[n, o, f] = Σ_{k,c} x[n, o·stride - low + k·dilation, c] · w[k, c, f]
const OpDef conv_op{
    .name = "conv",
    .attrs = attrs_type<ConvAttrs>(),
    .arity = 2,
    .infer = [](const Node& n) -> Types {
      check_operands(n);
      return like_input(n, conv_geometry(n).output());
    },
    .grad = [](const Node& n, const Values& dy) -> Values {
      return {conv_grad_input(dy[0], n.in(1), by_input(n, n.in(0))),
              conv_grad_filter(n.in(0), dy[0], by_filter(n, n.in(1)))};
    },
    .flops = conv_flops,
};

// dx[n, i, c] = Σ_{o,k,f : o·stride - low + k·dilation = i} dy[n, o, f] · w[k, c, f]
const OpDef conv_grad_input_op{
    .name = "conv_grad_input",
    .attrs = attrs_type<ConvAttrs>(),
    .arity = 2,
    .infer = [](const Node& n) -> Types {
      check_operands(n);
      return like_input(n, conv_geometry(n).input());
    },
    .grad = [](const Node& n, const Values& dx) -> Values {
      return {conv(dx[0], n.in(1), forward_attrs(n)),
              conv_grad_filter(dx[0], n.in(0), by_filter(n, n.in(1)))};
    },
    .flops = conv_flops,
};

// dw[k, c, f] = Σ_{n,o} x[n, o·stride - low + k·dilation, c] · dy[n, o, f]
const OpDef conv_grad_filter_op{
    .name = "conv_grad_filter",
    .attrs = attrs_type<ConvAttrs>(),
    .arity = 2,
    .infer = [](const Node& n) -> Types {
      check_operands(n);
      return like_input(n, conv_geometry(n).filter());
    },
    .grad = [](const Node& n, const Values& dw) -> Values {
      return {conv_grad_input(n.in(1), dw[0], by_input(n, n.in(0))),
              conv(n.in(0), dw[0], forward_attrs(n))};
    },
    .flops = conv_flops,
};

Value conv(Value x, Value w, ConvAttrs attrs, const std::string& data_format) {
  return conv_channels_last("conv", x, data_format, [&](Value in) {
    return emit(conv_op, {in, w}, canonical(attrs, in.rank()));
  });
}

Value conv_grad_input(Value dy, Value w, ConvAttrs attrs) {
  return emit(conv_grad_input_op, {dy, w}, canonical(std::move(attrs), dy.rank()));
}

Value conv_grad_filter(Value x, Value dy, ConvAttrs attrs) {
  return emit(conv_grad_filter_op, {x, dy}, canonical(std::move(attrs), x.rank()));
}

Value depthwise_conv(Value x, Value w, ConvAttrs attrs, const std::string& data_format) {
  const Shape& filter = w.shape();
  require(filter.rank() == x.rank() && x.rank() >= 3, "depthwise_conv: the filter must be ",
          "[spatial…, channels, multiplier] of the input's rank, got ", filter, " for ", x.shape());
  attrs.groups = filter[filter.rank() - 2];
  require(attrs.groups != unknown, "depthwise_conv: the channels of the filter must be known, got ",
          filter);
  // Output c·multiplier + m belongs to group c, which is the order of the elements.
  Dims dims(static_cast<size_t>(filter.rank()), keep_size);
  dims[dims.size() - 2] = 1;
  dims[dims.size() - 1] = infer_size;
  return conv(x, reshape(w, dims), std::move(attrs), data_format);
}

Value separable_conv(Value x, Value depthwise, Value pointwise, const ConvAttrs& attrs,
                     const std::string& data_format) {
  return conv_channels_last("separable_conv", x, data_format, [&](Value in) {
    return conv(depthwise_conv(in, depthwise, attrs), pointwise);
  });
}

}  // namespace keratin::ops
