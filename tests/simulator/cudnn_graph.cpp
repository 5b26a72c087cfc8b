#include "cudnn_graph.h"

#include <algorithm>
#include <bit>
#include <set>

namespace keratin::simulator::cudnn {

namespace {

// Attributes and modes, by the library's numbers.
constexpr int tensor_alignment = 900, tensor_type = 901, tensor_sizes = 902, tensor_strides = 903,
              tensor_id = 906, tensor_virtual = 907;
constexpr int conv_compute = 100, conv_mode = 101, conv_dilations = 102, conv_strides = 103,
              conv_high = 104, conv_low = 105, conv_axes = 106;
constexpr int cross_correlation = 1;
constexpr int pointwise_mode = 0, pointwise_precision = 1;
constexpr int mode_add = 0, mode_relu = 100;
constexpr int operation_pointwise = 750, operation_x = 751, operation_b = 752, operation_y = 753;
constexpr int graph_handle = 800, graph_operations = 801;
constexpr int heuristic_mode = 200, heuristic_graph = 201;
constexpr int plan_handle = 400, plan_config = 401;
constexpr int pack_ids = 1000, pack_pointers = 1001, pack_workspace = 1003;

using Sizes = std::vector<int64_t>;

Number number_of(int type) {
  switch (type) {
    case 0:
      return Number::f32;
    case 2:
      return Number::f16;
    case 9:
      return Number::bf16;
    default:
      throw Refused{not_supported};
  }
}

bool are_at_least(const Sizes& sizes, int64_t least) {
  return std::all_of(sizes.begin(), sizes.end(), [&](int64_t size) { return size >= least; });
}

Sizes strides_of(const Sizes& sizes) {
  Sizes strides(sizes.size(), 1);
  int64_t stride = sizes[1];
  for (size_t axis = sizes.size() - 1; axis >= 2; --axis) {
    strides[axis] = stride;
    stride *= sizes[axis];
  }
  strides[0] = stride;
  return strides;
}

Tensor tensor(const Descriptor& d) {
  Tensor made{.id = d.one<int64_t>(tensor_id),
              .alignment = d.one<int64_t>(tensor_alignment),
              .type = number_of(d.one<int>(tensor_type)),
              .inside = d.has(tensor_virtual) && d.one<uint8_t>(tensor_virtual) != 0,
              .sizes = d.all<int64_t>(tensor_sizes)};
  const size_t rank = made.sizes.size();
  need((rank == 4 || rank == 5) && are_at_least(made.sizes, 1), not_supported);
  need(d.all<int64_t>(tensor_strides) == strides_of(made.sizes), not_supported);
  const auto alignment = static_cast<uint64_t>(made.alignment);
  need(std::has_single_bit(alignment) && alignment >= size_of(made.type), bad_parameter);
  return made;
}

Window window(const Descriptor& d) {
  need(d.one<int>(conv_compute) == 0 && d.one<int>(conv_mode) == cross_correlation, not_supported);
  Window made{.strides = d.all<int64_t>(conv_strides),
              .dilations = d.all<int64_t>(conv_dilations),
              .paddings = d.all<int64_t>(conv_low)};
  const auto axes = static_cast<size_t>(d.one<int64_t>(conv_axes));
  for (const Sizes* sizes : {&made.strides, &made.dilations, &made.paddings})
    need(sizes->size() == axes, bad_parameter);
  need(are_at_least(made.strides, 1) && are_at_least(made.dilations, 1) &&
           are_at_least(made.paddings, 0),
       bad_parameter);
  // Hardly an engine knows others.
  need(d.all<int64_t>(conv_high) == made.paddings, not_supported);
  return made;
}

Pointwise pointwise(const Descriptor& d) {
  const int mode = d.one<int>(pointwise_mode);
  need(mode == mode_add || mode == mode_relu, not_supported);
  need(d.one<int>(pointwise_precision) == 0, not_supported);
  return {.is_relu = mode == mode_relu};
}

std::vector<Axis> axes_of(const Window& window, const ConvOperation& o) {
  const size_t rank = window.strides.size() + 2;
  need(o.x.sizes.size() == rank && o.w.sizes.size() == rank && o.y.sizes.size() == rank,
       bad_parameter);
  std::vector<Axis> axes;
  for (size_t i = 0; i + 2 < rank; ++i) {
    const Axis a{.input = o.x.sizes[i + 2],
                 .window = o.w.sizes[i + 2],
                 .output = o.y.sizes[i + 2],
                 .stride = window.strides[i],
                 .dilation = window.dilations[i],
                 .padding = window.paddings[i]};
    const int64_t room = a.input + 2 * a.padding - (a.window - 1) * a.dilation - 1;
    need(room >= 0 && a.output == room / a.stride + 1, bad_parameter);
    axes.push_back(a);
  }
  return axes;
}

// The attributes of all three begin at another number, and are in the same order.
ConvOperation conv_operation(const Descriptor& d, Result result, int first) {
  need(d.one<float>(first) == 1 && d.one<float>(first + 1) == 0, not_supported);
  ConvOperation made{.convolution = {.result = result},
                     .x = d.given<Tensor>(first + 4),
                     .w = d.given<Tensor>(first + 3),
                     .y = d.given<Tensor>(first + 5)};
  Convolution& c = made.convolution;
  c.axes = axes_of(d.given<Window>(first + 2), made);
  c.type = made.x.type;
  c.batch = made.x.sizes[0];
  c.channels = made.x.sizes[1];
  c.outputs = made.w.sizes[0];
  c.groups = c.channels / made.w.sizes[1];
  need(made.y.sizes[0] == c.batch && made.y.sizes[1] == c.outputs, bad_parameter);
  need(c.groups * made.w.sizes[1] == c.channels && c.outputs % c.groups == 0, bad_parameter);
  need(made.w.type == c.type && !made.x.inside && !made.w.inside, not_supported);
  need(made.y.type == (made.y.inside ? Number::f32 : c.type), not_supported);
  return made;
}

PointwiseOperation pointwise_operation(const Descriptor& d) {
  PointwiseOperation made{.is_relu = d.given<Pointwise>(operation_pointwise).is_relu,
                          .x = d.given<Tensor>(operation_x),
                          .y = d.given<Tensor>(operation_y)};
  if (d.has(operation_b)) made.other = d.given<Tensor>(operation_b);
  need(made.is_relu != made.other.has_value() && made.x.sizes == made.y.sizes, bad_parameter);
  return made;
}

// An operation goes on with what the one before it has made, which is not stored.
void append(Graph& graph, const PointwiseOperation& o, Tensor& value) {
  Program& p = graph.program;
  need(p.convolution.result == Result::y, not_supported);
  need(value.inside && o.x.id == value.id, not_supported);
  value = o.y;
  if (o.is_relu) return p.steps.push_back({Step::Kind::relu});
  const Tensor& other = *o.other;
  Sizes row(value.sizes.size(), 1);
  row[1] = value.sizes[1];
  const bool is_row = other.sizes == row && other.type == Number::f32;
  const bool is_image = other.sizes == value.sizes && other.type == p.convolution.type;
  need((is_row || is_image) && !other.inside, not_supported);
  p.steps.push_back({is_image ? Step::Kind::add_image : Step::Kind::add_row, other.id});
  graph.tensors.push_back(other);
}

std::shared_ptr<const Graph> graph(const Descriptor& d) {
  const auto operations = d.all<const Descriptor*>(graph_operations);
  const auto& first = operations.at(0)->means<ConvOperation>();
  Graph made{.program = {.convolution = first.convolution, .x = first.x.id, .w = first.w.id},
             .tensors = {first.x, first.w},
             .handle = d.one<Handle*>(graph_handle)};
  Tensor value = first.y;
  for (size_t i = 1; i < operations.size(); ++i)
    append(made, operations[i]->means<PointwiseOperation>(), value);
  need(!value.inside && value.type == first.convolution.type, not_supported);
  made.tensors.push_back(value);
  made.program.y = value.id;
  std::set<int64_t> ids;
  for (const Tensor& t : made.tensors) need(ids.insert(t.id).second, bad_parameter);
  return std::make_shared<const Graph>(std::move(made));
}

Plan plan(const Descriptor& d) {
  const auto& config = d.given<EngineConfig>(plan_config);
  need(config.graph->handle == d.one<Handle*>(plan_handle), bad_parameter);
  need(!config.engine.refuses, not_supported);
  return {.config = config,
          .workspace_bytes =
              static_cast<int64_t>(workspace_bytes(config.graph->program, config.engine))};
}

VariantPack variant_pack(const Descriptor& d) {
  const auto ids = d.all<int64_t>(pack_ids);
  const auto pointers = d.all<void*>(pack_pointers);
  need(ids.size() == pointers.size(), bad_parameter);
  VariantPack made{.workspace = d.one<void*>(pack_workspace)};
  for (size_t i = 0; i < ids.size(); ++i)
    need(made.addresses.emplace(ids[i], pointers[i]).second, bad_parameter);
  return made;
}

}  // namespace

Meaning meaning_of(const Descriptor& d) {
  switch (d.kind) {
    case Kind::tensor:
      return tensor(d);
    case Kind::convolution:
      return window(d);
    case Kind::pointwise:
      return pointwise(d);
    case Kind::convolution_forward:
      return conv_operation(d, Result::y, 700);
    case Kind::convolution_grad_input:
      return conv_operation(d, Result::x, 706);
    case Kind::convolution_grad_filter:
      return conv_operation(d, Result::w, 712);
    case Kind::pointwise_operation:
      return pointwise_operation(d);
    case Kind::operation_graph:
      return graph(d);
    case Kind::engine_heuristic:
      return find_engines(d.given<std::shared_ptr<const Graph>>(heuristic_graph),
                          d.one<int>(heuristic_mode));
    case Kind::execution_plan:
      return plan(d);
    case Kind::variant_pack:
      return variant_pack(d);
    default:
      throw Refused{not_supported};  // engines and their configs come from a heuristic
  }
}

}  // namespace keratin::simulator::cudnn
