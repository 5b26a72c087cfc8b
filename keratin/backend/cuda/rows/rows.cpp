#include <algorithm>
#include <bit>

#include "keratin/backend/cuda/families.h"
#include "keratin/backend/cuda/matmul/cublas_matmul.h"
#include "keratin/base/text.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/norm.h"
#include "keratin/ops/records.h"

// Softmax, the losses made of it, and normalisations of rows: see kernels/rows.cu and norm.h.
namespace keratin::cuda {

namespace {

constexpr int64_t few_rows = 512;  // four for each processor of a large GPU

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
    if (columns > 32 * 32) lanes = std::min<int64_t>(power((columns + values - 1) / values), 1024);
    const bool spread = lanes == 32 && rows <= few_rows;  // over the GPU, a warp to a block
    teams = lanes > 32 || spread ? 1 : 128 / lanes;
  }

  bool fits(int64_t values) const {
    return rows > 0 && columns > 0 && columns <= std::max<int64_t>(lanes * values, 32 * 32);
  }
  unsigned blocks(int64_t most) const {
    return static_cast<unsigned>(std::min<int64_t>((rows + teams - 1) / teams, most));
  }
  std::string type() const {
    return text("rows::Layout<", columns, ", ", lanes, ", ", pack, ", ", teams, ">");
  }
  unsigned threads() const { return static_cast<unsigned>(lanes * teams); }
  Source::Pass pass(const char* function, unsigned blocks) const {
    return {.function = function,
            .blocks = blocks,
            .threads = static_cast<unsigned>(lanes),
            .thread_rows = static_cast<unsigned>(teams)};
  }

 private:
  // Elements that are moved together, 16 bytes at most: no row may begin in the middle of a pack.
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
    int64_t most = std::max<int64_t>(alignment / static_cast<int64_t>(size_of(dtype)), 1);
    while (columns % most != 0) most /= 2;
    return most;
  }
};

constexpr int64_t most_values = 32;      // of a row that is read once
constexpr int64_t most_norm_values = 8;  // of x, dy and two sums
constexpr int64_t enough_blocks = 8192;  // the grid strides over the rest
constexpr int64_t most_partials = 264;   // blocks that add up what all rows share

int64_t last_size(const Node& node) { return node.in().rank() == 0 ? 0 : node.in().shape().back(); }

RowLayout softmax_layout(const Node& node) { return {node, last_size(node), most_values}; }

}  // namespace

// rows::<name><layout>(rows, p0, p1, …)
Source make_rows(const Node& node) {
  const RowLayout l = softmax_layout(node);
  std::string arguments;
  for (size_t i = 0; i < node.input_count() + node.output_count(); ++i) arguments += text(", p", i);
  Source source;
  source.name = text(node.name(), " ", l.rows, " x ", l.columns);
  source.text =
      "#include \"keratin/backend/cuda/kernels/rows.cu\"\n" +
      function(node, source, "kernel",
               text("  rows::", node.name(), "<", l.type(), ">(", l.rows, arguments, ");\n"),
               {.most_threads = l.threads()});
  source.passes = {l.pass("kernel", l.blocks(enough_blocks))};
  // A row is read before it is written, and where rows are missing the last one once more.
  if (l.rows % l.teams == 0) source.in_place.elementwise = node.in().shape();
  return source;
}

namespace {

RowLayout norm_layout(const Node& node) {
  const Shape& shape = node.in().shape();
  const int64_t first = node.attr<ops::LayerNormAttrs>().axes.front();
  return {node, shape.count(first, shape.rank()), most_norm_values};
}

struct NormNames {
  std::string scale = "nullptr", offset = "nullptr";
  NormNames(const Node& node, size_t before) {
    const auto& attrs = node.attr<ops::LayerNormAttrs>();
    if (attrs.scale) scale = text("p", before++);
    if (attrs.offset) offset = text("p", before);
  }
};

// (x[, scale][, offset]) to (y[, mean], rstd)
Source norm(const Node& node, bool centred) {
  const RowLayout l = norm_layout(node);
  const NormNames names(node, 1);
  const DType dtype = node.in().dtype();
  const size_t out = node.input_count();
  Source source;
  source.name = text(node.name(), " ", l.rows, " x ", l.columns);
  source.text = "#include \"keratin/backend/cuda/kernels/norm.cu\"\n" +
                function(node, source, "kernel",
                         text("  rows::norm<", l.type(), ", ", centred ? "true" : "false", ", ",
                              storage_type(dtype), ">(", l.rows, ", ",
                              literal(dtype, node.attr<ops::LayerNormAttrs>().epsilon), ", p0, ",
                              names.scale, ", ", names.offset, ", p", out, ", ",
                              centred ? text("p", out + 1) : std::string("nullptr"), ", p",
                              out + (centred ? 2 : 1), ");\n"),
                         {.most_threads = l.threads()});
  source.passes = {l.pass("kernel", l.blocks(enough_blocks))};
  return source;
}

// (x[, mean], rstd, dy[, scale]) to (dx, dscale[, doffset])
Source norm_grad(const Node& node, bool centred) {
  const RowLayout l = norm_layout(node);
  const size_t rstd = centred ? 2 : 1, out = node.input_count();
  const NormNames names(node, rstd + 2);
  const DType dtype = node.in().dtype();
  const unsigned blocks = l.blocks(most_partials);
  const std::string partial =
      text("reinterpret_cast<", compute_type(dtype), "*>(p", out + node.output_count(), ")");
  Source source;
  source.name = text(node.name(), " ", l.rows, " x ", l.columns);
  source.scratch_bytes = size_t{2} * blocks * static_cast<size_t>(l.columns) * 8;
  source.text =
      "#include \"keratin/backend/cuda/kernels/norm.cu\"\n" +
      function(node, source, "kernel",
               text("  rows::norm_grad<", l.type(), ", ", centred ? "true" : "false", ", ",
                    storage_type(dtype), ">(", l.rows, ", p0, ", centred ? "p1" : "nullptr", ", p",
                    rstd, ", p", rstd + 1, ", ", names.scale, ", p", out, ", ", partial, ");\n"),
               {.most_threads = l.threads()}) +
      function(node, source, "finish",
               text("  rows::norm_grad_finish<", l.columns, ", ", blocks, ", ", storage_type(dtype),
                    ">(", partial, ", p", out + 1, ", ",
                    centred ? text("p", out + 2) : std::string("nullptr"), ");\n"));
  source.passes = {l.pass("kernel", blocks),
                   {.function = "finish",
                    .blocks = static_cast<unsigned>((l.columns + 31) / 32),
                    .block_rows = centred ? 2U : 1U,
                    .threads = 32,
                    .thread_rows = 8}};
  return source;
}

}  // namespace

bool fits_softmax(const Node& node) {
  return node.attr<ops::AxisAttrs>().axis == node.in().rank() - 1 &&
         softmax_layout(node).fits(most_values);
}
bool fits_cross_entropy(const Node& node) { return softmax_layout(node).fits(most_values); }
bool fits_norm(const Node& node) {
  const Dims& axes = node.attr<ops::LayerNormAttrs>().axes;
  const bool last = axes.back() == node.in().rank() - 1 &&
                    axes.back() - axes.front() + 1 == static_cast<int64_t>(axes.size());
  return last && norm_layout(node).fits(most_norm_values);
}

Source make_layer_norm(const Node& node) { return norm(node, true); }
Source make_layer_norm_grad(const Node& node) { return norm_grad(node, true); }
Source make_rms_norm(const Node& node) { return norm(node, false); }
Source make_rms_norm_grad(const Node& node) { return norm_grad(node, false); }

}  // namespace keratin::cuda
