#include <map>

#include "keratin/backend/cuda/loops/pointwise.h"
#include "keratin/backend/cuda/matmul/fused_matmul.h"
#include "keratin/base/text.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/fused.h"
#include "keratin/ops/records.h"

// Matmuls that are too small for the tiles of libraries to fill a GPU, such as a few words or
// samples times large weights. Any pointwise ops after the matmul are part of its kernel.
namespace keratin::cuda {

namespace {

constexpr int64_t step = 32, stages = 4, side = 32;  // as in kernels/matmul.cu
constexpr int64_t pack_size = 4;                     // numbers in 16 bytes

// The numbers of one stage; see Stage in kernels/matmul.cu.
int64_t size_of_stage(int64_t across, bool along) {
  return along ? across * (step + 4) : step * (across + 8);
}

int64_t tiles_of(const MatmulShape& s, const Tiling& tiling) {
  return ((s.rows + tiling.rows - 1) / tiling.rows) *
         ((s.columns + tiling.columns - 1) / tiling.columns);
}

// The ops of a fused node after its matmul, whose element i, in column c, is the expression
// `matmul`: an expression that uses `statements`.
std::string write_epilogue(const Node& node, const std::string& matmul, std::string& statements) {
  if (&node.op() != &ops::fused_op) return matmul;
  const Block& region = node.region();
  std::map<std::pair<const Node*, size_t>, std::string> names;
  const Shape& shape = node.type().shape;
  for (size_t p = 0; p < region.parameters().size(); ++p) {
    const Value value = region.parameter_values()[p];
    const char* at = value.shape().count() == 1 ? "0" : value.shape() == shape ? "i" : "c";
    names[{&value.node(), value.index()}] = text("load(p", p, "[", at, "])");
  }
  const auto name_of = [&](const Value& value) { return names.at({&value.node(), value.index()}); };
  size_t count = 0;
  for (const auto& inner : region.nodes()) {
    const auto in = [&](size_t i) { return name_of(inner->in(i)); };
    std::string& name = names[{inner.get(), 0}];
    if (&inner->op() == &ops::matmul_op) {
      name = matmul;
    } else if (&inner->op() == &ops::constant_op) {
      name = literal_of(inner->attr<ops::ConstantAttrs>().value);
    } else if (inner->op().scalar) {  // the rest is a sum, which another kernel computes
      name = text("v", count++);
      statements += text("    const ", compute_type(inner->type().dtype), " ", name, " = ",
                         expression_of(*inner, in), ";\n");
    }
  }
  return name_of(region.results[0]);
}

}  // namespace

bool fits_tiles(const MatmulJob& job, DType dtype) {
  const MatmulShape& s = job.shape;
  constexpr int64_t max_numbers = int64_t{1} << 19, min_work = int64_t{1} << 22;
  const bool in_packs = (s.transpose_a ? s.rows : s.depth) % pack_size == 0 &&
                        (s.transpose_b ? s.depth : s.columns) % pack_size == 0 &&
                        s.alignment_a >= 16 && s.alignment_b >= 16;
  return dtype == DType::f32 && s.batch == 1 && in_packs && s.depth >= 2 * step &&
         s.columns >= step && s.rows * s.columns <= max_numbers &&
         s.rows * s.columns * s.depth >= min_work;
}

std::vector<Tiling> tilings_of(const MatmulJob& job, bool clusters) {
  const MatmulShape& s = job.shape;
  constexpr int64_t max_splits = 8, min_steps = 3;  // of a split
  std::vector<Tiling> all;
  for (const int64_t blocks : {96, 192}) {  // about one for each processor of a large GPU, or two
    Tiling tiling{.rows = 64, .columns = 64};
    while (clusters && tiles_of(s, tiling) * tiling.splits < blocks && tiling.splits < max_splits &&
           s.depth >= 2 * min_steps * step * tiling.splits)
      tiling.splits *= 2;
    if (all.empty() || all.back() != tiling) all.push_back(tiling);
  }
  return all;
}

std::string name_of(const Tiling& tiling) {
  return text("tiles ", tiling.rows, " x ", tiling.columns, " by ", tiling.splits);
}

Source write_tiled_matmul(const Node& node, const MatmulJob& job, const Tiling& tiling) {
  const MatmulShape& s = job.shape;
  const auto flag = [](bool on) { return on ? "true" : "false"; };
  Source source;
  source.name = text(name_of(tiling), ", matmul ", s.rows, " x ", s.depth, " x ", s.columns);
  const auto threads = static_cast<unsigned>(tiling.rows / side * (tiling.columns / side) * 32);
  std::string statements;
  const std::string result = write_epilogue(node, "total", statements);
  source.code = text("#include \"keratin/backend/cuda/kernels/matmul.cu\"\nusing Index = int;\n",
                     "constexpr matmul::Sizes sizes = {", s.rows, ", ", s.columns, ", ", s.depth,
                     ", ", flag(s.transpose_a), ", ", flag(s.transpose_b),
                     "};\nconstexpr matmul::Tiling tiling = {", tiling.rows, ", ", tiling.columns,
                     ", ", tiling.splits, "};\nextern __shared__ float4 memory[];\n");
  source.code += function(
      node, source, "kernel",
      text("  const matmul::Matmul<sizes, tiling> matmul{",
           "reinterpret_cast<float*>(memory)};\n  matmul.run(p", job.a, ", p", job.b,
           ", [&](int r, int c, float total) {\n    const int i = r * ", s.columns, " + c;\n",
           statements, "    p", node.input_count(), "[i] = ", result, ";\n  });\n"),
      {.max_threads = threads, .cluster = static_cast<unsigned>(tiling.splits)});
  source.launches = {
      {.function = "kernel",
       .blocks = static_cast<unsigned>(tiles_of(s, tiling) * tiling.splits),
       .threads = threads,
       .shared_bytes = static_cast<unsigned>(4 * stages *
                                             (size_of_stage(tiling.rows, !s.transpose_a) +
                                              size_of_stage(tiling.columns, s.transpose_b)))}};
  return source;
}

// The epilogue that the library cannot compute, as a loop.
Source write_loop_after(const Node& node) {
  const int64_t columns = node.type().shape.back();
  std::string statements;
  const std::string out = text("p", node.input_count(), "[i]"),
                    result = write_epilogue(node, text("load(", out, ")"), statements);
  Source source = element_kernel(
      node, text("    const Index c = i % Index(", columns, ");\n", statements, "    ", out, " = ",
                 storage_type(node.type().dtype), "(", result, ");\n"));
  source.name = "epilogue of a matmul";
  return source;
}

}  // namespace keratin::cuda
