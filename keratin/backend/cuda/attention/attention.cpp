#include "keratin/backend/cuda/attention/attention.h"

#include <iomanip>
#include <numbers>
#include <sstream>

#include "keratin/backend/cuda/families.h"
#include "keratin/base/text.h"
#include "keratin/ops/attention.h"
#include "keratin/ops/records.h"

namespace keratin::cuda {

namespace {

constexpr int64_t rows = 64, backward_width = 32;  // as in kernels/attention.cu
constexpr unsigned threads = 128;
constexpr int64_t few_rows = 16;
constexpr int64_t few_blocks = 66;  // half of a large GPU
constexpr int64_t shallow = 64;     // heads of which several blocks fit side by side

// Numbers that a kernel is written for.
struct Layout {
  int64_t batch, queries, keys, heads, key_heads, depth;
  bool fits;

  explicit Layout(const Node& node) {
    const Shape &q = node.in(0).shape(), &k = node.in(1).shape(), &v = node.in(2).shape();
    batch = q[0];
    queries = q[1];
    keys = k[1];
    heads = q[2];
    key_heads = k[2];
    depth = q[3];
    const auto& attrs = node.attr<ops::AttentionAttrs>();
    const DType dtype = node.in().dtype();
    // Tiles of more columns would leave no room for sums in registers.
    const int64_t deepest = dtype == DType::f32 ? shallow : 2 * shallow;
    fits = dtype != DType::f64 && !attrs.bias && depth == v[3] && depth > 0 && depth % 16 == 0 &&
           depth <= deepest && batch * heads > 0 && queries > 0;
  }

  // Warps that share the keys of few queries, as many as find room in shared memory.
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

std::string written(const Node& node, const Layout& l) {
  const auto& attrs = node.attr<ops::AttentionAttrs>();
  Dims mask(4, 0);
  if (attrs.mask)
    mask = broadcast_strides(node.in(3).shape(), Shape{l.batch, l.heads, l.queries, l.keys});
  const auto flag = [](bool on) { return on ? "true" : "false"; };
  return text("#include \"keratin/backend/cuda/kernels/attention.cu\"\n",
              "constexpr attention::Layout layout = {", l.queries, ", ", l.keys, ", ", l.heads,
              ", ", l.key_heads, ", ", l.depth, ", ", flag(attrs.causal), ", ", flag(attrs.mask),
              ", ", mask[0], ", ", mask[1], ", ", mask[2], ", ", mask[3], ", ",
              exactly(attrs.scale * std::numbers::log2e), ", ", l.sharers(), "};\n",
              "extern __shared__ float4 memory[];\n");
}

// Blocks that a kernel is run by, and rows of tiles in their shared memory.
struct Grid {
  int64_t blocks;
  unsigned threads;
  int64_t lines;
};

// attention::<name><…>(arguments, memory)
void add_pass(Source& source, const Node& node, const std::string& name, const Grid& grid,
              const std::string& arguments, bool tf32) {
  const DType dtype = node.in().dtype();
  const auto size = static_cast<int64_t>(size_of(dtype)), depth = node.in().shape()[3];
  const unsigned side_by_side = grid.threads > threads ? 2 : 3;
  source.text += function(
      node, source, name,
      text("  attention::", name, "<layout, ", storage_type(dtype), ", ", tf32 ? "false" : "true",
           ">(", arguments, ", reinterpret_cast<", storage_type(dtype), "*>(memory));\n"),
      {.most_threads = grid.threads, .blocks = depth > shallow ? 1 : side_by_side});
  source.passes.push_back(
      {.function = name,
       .blocks = static_cast<unsigned>(grid.blocks),
       .threads = grid.threads,
       .shared_bytes = static_cast<unsigned>(grid.lines * (depth * size + 16))});
}

// (query, key, value[, mask]) to (y, log_sum)
Source forward(const Node& node, bool tf32) {
  const Layout l(node);
  const auto width = static_cast<int64_t>(128 / size_of(node.in().dtype()));
  const int64_t blocks = l.blocks(l.queries, rows);
  const bool few = blocks <= few_blocks && l.keys > width;
  const Grid grid =
      few ? Grid{l.blocks(l.queries, few_rows), 32 * l.sharers(), few_rows + l.sharers() * width}
          : Grid{blocks, threads, rows + 2 * width};
  const size_t out = node.input_count();
  Source source;
  source.text = written(node, l);
  add_pass(source, node, few ? "forward_few" : "forward", grid,
           text("p0, p1, p2, ", out > 3 ? "p3" : "nullptr", ", p", out, ", p", out + 1), tf32);
  return source;
}

// (query, key, value[, mask], y, log_sum, dy) to (dquery, dkey, dvalue)
Source backward(const Node& node, bool tf32) {
  const Layout l(node);
  const size_t y = node.input_count() - 3, out = node.input_count();
  const std::string inputs = text("p0, p1, p2, ", y > 3 ? "p3" : "nullptr"),
                    deltas = text("reinterpret_cast<float*>(p", out + 3, ")");
  Source source;
  source.scratch_bytes = static_cast<size_t>(l.batch * l.heads * l.queries) * 4;
  source.text = written(node, l);
  const int64_t lines = 2 * rows + 2 * backward_width;
  add_pass(source, node, "backward_queries", {l.blocks(l.queries, rows), threads, lines},
           text(inputs, ", p", y, ", p", y + 1, ", p", y + 2, ", p", out, ", ", deltas), tf32);
  add_pass(source, node, "backward_keys", {l.blocks(l.keys, rows), threads, lines},
           text(inputs, ", p", y + 1, ", p", y + 2, ", ", deltas, ", p", out + 1, ", p", out + 2),
           tf32);
  return source;
}

}  // namespace

bool fits_attention(const Node& node) { return Layout(node).fits; }
bool fits_attention_grad(const Node& node) {
  const Layout l(node);
  return l.fits && l.heads == l.key_heads;
}

Source attention_text(const Node& node, bool tf32) {
  const bool back = &node.op() == &ops::scaled_dot_product_attention_grad_op;
  Source source = back ? backward(node, tf32) : forward(node, tf32);
  source.name = text(node.name(), " ", node.in().shape());
  return source;
}

Source make_attention(const Node& node) { return attention_text(node, false); }

}  // namespace keratin::cuda
