#include "keratin/ops/shards.h"

#include <algorithm>

#include "keratin/ops/attention.h"
#include "keratin/ops/collective.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/conv.h"
#include "keratin/ops/einsum.h"
#include "keratin/ops/einsum_equation.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/indexing.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/mirrored.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/records.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/slicing.h"
#include "keratin/ops/transfer.h"

namespace keratin::ops {
namespace {

// Constants have no device: they are created where they are needed.
bool has_no_device(Value value) {
  return value.node().input_count() == 0 && !is_parameter(value.node());
}

struct Shards {
  int64_t axis = 0;
  Values values;
  Dims edges = {0};  // shard j reaches from edges[j] to edges[j + 1]

  explicit Shards(Value value) : axis(value.node().attr<AxisAttrs>().axis) {
    for (const Value& shard : value.node().inputs()) {
      values.push_back(shard);
      edges.push_back(edges.back() + shard.shape()[axis]);
    }
  }
  size_t count() const { return values.size(); }
  Device device(size_t j) const { return values[j].type().device; }
};

Value place(Value value, Device device) {
  value.node().place(device);
  return value;
}

Value sum_of(const Values& addends) {
  return collective::reduce(addends, addends[0].type().device);
}

// The axes of an op's inputs and of its result, named as in einsum: axes with equal names are
// one axis. An axis that the result does not have is summed over. Fixed axes cannot be sharded.
using Names = std::vector<int>;
struct Axes {
  std::vector<Names> inputs;
  Names result;
  Names fixed = {};
};

constexpr int unrelated = -1;  // the name of an axis that no other axis has

Names numbers(int64_t first, int64_t count) {
  Names names;
  for (int64_t i = 0; i < count; ++i) names.push_back(static_cast<int>(first + i));
  return names;
}

std::optional<size_t> find(const Names& names, int name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<size_t>(found - names.begin());
}

// Inputs are aligned with the result at the last axis.
Axes pointwise_axes(const Node& n, const Shape& result) {
  Axes axes{{}, numbers(0, result.rank())};
  for (const Value& input : n.inputs())
    axes.inputs.push_back(numbers(result.rank() - input.rank(), input.rank()));
  return axes;
}

Axes matmul_axes(const Node& n, const Shape& result) {
  const auto [ta, tb] = n.attr<MatmulAttrs>();
  const int rank = static_cast<int>(result.rank()), rows = rank - 2, columns = rank - 1,
            depth = rank;
  Axes axes{{}, numbers(0, rank)};
  for (const Value& input : n.inputs())
    axes.inputs.push_back(numbers(rank - input.rank(), input.rank() - 2));
  for (const int name : {ta ? depth : rows, ta ? rows : depth}) axes.inputs[0].push_back(name);
  for (const int name : {tb ? columns : depth, tb ? depth : columns})
    axes.inputs[1].push_back(name);
  return axes;
}

Axes einsum_axes(const Node& n) {
  std::vector<Shape> shapes;
  for (const Value& input : n.inputs()) shapes.push_back(input.shape());
  const EinsumEquation equation(n.attr<EinsumAttrs>().equation, shapes);
  Axes axes{{}, Names(equation.result.begin(), equation.result.end())};
  for (const ops::Labels& labels : equation.operands) {
    axes.inputs.emplace_back(labels.begin(), labels.end());
    for (const Label label : labels)
      if (std::count(labels.begin(), labels.end(), label) > 1) axes.fixed.push_back(label);
  }
  return axes;
}

Axes conv_axes(const Node& n, const Shape& result) {
  const int spatial = static_cast<int>(result.rank() - 2);
  enum : int { batch = 100, channels, filters };
  Axes axes{{{batch}, {}}, {batch}};
  for (int i = 0; i < spatial; ++i) {
    axes.inputs[0].push_back(i);
    axes.inputs[1].push_back(spatial + i);
    axes.result.push_back(2 * spatial + i);
  }
  axes.fixed = numbers(0, int64_t{3} * spatial);
  axes.inputs[0].push_back(channels);
  axes.inputs[1].insert(axes.inputs[1].end(), {channels, filters});
  axes.result.push_back(filters);
  if (n.attr<ConvAttrs>().groups != 1) axes.fixed.insert(axes.fixed.end(), {channels, filters});
  return axes;
}

Axes reduce_axes(const Node& n) {
  const auto& [reduced, keepdims] = n.attr<ReduceAttrs>();
  Axes axes{{numbers(0, n.in().rank())}, {}};
  for (const int name : axes.inputs[0]) {
    const bool stays = std::find(reduced.begin(), reduced.end(), name) == reduced.end();
    if (stays || keepdims) axes.result.push_back(stays ? name : unrelated);
    if (!stays && &n.op() != &sum_op) axes.fixed.push_back(name);
  }
  return axes;
}

// The op needs all of one axis at once; along the others its slices are independent.
Axes along_axes(const Node& n) {
  Axes axes{{}, numbers(0, n.in().rank()), {static_cast<int>(n.attr<AxisAttrs>().axis)}};
  axes.inputs.assign(n.input_count(), axes.result);
  return axes;
}

// Heads and samples are independent.
Axes attention_axes(const Node& n) {
  enum : int { batch, queries, heads, depth, keys, features };
  Axes axes{
      {{batch, queries, heads, depth}, {batch, keys, heads, depth}, {batch, keys, heads, features}},
      {batch, queries, heads, features},
      {queries, depth, keys, features}};
  for (size_t i = 3; i < n.input_count(); ++i) {
    const Names all{batch, heads, queries, keys};
    axes.inputs.emplace_back(all.end() - n.in(i).rank(), all.end());
  }
  if (n.in(0).shape()[2] != n.in(1).shape()[2]) axes.fixed.push_back(heads);
  return axes;
}

Axes gather_axes(const Node& n) {
  const int64_t axis = n.attr<AxisAttrs>().axis;
  const Names table = numbers(0, n.in(0).rank()), indices = numbers(100, n.in(1).rank());
  Axes axes{{table, indices}, {table.begin(), table.begin() + axis}, {static_cast<int>(axis)}};
  axes.result.insert(axes.result.end(), indices.begin(), indices.end());
  axes.result.insert(axes.result.end(), table.begin() + axis + 1, table.end());
  return axes;
}

// These add or remove an axis of size 1.
Axes expand_axes(const Node& n) {
  Axes axes{{numbers(0, n.in().rank())}, numbers(0, n.in().rank())};
  axes.result.insert(axes.result.begin() + n.attr<AxisAttrs>().axis, unrelated);
  return axes;
}
Axes squeeze_axes(const Node& n) {
  const int64_t axis = n.attr<AxisAttrs>().axis;
  Axes axes{{numbers(0, n.in().rank())}, numbers(0, n.in().rank()), {static_cast<int>(axis)}};
  axes.result.erase(axes.result.begin() + axis);
  return axes;
}

Axes transpose_axes(const Node& n) {
  Axes axes{{numbers(0, n.in().rank())}, {}};
  for (const int64_t from : n.attr<TransposeAttrs>().permutation)
    axes.result.push_back(static_cast<int>(from));
  return axes;
}

std::optional<Axes> axes_of(const Node& n, const Shape& result) {
  const OpDef* op = &n.op();
  const auto is_one_of = [&](std::initializer_list<const OpDef*> list) {
    return std::find(list.begin(), list.end(), op) != list.end();
  };
  if (op->scalar) return pointwise_axes(n, result);
  if (op == &matmul_op) return matmul_axes(n, result);
  if (op == &einsum_op) return einsum_axes(n);
  if (op == &conv_op) return conv_axes(n, result);
  if (op == &transpose_op) return transpose_axes(n);
  if (op == &expand_dims_op) return expand_axes(n);
  if (op == &squeeze_op) return squeeze_axes(n);
  if (op == &gather_op) return gather_axes(n);
  if (op == &scaled_dot_product_attention_op) return attention_axes(n);
  if (is_one_of({&sum_op, &max_op, &min_op, &prod_op, &any_op, &all_op, &mean_op, &variance_op,
                 &logsumexp_op}))
    return reduce_axes(n);
  if (is_one_of({&softmax_op, &softmax_grad_op, &log_softmax_op, &log_softmax_grad_op}))
    return along_axes(n);
  return std::nullopt;
}

// The axis along which an input is sliced for each shard; nothing if it is used whole.
std::optional<int64_t> sliced_axis(const Names& names, int name, const Shape& shape, int64_t size) {
  const auto at = find(names, name);
  if (!at || shape[static_cast<int64_t>(*at)] != size) return std::nullopt;
  return static_cast<int64_t>(*at);
}

// The op once per shard of the input `leader`. Undefined where the sharded axis is fixed, or where
// another input would have to be sliced only to be summed over: gathering is cheaper.
Value emit_per_shard(const Node& n, const Axes& axes, size_t leader) {
  const Shards shards(n.in(leader));
  const int name = axes.inputs[leader][static_cast<size_t>(shards.axis)];
  if (name == unrelated || find(axes.fixed, name)) return {};
  const int64_t size = shards.edges.back();
  const auto result = find(axes.result, name);
  std::vector<std::optional<int64_t>> slices;
  for (size_t i = 0; i < n.input_count(); ++i) {
    const auto at = find(axes.inputs[i], name);
    if (at && n.in(i).shape()[static_cast<int64_t>(*at)] == unknown) return {};
    slices.push_back(sliced_axis(axes.inputs[i], name, n.in(i).shape(), size));
    if (!result && i > leader && slices[i] && !is_sharded(n.in(i))) return {};
  }
  Values results;
  for (size_t j = 0; j < shards.count(); ++j) {
    const Device device = shards.device(j);
    Values inputs;
    for (size_t i = 0; i < n.input_count(); ++i)
      inputs.push_back(
          slices[i] ? slice_on(n.in(i), *slices[i], shards.edges[j], shards.edges[j + 1], device)
                    : whole_on(n.in(i), device));
    results.push_back(place(emit(n.op(), inputs, n.attrs()), device));
  }
  return result ? concatenate(results, static_cast<int64_t>(*result)) : sum_of(results);
}

// A table whose rows are sharded: each device looks up its own rows, and gives zeros for the
// others. An index that is out of range goes to the first shard, which reports it.
Value gather_rows(const Node& n, const Shards& shards) {
  if (!n.in(1).shape().known()) return {};
  const auto size = static_cast<double>(shards.edges.back());
  const Value given = n.in(1), index = where(given < 0, given + size, given);
  const Value stray = bitwise_or(index < 0, index >= size);
  Values found;
  for (size_t j = 0; j < shards.count(); ++j) {
    const Device device = shards.device(j);
    const auto begin = static_cast<double>(shards.edges[j]),
               end = static_cast<double>(shards.edges[j + 1]);
    const Value inside = bitwise_and(index >= begin, index < end);
    Value local = where(inside, index - begin, zeros_like(index));
    if (j == 0) local = where(stray, given, local);
    const Value rows = take(shards.values[j], whole_on(local, device), shards.axis);
    Dims around(static_cast<size_t>(shards.axis), 1);
    around.insert(around.end(), given.shape().begin(), given.shape().end());
    around.resize(static_cast<size_t>(rows.rank()), 1);
    const Value mine = reshape(whole_on(inside, device), around);
    found.push_back(where(mine, rows, scalar_like(rows, 0)));
  }
  return sum_of(found);
}

// Each shard can be reshaped by itself if an axis of the result has the same number of elements
// before it as the sharded axis, and each shard fills whole steps of that axis.
Value reshape_shards(const Shards& shards, const Shape& from, const Shape& to) {
  if (!from.known() || !to.known()) return {};
  const int64_t before = from.count(0, shards.axis);
  int64_t axis = 0;
  while (axis < to.rank() && (to.count(0, axis) != before || to[axis] == 1)) ++axis;
  if (axis == to.rank()) return {};
  const int64_t inner = from.count(shards.axis + 1, from.rank()),
                step = to.count(axis + 1, to.rank());
  Values results;
  for (size_t j = 0; j < shards.count(); ++j) {
    const int64_t elements = (shards.edges[j + 1] - shards.edges[j]) * inner;
    if (step == 0 || elements % step != 0) return {};
    Dims dims = to.dims();
    dims[static_cast<size_t>(axis)] = elements / step;
    results.push_back(reshape(shards.values[j], dims));
  }
  return concatenate(results, axis);
}

Value broadcast_shards(const Shards& shards, const Shape& to) {
  const int64_t axis = shards.axis + to.rank() - shards.values[0].rank();
  if (to[axis] != shards.edges.back()) return {};
  Values results;
  for (size_t j = 0; j < shards.count(); ++j) {
    Dims dims = to.dims();
    for (int64_t& size : dims) size = size == unknown ? -1 : size;
    dims[static_cast<size_t>(axis)] = shards.edges[j + 1] - shards.edges[j];
    results.push_back(broadcast_to(shards.values[j], dims));
  }
  return concatenate(results, axis);
}

// A slice of one whole shard, or of every shard.
Value slice_shards(const Node& n, const Shards& shards) {
  const auto at = static_cast<size_t>(shards.axis);
  SliceAttrs attrs = n.attr<SliceAttrs>();
  const Shape& shape = n.in().shape();
  if (!shape.known() || attrs.step[at] != 1) return {};
  const SliceWindow window = slice_window(attrs, shape);
  attrs.start[at] = 0;
  attrs.limit[at] = to_end;
  const int64_t begin = window.start[at], end = begin + window.size[at];
  Values results;
  for (size_t j = 0; j < shards.count(); ++j) {
    const bool exactly = begin == shards.edges[j] && end == shards.edges[j + 1];
    const bool all = begin == 0 && end == shards.edges.back();
    if (!exactly && !all) continue;
    const Value shard = slice(shards.values[j], attrs.start, attrs.limit, attrs.step);
    if (exactly) return shard;
    results.push_back(shard);
  }
  return results.empty() ? Value() : concatenate(results, shards.axis);
}

}  // namespace

bool is_sharded(Value value) {
  const Node& node = value.node();
  if (&node.op() != &concat_op || node.block().depth() > 0) return false;
  std::optional<Device> first;
  for (const Value& shard : node.inputs()) {
    if (has_no_device(shard)) continue;
    if (first.value_or(shard.type().device) != shard.type().device) return true;
    first = shard.type().device;
  }
  return false;
}

bool is_distributed(Value value) { return is_mirrored(value) || is_sharded(value); }

Value whole_on(Value value, Device device) {
  if (is_mirrored(value)) return whole_on(nearest_copy(value, device), device);
  if (is_sharded(value)) {
    const Shards shards(value);
    return collective::gather(shards.values, shards.axis, device);
  }
  return value.type().device == device || has_no_device(value) ? value : transfer(value, device);
}

Value slice_on(Value value, int64_t axis, int64_t begin, int64_t end, Device device) {
  const bool readable = !is_distributed(value) && device.kind == Device::Kind::cpu &&
                        value.type().device.kind == Device::Kind::cpu;
  const Value shard = slice_axis(readable ? whole_on(value, device) : value, axis, begin, end);
  return shard.type().device == device ? shard : whole_on(shard, device);
}

int64_t sharded_axis(Value sharded) { return Shards(sharded).axis; }

Value map_shards(Value sharded, Value other, const std::function<Value(Value, Value)>& f) {
  const Shards shards(sharded);
  Values results;
  for (size_t j = 0; j < shards.count(); ++j)
    results.push_back(f(shards.values[j], slice_on(other, shards.axis, shards.edges[j],
                                                   shards.edges[j + 1], shards.device(j))));
  return concatenate(results, shards.axis);
}

Value emit_distributed(const OpDef& op, const Values& inputs, const Attrs& attrs) {
  const Node n(inputs[0].block(), op, inputs, attrs);
  const Types types = infer_types(n);
  if (&op == &transfer_op) return whole_on(inputs[0], attrs.get<TransferAttrs>().device);
  // Attention's second output is for its gradient, which is emitted from each shard's own node.
  if (types.size() != 1 && &op != &scaled_dot_product_attention_op) return {};
  if (std::any_of(inputs.begin(), inputs.end(), is_mirrored))
    return emit_mirrored(op, inputs, attrs);
  const Shape& result = types[0].shape;
  if (is_sharded(inputs[0])) {
    const Shards shards(inputs[0]);
    if (&op == &slice_op) return slice_shards(n, shards);
    if (&op == &reshape_op) return reshape_shards(shards, inputs[0].shape(), result);
    if (&op == &broadcast_to_op) return broadcast_shards(shards, result);
    if (&op == &gather_op && shards.axis == attrs.get<AxisAttrs>().axis)
      return gather_rows(n, shards);
  }
  const auto axes = axes_of(n, result);
  if (!axes) return {};
  for (size_t i = inputs.size(); i-- > 0;)
    if (is_sharded(inputs[i]))
      if (const Value result = emit_per_shard(n, *axes, i); result.defined()) return result;
  return {};
}

}  // namespace keratin::ops
