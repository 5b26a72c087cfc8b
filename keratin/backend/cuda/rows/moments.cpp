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

// See kernels/moments.cu.
Source write_moments(const Node& node) {
  const auto p = arguments<ops::MomentsOperands>(node);
  const Type& type = node.in().type();
  const MomentsLayout at(type);
  const int64_t chunk = (at.rows + at.chunks - 1) / at.chunks, c = at.columns;
  const std::string partial =
      text("reinterpret_cast<", compute_type(type.dtype), "*>(", scratch_argument(node), ")");
  Source source;
  source.name = node.name();
  source.scratch_bytes = static_cast<size_t>(at.chunks * 2 * c) * size_of(node.type().dtype);
  source.code =
      text("#include \"keratin/backend/cuda/kernels/moments.cu\"\nusing Index = ", index_type(node),
           ";\nconstexpr moments::Layout layout = {", at.rows, ", ", c, ", ", at.pack, ", ",
           at.width, ", ", at.height, ", ", chunk, ", ", at.chunks, "};\n");
  source.code += function(node, source, "kernel",
                          text("  moments::sum_chunk<layout, Index>(", p.x, ", ", partial, ");\n"));
  source.code +=
      function(node, source, "finish",
               text("  moments::finish<layout, ", finishing_lanes, ", ", finishing_columns,
                    ", Index>(", p.x, ", ", partial, ", ", p.mean, ", ", p.variance, ");\n"));
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
