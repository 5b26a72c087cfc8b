#include <iomanip>
#include <numbers>
#include <sstream>

#include "keratin/backend/cuda/source_kernel.h"
#include "keratin/base/text.h"
#include "keratin/ops/attention_operands.h"
#include "keratin/ops/records.h"

namespace keratin::cuda {

namespace {

constexpr int64_t rows = 64, backward_width = 32;  // as in kernels/attention.cu
constexpr unsigned threads = 128;
constexpr int64_t few_query_rows = 16;
constexpr int64_t few_blocks = 66;  // half of a large GPU
constexpr int64_t shallow = 64;     // heads of which several blocks fit side by side

// The numbers that a kernel is written for.
struct AttentionLayout {
  int64_t batch, queries, keys, heads, key_heads, depth;

  explicit AttentionLayout(const Node& node) {
    const Shape &q = node.in(0).shape(), &k = node.in(1).shape();
    batch = q[0];
    queries = q[1];
    keys = k[1];
    heads = q[2];
    key_heads = k[2];
    depth = q[3];
  }

  // Warps that divide the keys of few queries: as many as shared memory has room for.
  unsigned sharers() const { return depth > shallow ? 4 : 8; }
  // Of so many queries or keys each.
  int64_t blocks(int64_t count, int64_t each) const {
    return (count + each - 1) / each * batch * heads;
  }
};

std::string exactly(double value) {
  std::ostringstream out;
  out << std::hexfloat << static_cast<float>(value) << 'f';
  return out.str();
}

std::string write_layout(const Node& node, const AttentionLayout& l, const Value& given_mask) {
  const auto& attrs = node.attr<ops::AttentionAttrs>();
  Dims mask(4, 0);
  if (attrs.mask)
    mask = broadcast_strides(given_mask.shape(), Shape{l.batch, l.heads, l.queries, l.keys});
  const auto flag = [](bool on) { return on ? "true" : "false"; };
  return text("#include \"keratin/backend/cuda/kernels/attention.cu\"\n",
              "constexpr attention::Layout layout = {", l.queries, ", ", l.keys, ", ", l.heads,
              ", ", l.key_heads, ", ", l.depth, ", ", flag(attrs.causal), ", ", flag(attrs.mask),
              ", ", mask[0], ", ", mask[1], ", ", mask[2], ", ", mask[3], ", ",
              exactly(attrs.scale * std::numbers::log2e), ", ", l.sharers(), "};\n",
              "extern __shared__ float4 memory[];\n");
}

// The blocks of a launch, and the rows of tiles in their shared memory.
struct Grid {
  int64_t blocks;
  unsigned threads;
  int64_t lines;
};

// attention::<name><…>(arguments, memory)
void add_launch(Source& source, const Node& node, const std::string& name, const Grid& grid,
                const std::string& arguments, bool tf32) {
  const DType dtype = node.in().dtype();
  const auto size = static_cast<int64_t>(size_of(dtype)), depth = node.in().shape()[3];
  const unsigned side_by_side = grid.threads > threads ? 2 : 3;
  source.code += function(
      node, source, name,
      text("  attention::", name, "<layout, ", storage_type(dtype), ", ", tf32 ? "false" : "true",
           ">(", arguments, ", reinterpret_cast<", storage_type(dtype), "*>(memory));\n"),
      {.max_threads = grid.threads, .blocks = depth > shallow ? 1 : side_by_side});
  source.launches.push_back(
      {.function = name,
       .blocks = static_cast<unsigned>(grid.blocks),
       .threads = grid.threads,
       .shared_bytes = static_cast<unsigned>(grid.lines * (depth * size + 16))});
}

Source write_attention(const Node& node, const KernelOptions& options) {
  const AttentionLayout l(node);
  const auto p = arguments<ops::AttentionOperands>(node);
  const auto width = static_cast<int64_t>(128 / size_of(node.in().dtype()));
  const int64_t blocks = l.blocks(l.queries, rows);
  const bool few = blocks <= few_blocks && l.keys > width;
  const Grid grid = few ? Grid{l.blocks(l.queries, few_query_rows), 32 * l.sharers(),
                               few_query_rows + l.sharers() * width}
                        : Grid{blocks, threads, rows + 2 * width};
  Source source;
  source.name = text(node.name(), " ", node.in().shape());
  source.code = write_layout(node, l, operands<ops::AttentionOperands>(node).mask);
  add_launch(source, node, few ? "forward_few" : "forward", grid,
             text(p.query, ", ", p.key, ", ", p.value, ", ", p.mask, ", ", p.y, ", ", p.log_sum),
             options.tf32);
  return source;
}

Source write_attention_grad(const Node& node, const KernelOptions& options) {
  const AttentionLayout l(node);
  const auto p = arguments<ops::AttentionGradOperands>(node);
  const std::string inputs = text(p.query, ", ", p.key, ", ", p.value, ", ", p.mask),
                    deltas = text("reinterpret_cast<float*>(", scratch_argument(node), ")");
  Source source;
  source.name = text(node.name(), " ", node.in().shape());
  source.scratch_bytes = static_cast<size_t>(l.batch * l.heads * l.queries) * 4;
  source.code = write_layout(node, l, operands<ops::AttentionGradOperands>(node).mask);
  const int64_t lines = 2 * rows + 2 * backward_width;
  add_launch(source, node, "backward_queries", {l.blocks(l.queries, rows), threads, lines},
             text(inputs, ", ", p.y, ", ", p.log_sum, ", ", p.dy, ", ", p.dquery, ", ", deltas),
             options.tf32);
  add_launch(source, node, "backward_keys", {l.blocks(l.keys, rows), threads, lines},
             text(inputs, ", ", p.log_sum, ", ", p.dy, ", ", deltas, ", ", p.dkey, ", ", p.dvalue),
             options.tf32);
  return source;
}

std::optional<std::string> refuses_attention(const Node& node) {
  const AttentionLayout l(node);
  const DType dtype = node.in().dtype();
  if (dtype == DType::f64) return "f64: tensor cores add up in f32";
  if (node.attr<ops::AttentionAttrs>().bias) return "there is a bias";
  if (l.depth != node.in(2).shape()[3])
    return "heads of values have another size than those of keys";
  // More columns in a tile would leave no registers for the sums.
  const int64_t deepest = dtype == DType::f32 ? shallow : 2 * shallow;
  if (l.depth == 0 || l.depth % 16 != 0 || l.depth > deepest)
    return text("heads have ", l.depth, " elements, not a multiple of 16 up to ", deepest);
  if (l.batch * l.heads == 0 || l.queries == 0) return "there are no queries";
  return std::nullopt;
}
std::optional<std::string> refuses_attention_grad(const Node& node) {
  const AttentionLayout l(node);
  if (l.heads != l.key_heads)
    return text(l.heads, " heads of queries share ", l.key_heads, " heads of keys");
  return refuses_attention(node);
}

}  // namespace

extern const CudaKernel attention_kernel = source_kernel<write_attention>(
    {.name = "attention by tiles",
     .ops = {&ops::scaled_dot_product_attention_op},
     .refuses = refuses_attention},
    {"%q: bf16[2,70,3,32]",
     "%y, %log_sum = scaled_dot_product_attention(%q, %q, %q) {causal = true}"});
extern const CudaKernel attention_grad_kernel = source_kernel<write_attention_grad>(
    {.name = "gradient of attention by tiles",
     .ops = {&ops::scaled_dot_product_attention_grad_op},
     .refuses = refuses_attention_grad},
    {"%q: bf16[2,70,3,32], %sum: f32[2,3,70]",
     "%y, %dk, %dv = scaled_dot_product_attention_grad(%q, %q, %q, %q, %sum, %q) {causal = true}"});

}  // namespace keratin::cuda
