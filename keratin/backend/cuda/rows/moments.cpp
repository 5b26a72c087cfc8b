#include <bit>

#include "keratin/backend/cuda/matmul/cublas_matmul.h"
#include "keratin/backend/cuda/source_kernel.h"
#include "keratin/base/text.h"
#include "keratin/ops/norm_operands.h"
#include "keratin/ops/norm_rules.h"
#include "keratin/ops/records.h"

namespace keratin::cuda {

namespace {

constexpr int64_t wanted_blocks = 792, finishing_columns = 32, finishing_lanes = 32;

// A matrix of rows · columns, read once: a block has `width` threads along a row, each with `pack`
// columns, and `height` rows at a time.
struct MomentsLayout {
  int64_t rows, columns, pack, width, height, blocks, chunks;

  explicit MomentsLayout(const Type& type) {
    columns = type.shape.back();
    rows = columns == 0 ? 0 : type.shape.count() / columns;
    pack = static_cast<int64_t>(16 / size_of(type.dtype));
    if (columns % pack != 0 || alignment_of(type) < 16) pack = 1;
    const int64_t packs = std::max<int64_t>(columns / pack, 1);
    width =
        std::min<int64_t>(static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(packs))), 32);
    height = block_size / width;
    blocks = (packs + width - 1) / width;
    chunks = std::clamp<int64_t>(std::min(wanted_blocks / blocks, rows / (height * 4)), 1,
                                 wanted_blocks);
  }
};

// Sums each element's difference from the first of its column, and the squares of these: numbers
// about as large as the column varies, so that the difference of the two sums keeps its digits.
Source write_moments(const Node& node) {
  const auto p = arguments<ops::MomentsOperands>(node);
  const Type& type = node.in().type();
  const MomentsLayout at(type);
  const std::string_view number = compute_type(type.dtype), stored = storage_type(type.dtype);
  const int64_t chunk = (at.rows + at.chunks - 1) / at.chunks, c = at.columns;
  Source source;
  source.name = node.name();
  source.scratch_bytes = static_cast<size_t>(at.chunks * 2 * c) * size_of(node.type().dtype);
  const std::string parts = text("reinterpret_cast<", number, "*>(", scratch_argument(node), ")");
  source.code = text("using Index = ", index_type(node), ";\nusing Columns = Pack<", stored, ", ",
                     at.pack, ">;\n");
  source.code += function(
      node, source, "kernel",
      text("  __shared__ ", number, " sums[", at.height, "][", at.width * at.pack, "], squares[",
           at.height, "][", at.width * at.pack, "];\n",
           "  const Index column = (blockIdx.x * Index(", at.width, ") + threadIdx.x) * Index(",
           at.pack, "), begin = blockIdx.y * Index(", chunk, "), end = min(begin + Index(", chunk,
           "), Index(", at.rows, "));\n  ", number, " first[", at.pack, "], sum[", at.pack,
           "] = {}, square[", at.pack, "] = {};\n  if (column < Index(", at.rows > 0 ? c : 0,
           ")) {\n    const Columns top = *reinterpret_cast<const Columns*>(", p.x, " + column);\n",
           "    for (int k = 0; k < ", at.pack, "; ++k) first[k] = load(top.items[k]);\n",
           "#pragma unroll 4\n    for (Index r = begin + threadIdx.y; r < end; r += ", at.height,
           ") {\n      const Columns row = *reinterpret_cast<const Columns*>(", p.x,
           " + r * Index(", c, ") + column);\n      for (int k = 0; k < ", at.pack,
           "; ++k) {\n        const ", number,
           " off = load(row.items[k]) - first[k];\n        sum[k] += off;\n",
           "        square[k] = fma(off, off, square[k]);\n      }\n    }\n  }\n",
           "  for (int k = 0; k < ", at.pack, "; ++k) {\n    sums[threadIdx.y][threadIdx.x * ",
           at.pack, " + k] = sum[k];\n    squares[threadIdx.y][threadIdx.x * ", at.pack,
           " + k] = square[k];\n  }\n  __syncthreads();\n", "  const int own = threadIdx.y * ",
           at.width, " + threadIdx.x, into = blockIdx.x * ", at.width * at.pack,
           " + own;\n  if (own < ", at.width * at.pack, " && into < ", c, ") {\n    ", number,
           " s = 0, q = 0;\n    for (int y = 0; y < ", at.height,
           "; ++y) s += sums[y][own], q += squares[y][own];\n    ", parts, "[blockIdx.y * Index(",
           2 * c, ") + into] = s;\n    ", parts, "[blockIdx.y * Index(", 2 * c, ") + Index(", c,
           ") + into] = q;\n  }\n"));
  const std::string total =
      text("combine<scalar::Add, ", finishing_lanes, ", ", finishing_columns, ">(");
  source.code += function(
      node, source, "finish",
      text("  __shared__ ", number, " shared[", finishing_columns * finishing_lanes,
           "];\n  const Index column = blockIdx.x * Index(", finishing_columns,
           ") + threadIdx.x;\n  ", number, " s = 0, q = 0;\n  if (column < Index(", c,
           "))\n#pragma unroll 8\n    for (Index part = threadIdx.y; part < ", at.chunks,
           "; part += ", finishing_lanes, ") {\n      s += ", parts, "[part * Index(", 2 * c,
           ") + column];\n      q += ", parts, "[part * Index(", 2 * c, ") + Index(", c,
           ") + column];\n    }\n  s = ", total,
           "s, shared, threadIdx.y, threadIdx.x);\n  q = ", total,
           "q, shared, threadIdx.y, threadIdx.x);\n  if (threadIdx.y > 0 || column >= Index(", c,
           ")) return;\n  const ", number, " off = s / ", number, "(", at.rows, "), spread = q / ",
           number, "(", at.rows, ") - off * off;\n  if (", p.mean, " != nullptr) ", p.mean,
           "[column] = ", at.rows > 0 ? text("load(", p.x, "[column]) + ") : std::string(),
           "off;\n", "  if (", p.variance, " != nullptr) ", p.variance, "[column] = spread < 0 ? ",
           number, "(0) : spread;\n"));
  if (c == 0) return source;
  source.launches = {
      {"kernel", static_cast<unsigned>(at.blocks), static_cast<unsigned>(at.chunks),
       static_cast<unsigned>(at.width), static_cast<unsigned>(at.height)},
      {"finish", static_cast<unsigned>((c + finishing_columns - 1) / finishing_columns), 1,
       static_cast<unsigned>(finishing_columns), static_cast<unsigned>(finishing_lanes)}};
  return source;
}

}  // namespace

extern const CudaKernel moments_kernel =
    source_kernel<write_moments>({.name = "moments", .ops = {&ops::moments_op}},
                                 {"%x: bf16[9,5,64]", "%y, %variance = moments(%x)"});

}  // namespace keratin::cuda
