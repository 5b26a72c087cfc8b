#include "keratin/backend/cuda/conv/cudnn_engines.h"

#include <algorithm>

#include "keratin/backend/cuda/driver/gpu.h"
#include "keratin/base/text.h"

namespace keratin::cuda {

namespace {

using cudnn::Descriptor;
using cudnn::Field;
using cudnn::Kind;

constexpr size_t max_workspace = size_t{512} << 20;
constexpr int64_t max_engines = 8;  // the library's order is good: the best is among the first

// Attributes and modes, by the library's numbers.
constexpr int tensor_alignment = 900, tensor_type = 901, tensor_sizes = 902, tensor_strides = 903,
              tensor_id = 906, tensor_virtual = 907;
constexpr int conv_compute = 100, conv_mode = 101, conv_dilations = 102, conv_strides = 103,
              conv_high = 104, conv_low = 105, conv_spatial = 106;
constexpr int cross_correlation = 1;
constexpr int pointwise_mode = 0, pointwise_precision = 1;
constexpr int mode_add = 0, mode_relu = 100;
constexpr int operation_pointwise = 750, operation_x = 751, operation_b = 752, operation_y = 753;
constexpr int graph_handle = 800, graph_operations = 801;
constexpr int heuristic_mode = 200, heuristic_graph = 201, heuristic_results = 202;
constexpr int mode_a = 3, mode_fallback = 2;
constexpr int config_engine = 300, engine_numerical_note = 1303, engine_behavior_note = 1305;
constexpr int runtime_compilation = 0;
constexpr int plan_handle = 400, plan_config = 401, plan_workspace = 402;
constexpr int pack_ids = 1000, pack_pointers = 1001, pack_workspace = 1003;
constexpr int tensor_core = 0, down_convert = 1, reduced_reduction = 2, fft = 3,
              nondeterministic = 4, first_winograd = 5, last_winograd = 8;
constexpr int64_t max_notes = 16;

// The attributes of an operation.
struct Operation {
  Kind kind;
  int alpha, beta, convolution, w, x, y;
};
Operation operation_of(ConvKind kind) {
  switch (kind) {
    case ConvKind::forward:
      return {Kind::convolution_forward, 700, 701, 702, 703, 704, 705};
    case ConvKind::grad_input:
      return {Kind::convolution_grad_input, 706, 707, 708, 709, 710, 711};
    default:
      return {Kind::convolution_grad_filter, 712, 713, 714, 715, 716, 717};
  }
}

using Sizes = std::vector<int64_t>;
constexpr int64_t x_id = 1, w_id = 2, y_id = 3, shift_id = 4, added_id = 5, first_inner_id = 6;

// At least two spatial axes: many engines take no fewer.
std::span<const ops::WindowAxis> axes_of(const ops::ConvGeometry& g) {
  const size_t unused = g.spatial > 2 ? 0 : 1;
  return std::span(g.axes).subspan(unused);
}

Sizes along(const ops::ConvGeometry& g, int64_t ops::WindowAxis::*size) {
  Sizes all;
  for (const ops::WindowAxis& axis : axes_of(g)) all.push_back(axis.*size);
  return all;
}

// [first, channels, spatial…], where channels are the innermost axis in memory.
Descriptor tensor(int64_t id, DType dtype, int64_t first, int64_t channels, const Sizes& spatial,
                  int64_t alignment, bool inner = false) {
  Sizes sizes = {first, channels}, strides(spatial.size() + 2);
  sizes.insert(sizes.end(), spatial.begin(), spatial.end());
  strides[1] = 1;
  int64_t stride = channels;
  for (size_t axis = sizes.size() - 1; axis >= 2; --axis) {
    strides[axis] = stride;
    stride *= sizes[axis];
  }
  strides[0] = stride;
  Descriptor made(Kind::tensor);
  made.set(tensor_type, Field::data_type, cudnn::data_type(dtype));
  made.set(tensor_sizes, sizes);
  made.set(tensor_strides, strides);
  made.set(tensor_id, id);
  made.set(tensor_alignment, alignment);
  if (inner) made.set(tensor_virtual, true);
  made.finish();
  return made;
}

Descriptor convolution(const ops::ConvGeometry& g) {
  Descriptor made(Kind::convolution);
  made.set(conv_compute, Field::data_type, cudnn::data_type(DType::f32));
  made.set(conv_mode, Field::convolution_mode, cross_correlation);
  made.set(conv_strides, along(g, &ops::WindowAxis::stride));
  made.set(conv_dilations, along(g, &ops::WindowAxis::dilation));
  made.set(conv_low, along(g, &ops::WindowAxis::low));
  made.set(conv_high, along(g, &ops::WindowAxis::high));
  made.set(conv_spatial, static_cast<int64_t>(axes_of(g).size()));
  made.finish();
  return made;
}

// The output or, with another id, a value between operations.
Descriptor image(const ConvProblem& p, int64_t id) {
  const bool inner = id >= first_inner_id;
  return tensor(id, inner ? DType::f32 : p.dtype, p.g.batch, p.g.outputs,
                along(p.g, &ops::WindowAxis::output), inner ? 16 : p.alignment_y, inner);
}

Descriptor operation(const ConvProblem& p, const Descriptor& y) {
  const Operation names = operation_of(p.kind);
  Descriptor made(names.kind);
  made.set(names.x, tensor(x_id, p.dtype, p.g.batch, p.g.channels,
                           along(p.g, &ops::WindowAxis::input), p.alignment_x));
  made.set(names.w, tensor(w_id, p.dtype, p.g.outputs, p.g.channels / p.g.groups,
                           along(p.g, &ops::WindowAxis::window), 16));
  made.set(names.y, y);
  made.set(names.convolution, convolution(p.g));
  made.set(names.alpha, 1.0F);
  made.set(names.beta, 0.0F);
  made.finish();
  return made;
}

// y = x + b, or a function of x alone.
Descriptor pointwise(int mode, const Descriptor& x, const Descriptor* b, const Descriptor& y) {
  Descriptor what(Kind::pointwise);
  what.set(pointwise_mode, Field::pointwise_mode, mode);
  what.set(pointwise_precision, Field::data_type, cudnn::data_type(DType::f32));
  what.finish();
  Descriptor made(Kind::pointwise_operation);
  made.set(operation_pointwise, what);
  made.set(operation_x, x);
  if (b != nullptr) made.set(operation_b, *b);
  made.set(operation_y, y);
  made.finish();
  return made;
}

// The convolution, the addend, the shift, relu: in the order that engines support.
std::vector<Descriptor> operations(const ConvProblem& p) {
  const auto& e = p.epilogue;
  int64_t left = e.there ? 1 + (e.added ? 1 : 0) + (e.relu ? 1 : 0) : 0, next = first_inner_id;
  const auto output = [&] { return image(p, left-- == 0 ? y_id : next++); };
  Descriptor value = output();
  std::vector<Descriptor> all = {operation(p, value)};
  const auto add = [&](int mode, const Descriptor* other) {
    const Descriptor result = output();
    all.push_back(pointwise(mode, value, other, result));
    value = result;
  };
  if (!e.there) return all;
  const Descriptor added = image(p, added_id);
  const Descriptor shift =
      tensor(shift_id, DType::f32, 1, p.g.outputs, Sizes(axes_of(p.g).size(), 1), 16);
  if (e.added) add(mode_add, &added);
  add(mode_add, &shift);
  if (e.relu) add(mode_relu, nullptr);
  return all;
}

std::vector<int> notes_of(const Descriptor& config, int attribute, Field field) {
  const auto engines = config.descriptors(config_engine, Kind::engine, 1);
  ensure(engines.size() == 1, "cudnn: a config without an engine");
  return engines[0].numbers(attribute, field, max_notes);
}

// True if results of this engine are the same from run to run, and exact enough.
bool is_allowed(const Descriptor& config, const ConvProblem& p) {
  const std::vector<int> notes = notes_of(config, engine_numerical_note, Field::numerical_note);
  return std::none_of(notes.begin(), notes.end(), [&](int note) {
    if (note == tensor_core) return p.dtype == DType::f32 && !p.tf32;
    return note == down_convert || note == reduced_reduction || note == fft ||
           note == nondeterministic || (note >= first_winograd && note <= last_winograd);
  });
}

}  // namespace

std::string text_of(const ConvProblem& p) {
  std::string line =
      text("cudnn ", cudnn::version(), " conv ", static_cast<int>(p.kind), ' ', p.dtype,
           p.tf32 ? " tf32 " : " ", p.g.batch, ' ', p.g.channels, ' ', p.g.outputs, ' ', p.g.groups,
           " align ", p.alignment_x, ' ', p.alignment_y);
  for (const ops::WindowAxis& a : axes_of(p.g))
    line += text(" / ", a.input, ' ', a.window, ' ', a.output, ' ', a.stride, ' ', a.dilation, ' ',
                 a.low, ' ', a.high);
  if (p.epilogue.there) line += text(" epilogue ", p.epilogue.added, ' ', p.epilogue.relu);
  return line;
}

CudnnEngines::CudnnEngines(const ConvProblem& problem) : epilogue_(problem.epilogue) {
  Descriptor graph(Kind::operation_graph);
  graph.set_handle(graph_handle);
  graph.set(graph_operations, operations(problem));
  if (!graph.finish()) return;
  for (int mode : {mode_a, mode_fallback}) {
    Descriptor heuristic(Kind::engine_heuristic);
    heuristic.set(heuristic_graph, graph);
    heuristic.set(heuristic_mode, Field::heuristic_mode, mode);
    if (!heuristic.finish()) continue;
    for (Descriptor& config :
         heuristic.descriptors(heuristic_results, Kind::engine_config, 4 * max_engines))
      if (is_allowed(config, problem)) {
        config.hold(graph);
        configs_.push_back(std::move(config));
      }
    if (!configs_.empty()) break;
  }
  if (configs_.size() > max_engines) configs_.erase(configs_.begin() + max_engines, configs_.end());
}

bool CudnnEngines::compiles(size_t engine) const {
  const std::vector<int> notes =
      notes_of(configs_.at(engine), engine_behavior_note, Field::behavior_note);
  return std::find(notes.begin(), notes.end(), runtime_compilation) != notes.end();
}

std::optional<CudnnConv> CudnnEngines::make(size_t engine) const {
  Descriptor plan(Kind::execution_plan);
  plan.set_handle(plan_handle);
  plan.set(plan_config, configs_.at(engine));
  if (!plan.finish()) return std::nullopt;
  const auto workspace = static_cast<size_t>(plan.number(plan_workspace));
  if (workspace > max_workspace) return std::nullopt;
  return CudnnConv(std::move(plan), epilogue_, workspace);
}

void CudnnConv::run(const Addresses& at) const {
  std::vector<int64_t> ids = {x_id, w_id, y_id};
  std::vector<void*> pointers = {at.x, at.w, at.y};
  const auto add = [&](bool there, int64_t id, void* address) {
    if (!there) return;
    ids.push_back(id);
    pointers.push_back(address);
  };
  add(epilogue_.there, shift_id, at.shift);
  add(epilogue_.added, added_id, at.added);
  const Descriptor pack(Kind::variant_pack);
  pack.set(pack_ids, ids);
  pack.set(pack_pointers, Field::address, static_cast<int64_t>(pointers.size()), pointers.data());
  pack.set(pack_workspace, Field::address, 1, &at.workspace);
  if (!pack.finish() || !cudnn::execute(plan_, pack, current_queue().stream()))
    throw BackendError("cuda: cuDNN could not run a convolution");
}

}  // namespace keratin::cuda
