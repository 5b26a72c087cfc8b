#include "keratin/ops/pool.h"

#include "keratin/base/text.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise_rules.h"
#include "keratin/ops/records.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/shape_rules.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::ops {

namespace {

Shape pool_shape(const PoolGeometry& g, int64_t WindowAxis::*size) {
  Dims dims = {g.batch};
  for (auto axis = g.axes.end() - g.spatial; axis != g.axes.end(); ++axis)
    dims.push_back((*axis).*size);
  dims.push_back(g.channels);
  return Shape(dims);
}

PoolGeometry make_geometry(const Node& n, const Shape& input) {
  const auto& attrs = n.attr<PoolAttrs>();
  require(attrs.padding == "valid" || attrs.padding == "same", n.name(),
          ": padding must be 'valid' or 'same', got '", attrs.padding, "'");
  const Dims& strides = attrs.strides.empty() ? attrs.window : attrs.strides;
  return {.batch = input[0],
          .channels = input.back(),
          .spatial = input.rank() - 2,
          .axes = slide(n.name(), input, attrs.window, {strides, {}, attrs.padding, {}, {}})};
}

// The shape that is pooled: that of the input, or for gradient ops that of dy with other sizes.
Shape pooled_shape(const Node& n, bool back) {
  const auto& attrs = n.attr<PoolAttrs>();
  const Shape& shape = n.in().shape();
  require(shape.rank() >= 3 && shape.rank() <= 2 + max_spatial, n.name(),
          ": expected 1 to 3 spatial axes, got ", shape);
  const auto spatial = static_cast<size_t>(shape.rank() - 2);
  require(attrs.window.size() == spatial, n.name(), ": the window must have ", spatial,
          " sizes, got ", attrs.window.size());
  for (int64_t size : attrs.window)
    require(size > 0, n.name(), ": the window must have sizes of at least 1, got ", size);
  if (!back) return shape;
  require(attrs.sizes.size() == spatial, n.name(), ": sizes must have ", spatial, " entries, got ",
          attrs.sizes.size());
  Dims dims = shape.dims();
  for (size_t i = 0; i < spatial; ++i) {
    require(attrs.sizes[i] >= 0, n.name(), ": sizes must not be negative, got ", attrs.sizes[i]);
    dims[i + 1] = attrs.sizes[i];
  }
  return Shape(dims);
}

DType where_dtype(const PoolGeometry& g) {
  return Shape{g.axes[0].window, g.axes[1].window, g.axes[2].window}.count() <= 256 ? DType::u8
                                                                                    : DType::i32;
}

void check_output(const Node& n, const PoolGeometry& g, const Value& value) {
  require(compatible(g.output(), value.shape()), n.name(), ": pooling gives ", g.output(), ", got ",
          value.shape());
}

void check_where(const Node& n, const PoolGeometry& g) {
  check_output(n, g, n.in(1));
  require(n.in(1).dtype() == where_dtype(g), n.name(), ": positions in this window are ",
          where_dtype(g), ", got ", n.in(1).type());
}

void check_float_input(const Node& n) {
  require(is_float(n.in().dtype()), n.name(), ": expected a float tensor, got ", n.in().type());
}

// As many comparisons or additions as there are elements in all windows.
double pool_flops(const Node& n) {
  const PoolGeometry g = pool_geometry(n);
  double count = static_cast<double>(g.output().count());
  for (const WindowAxis& axis : g.axes) count *= static_cast<double>(axis.window);
  return count;
}

PoolAttrs pooling_attrs(const Node& n) {
  PoolAttrs attrs = n.attr<PoolAttrs>();
  attrs.sizes.clear();
  return attrs;
}
PoolAttrs back_attrs(const Node& n) {
  PoolAttrs attrs = n.attr<PoolAttrs>();
  attrs.sizes = Dims(n.in().shape().begin() + 1, n.in().shape().end() - 1);
  return attrs;
}

// One size is for all axes; strides equal to the window become empty.
PoolAttrs canonical(PoolAttrs attrs, int64_t rank) {
  for (Dims* list : {&attrs.window, &attrs.strides})
    if (list->size() == 1 && rank > 3) list->assign(static_cast<size_t>(rank - 2), (*list)[0]);
  if (attrs.strides == attrs.window) attrs.strides.clear();
  return attrs;
}

// The spatial axes; checks the input.
Dims spatial_axes(std::string_view who, Value x, const std::string& data_format) {
  const int64_t first = is_channels_first(who, data_format) ? 2 : 1;
  require(x.rank() >= 3, who, ": expected at least 1 spatial axis, got ", x.shape());
  Dims axes;
  for (int64_t i = 0; i < x.rank() - 2; ++i) axes.push_back(first + i);
  return axes;
}

template <class F>
Value pool_channels_last(std::string_view who, Value x, const std::string& data_format, F f) {
  if (!is_channels_first(who, data_format)) return f(x);
  spatial_axes(who, x, data_format);
  return transpose(f(transpose(x, to_channels_last(x.rank()))), to_channels_first(x.rank()));
}

}  // namespace

Shape PoolGeometry::input() const { return pool_shape(*this, &WindowAxis::input); }
Shape PoolGeometry::output() const { return pool_shape(*this, &WindowAxis::output); }

PoolGeometry pool_geometry(const Node& n) {
  const bool back = &n.op() == &max_unpool_op || &n.op() == &avg_pool_grad_op;
  return make_geometry(n, pooled_shape(n, back));
}

// y[n, o, c] = max_k x[n, o·stride - low + k, c], and the k that gives it
const OpDef max_pool_op{
    .name = "max_pool",
    .attrs = attrs_type<PoolAttrs>(),
    .arity = 1,
    .infer = [](const Node& n) -> Types {
      require(n.in().dtype() != DType::boolean, n.name(), ": expected numbers, got ",
              n.in().type());
      const PoolGeometry g = pool_geometry(n);
      Types types = like_input(n, g.output());
      types.push_back({where_dtype(g), g.output()});
      return types;
    },
    .grad = [](const Node& n, const Values& dy) -> Values {
      return {max_unpool(dy[0], n.out(1), back_attrs(n))};
    },
    .flops = pool_flops,
};

// x[n, i, c] = Σ dy[n, o, c] over the o with o·stride - low + where[n, o, c] = i
const OpDef max_unpool_op{
    .name = "max_unpool",
    .attrs = attrs_type<PoolAttrs>(),
    .arity = 2,
    .infer = [](const Node& n) -> Types {
      check_float_input(n);
      const PoolGeometry g = pool_geometry(n);
      check_output(n, g, n.in(0));
      check_where(n, g);
      return like_input(n, g.input());
    },
    .grad = [](const Node& n, const Values& dx) -> Values {
      return {max_repool(dx[0], n.in(1), pooling_attrs(n)), Value()};
    },
};

// y[n, o, c] = x[n, o·stride - low + where[n, o, c], c]
const OpDef max_repool_op{
    .name = "max_repool",
    .attrs = attrs_type<PoolAttrs>(),
    .arity = 2,
    .infer = [](const Node& n) -> Types {
      check_float_input(n);
      const PoolGeometry g = pool_geometry(n);
      check_where(n, g);
      return like_input(n, g.output());
    },
    .grad = [](const Node& n, const Values& dy) -> Values {
      return {max_unpool(dy[0], n.in(1), back_attrs(n)), Value()};
    },
};

// y[n, o, c] = the mean of x[n, o·stride - low + k, c] over the k that are not padding
const OpDef avg_pool_op{
    .name = "avg_pool",
    .attrs = attrs_type<PoolAttrs>(),
    .arity = 1,
    .infer = [](const Node& n) -> Types {
      check_float_input(n);
      return like_input(n, pool_geometry(n).output());
    },
    .grad = [](const Node& n, const Values& dy) -> Values {
      return {avg_pool_grad(dy[0], back_attrs(n))};
    },
    .flops = pool_flops,
};

// x[n, i, c] = Σ dy[n, o, c] / count(o) over the windows o that contain i
const OpDef avg_pool_grad_op{
    .name = "avg_pool_grad",
    .attrs = attrs_type<PoolAttrs>(),
    .arity = 1,
    .infer = [](const Node& n) -> Types {
      check_float_input(n);
      const PoolGeometry g = pool_geometry(n);
      check_output(n, g, n.in());
      return like_input(n, g.input());
    },
    .grad = [](const Node& n, const Values& dx) -> Values {
      return {avg_pool(dx[0], pooling_attrs(n))};
    },
    .flops = pool_flops,
};

Value max_pool(Value x, PoolAttrs attrs, const std::string& data_format) {
  return pool_channels_last("max_pool", x, data_format,
                            [&](Value in) { return max_pool_where(in, attrs).y; });
}

MaxPool max_pool_where(Value x, PoolAttrs attrs) {
  const Node& node = emit_node(max_pool_op, {x}, canonical(std::move(attrs), x.rank()));
  return {node.out(0), node.out(1)};
}

Value max_unpool(Value dy, Value where, PoolAttrs attrs) {
  return emit(max_unpool_op, {dy, where}, canonical(std::move(attrs), dy.rank()));
}

Value max_repool(Value x, Value where, PoolAttrs attrs) {
  return emit(max_repool_op, {x, where}, canonical(std::move(attrs), x.rank()));
}

Value avg_pool(Value x, PoolAttrs attrs, const std::string& data_format) {
  return pool_channels_last("avg_pool", x, data_format, [&](Value in) {
    return emit(avg_pool_op, {in}, canonical(attrs, in.rank()));
  });
}

Value avg_pool_grad(Value dy, PoolAttrs attrs) {
  return emit(avg_pool_grad_op, {dy}, canonical(std::move(attrs), dy.rank()));
}

Value global_max_pool(Value x, bool keepdims, const std::string& data_format) {
  return max(x, spatial_axes("global_max_pool", x, data_format), keepdims);
}

Value global_avg_pool(Value x, bool keepdims, const std::string& data_format) {
  return mean(x, spatial_axes("global_avg_pool", x, data_format), keepdims);
}

}  // namespace keratin::ops
