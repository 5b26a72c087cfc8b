#include <algorithm>
#include <bit>

#include "keratin/backend/cuda/matmul/cublas_matmul.h"
#include "keratin/backend/cuda/source_kernel.h"
#include "keratin/base/text.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/norm_operands.h"
#include "keratin/ops/norm_rules.h"
#include "keratin/ops/records.h"

// Softmax, cross-entropy, and normalisations of rows: see kernels/rows.cu and kernels/norm.cu.
namespace keratin::cuda {

namespace {

constexpr int64_t few_warp_rows = 512;  // four for each processor of a large GPU

// How threads share the rows of a node; `values` of a thread fit into its registers.
struct RowLayout {
  int64_t rows, columns, lanes, pack, teams;

  RowLayout(const Node& node, int64_t columns_, int64_t values) : columns(columns_) {
    rows = columns == 0 ? 0 : node.in().shape().count() / columns;
    pack = pack_of(node);
    const int64_t packs = std::max<int64_t>((columns + pack - 1) / pack, 1);
    const auto power = [](int64_t n) {
      return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(n)));
    };
    lanes = std::min<int64_t>(power(packs), 32);
    if (columns > int64_t{32} * 32)
      lanes = std::min<int64_t>(power((columns + values - 1) / values), 1024);
    const bool spread =
        lanes == 32 && rows <= few_warp_rows;  // one warp per block, to use more of the GPU
    teams = lanes > 32 || spread ? 1 : 128 / lanes;
  }

  // Why a thread cannot hold its share of a row in `values` registers.
  std::optional<std::string> refuses(int64_t values) const {
    if (rows == 0 || columns == 0) return "there are no elements";
    const int64_t limit = std::max<int64_t>(lanes * values, int64_t{32} * 32);
    if (columns <= limit) return std::nullopt;
    return text("a row has ", columns, " elements, more than ", limit);
  }
  unsigned blocks(int64_t max_blocks) const {
    return static_cast<unsigned>(std::min<int64_t>((rows + teams - 1) / teams, max_blocks));
  }
  std::string type() const {
    return text("rows::Layout<", columns, ", ", lanes, ", ", pack, ", ", teams, ">");
  }
  unsigned threads() const { return static_cast<unsigned>(lanes * teams); }
  Source::Launch launch(const char* function, unsigned blocks) const {
    return {.function = function,
            .blocks = blocks,
            .threads = static_cast<unsigned>(lanes),
            .thread_rows = static_cast<unsigned>(teams)};
  }

 private:
  // Elements that are moved together, at most 16 bytes: no row may begin in the middle of a pack.
  int64_t pack_of(const Node& node) const {
    if (columns == 0) return 1;
    const DType dtype = node.in().dtype();
    uint32_t alignment = 16;
    const auto take = [&](const Type& type) {
      if (type.dtype == dtype) alignment = std::min(alignment, alignment_of(type));
    };
    for (const Value& input : node.inputs())
      if (input.shape().count() % columns == 0) take(input.type());
    for (const Type& type : node.types())
      if (type.shape.count() % columns == 0) take(type);
    int64_t pack = std::max<int64_t>(alignment / static_cast<int64_t>(size_of(dtype)), 1);
    while (columns % pack != 0) pack /= 2;
    return pack;
  }
};

constexpr int64_t max_values = 32;       // of a row that is kept in registers
constexpr int64_t max_norm_values = 8;   // of x, dy and two sums
constexpr int64_t enough_blocks = 8192;  // the grid strides over the rest
constexpr int64_t max_partials = 264;    // blocks that add up dscale and doffset

int64_t last_size(const Node& node) { return node.in().rank() == 0 ? 0 : node.in().shape().back(); }

RowLayout softmax_layout(const Node& node) { return {node, last_size(node), max_values}; }

// rows::<op><layout>(rows, p0, p1, …)
Source write_rows(const Node& node) {
  const RowLayout l = softmax_layout(node);
  const auto p = arguments<ListOperands>(node);
  std::string arguments;
  for (const auto& list : {p.inputs, p.outputs})
    for (const Argument& argument : list) arguments += text(", ", argument);
  Source source;
  source.name = text(node.name(), " ", l.rows, " x ", l.columns);
  source.code =
      "#include \"keratin/backend/cuda/kernels/rows.cu\"\n" +
      function(node, source, "kernel",
               text("  rows::", node.name(), "<", l.type(), ">(", l.rows, arguments, ");\n"),
               {.max_threads = l.threads()});
  source.launches = {l.launch("kernel", l.blocks(enough_blocks))};
  // A row is read before it is written. Threads without a row read the last one again.
  if (l.rows % l.teams == 0) source.in_place.elementwise = node.in().shape();
  return source;
}

std::optional<std::string> refuses_softmax(const Node& node) {
  if (node.attr<ops::AxisAttrs>().axis != node.in().rank() - 1) return "the axis is not the last";
  return softmax_layout(node).refuses(max_values);
}
std::optional<std::string> refuses_cross_entropy(const Node& node) {
  return softmax_layout(node).refuses(max_values);
}

RowLayout norm_layout(const Node& node) {
  const Shape& shape = node.in().shape();
  const int64_t first = node.attr<ops::LayerNormAttrs>().axes.front();
  return {node, shape.count(first, shape.rank()), max_norm_values};
}

std::optional<std::string> refuses_norm(const Node& node) {
  const Dims& axes = node.attr<ops::LayerNormAttrs>().axes;
  if (axes.back() != node.in().rank() - 1 ||
      axes.back() - axes.front() + 1 != static_cast<int64_t>(axes.size()))
    return "the axes are not the last ones";
  return norm_layout(node).refuses(max_norm_values);
}

// Of layer_norm and, without an offset and a mean, of rms_norm.
Source write_norm(const Node& node, const ops::LayerNormOperands<Argument>& p) {
  const RowLayout l = norm_layout(node);
  const DType dtype = node.in().dtype();
  Source source;
  source.name = text(node.name(), " ", l.rows, " x ", l.columns);
  source.code =
      "#include \"keratin/backend/cuda/kernels/norm.cu\"\n" +
      function(node, source, "kernel",
               text("  rows::norm<", l.type(), ", ", p.mean ? "true" : "false", ", ",
                    storage_type(dtype), ">(", l.rows, ", ",
                    literal(dtype, node.attr<ops::LayerNormAttrs>().epsilon), ", ", p.x, ", ",
                    p.scale, ", ", p.offset, ", ", p.y, ", ", p.mean, ", ", p.rstd, ");\n"),
               {.max_threads = l.threads()});
  source.launches = {l.launch("kernel", l.blocks(enough_blocks))};
  return source;
}

Source write_layer_norm(const Node& node) {
  return write_norm(node, arguments<ops::LayerNormOperands>(node));
}
Source write_rms_norm(const Node& node) {
  const auto p = arguments<ops::RmsNormOperands>(node);
  return write_norm(
      node, {.x = p.x, .scale = p.scale, .offset = {}, .y = p.y, .mean = {}, .rstd = p.rstd});
}

// Of layer_norm and, without a mean and an offset, of rms_norm.
Source write_norm_grad(const Node& node, const ops::LayerNormGradOperands<Argument>& p) {
  const RowLayout l = norm_layout(node);
  const DType dtype = node.in().dtype();
  const bool centred = static_cast<bool>(p.mean);
  const unsigned blocks = l.blocks(max_partials);
  const std::string partial =
      text("reinterpret_cast<", compute_type(dtype), "*>(", scratch_argument(node), ")");
  Source source;
  source.name = text(node.name(), " ", l.rows, " x ", l.columns);
  source.scratch_bytes = size_t{2} * blocks * static_cast<size_t>(l.columns) * 8;
  source.code =
      "#include \"keratin/backend/cuda/kernels/norm.cu\"\n" +
      function(node, source, "kernel",
               text("  rows::norm_grad<", l.type(), ", ", centred ? "true" : "false", ", ",
                    storage_type(dtype), ">(", l.rows, ", ", p.x, ", ", p.mean, ", ", p.rstd, ", ",
                    p.dy, ", ", p.scale, ", ", p.dx, ", ", partial, ");\n"),
               {.max_threads = l.threads()}) +
      function(node, source, "finish",
               text("  rows::norm_grad_finish<", l.columns, ", ", blocks, ", ", storage_type(dtype),
                    ">(", partial, ", ", p.dscale, ", ", p.doffset, ");\n"));
  source.launches = {l.launch("kernel", blocks),
                     {.function = "finish",
                      .blocks = static_cast<unsigned>((l.columns + 31) / 32),
                      .block_rows = centred ? 2U : 1U,
                      .threads = 32,
                      .thread_rows = 8}};
  return source;
}

Source write_layer_norm_grad(const Node& node) {
  return write_norm_grad(node, arguments<ops::LayerNormGradOperands>(node));
}
Source write_rms_norm_grad(const Node& node) {
  const auto p = arguments<ops::RmsNormGradOperands>(node);
  return write_norm_grad(node, {.x = p.x,
                                .mean = {},
                                .rstd = p.rstd,
                                .dy = p.dy,
                                .scale = p.scale,
                                .dx = p.dx,
                                .dscale = p.dscale,
                                .doffset = {}});
}

}  // namespace

extern const CudaKernel softmax_kernel =
    source_kernel<write_rows>({.name = "softmax of rows in registers",
                               .ops = {&ops::softmax_op, &ops::softmax_grad_op,
                                       &ops::log_softmax_op, &ops::log_softmax_grad_op},
                               .refuses = refuses_softmax},
                              {"%x: f32[3,768]", "%y = softmax(%x) {axis = 1}"});
extern const CudaKernel cross_entropy_kernel = source_kernel<write_rows>(
    {.name = "cross-entropy of rows in registers",
     .ops = {&ops::sparse_softmax_cross_entropy_op, &ops::sparse_softmax_cross_entropy_grad_op},
     .refuses = refuses_cross_entropy},
    {"%x: f32[3,10], %labels: i32[3]", "%y, %log_sum = sparse_softmax_cross_entropy(%x, %labels)"});
extern const CudaKernel layer_norm_kernel = source_kernel<write_layer_norm>(
    {.name = "layer_norm of rows in registers",
     .ops = {&ops::layer_norm_op},
     .refuses = refuses_norm},
    {"%x: f32[3,768], %s: f32[768]",
     "%y, %mean, %rstd = layer_norm(%x, %s, %s) {axes = [1], scale = true, offset = true}"});
extern const CudaKernel layer_norm_grad_kernel = source_kernel<write_layer_norm_grad>(
    {.name = "layer_norm_grad of rows in registers",
     .ops = {&ops::layer_norm_grad_op},
     .refuses = refuses_norm},
    {"%x: f32[3,768], %mean: f32[3,1], %rstd: f32[3,1], %dy: f32[3,768]",
     "%y, %dscale, %doffset = layer_norm_grad(%x, %mean, %rstd, %dy) {axes = [1], scale = false, "
     "offset = false}"});
extern const CudaKernel rms_norm_kernel = source_kernel<write_rms_norm>(
    {.name = "rms_norm of rows in registers", .ops = {&ops::rms_norm_op}, .refuses = refuses_norm},
    {"%x: f32[3,768], %s: f32[768]",
     "%y, %rstd = rms_norm(%x, %s) {axes = [1], scale = true, offset = false}"});
extern const CudaKernel rms_norm_grad_kernel = source_kernel<write_rms_norm_grad>(
    {.name = "rms_norm_grad of rows in registers",
     .ops = {&ops::rms_norm_grad_op},
     .refuses = refuses_norm},
    {"%x: f32[3,768], %rstd: f32[3,1], %dy: f32[3,768]",
     "%y, %dscale = rms_norm_grad(%x, %rstd, %dy) {axes = [1], scale = false, offset = false}"});

}  // namespace keratin::cuda
