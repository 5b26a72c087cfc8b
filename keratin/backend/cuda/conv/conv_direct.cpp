#include <algorithm>

#include "keratin/backend/cuda/conv/conv.h"
#include "keratin/backend/cuda/conv/window_source.h"
#include "keratin/backend/cuda/source_kernel.h"
#include "keratin/base/text.h"

// Convolutions over few numbers per window, straight from their definition: the tiles of a
// library's matmul would be nearly empty.
namespace keratin::cuda {

namespace {

constexpr int64_t max_taps = 32;                     // numbers under a window
constexpr int64_t max_filter = 48 << 10;             // bytes of shared memory that every chip has
constexpr int64_t lane_outputs = 32, lane_rows = 8;  // threads of a block that sums

struct Direct {
  const ConvJob& job;
  const ops::ConvGeometry g = ops::conv_geometry(job.conv);
  const int64_t window = window_of(g.axes), positions = outputs_of(g.axes);
  const std::string_view storage = storage_type(job.dtype()), compute = compute_type(job.dtype());

  int64_t taps() const { return window * g.channels; }
  int64_t elements() const { return taps() * g.outputs; }  // of the filter
  std::string windows() const {
    return text(define_windows(g.axes, {.channels = g.channels, .outputs = g.outputs}),
                "using Index = ", index_type(job.node), ";\n");
  }
  // The input of channel d under element k of the window, from what `find_input` found.
  std::string input() const {
    return text("load(p", job.x, "[(n * Index(", inputs_of(g.axes), ") + x) * Index(", g.channels,
                ") + d])");
  }
};

// A thread computes as many channels of one position as 16 bytes hold. The filter, times the scale
// of an epilogue, is in shared memory.
Source write_forward(const Direct& c) {
  const ConvEpilogue epilogue = c.job.epilogue.value_or(ConvEpilogue{});
  const auto together = static_cast<int64_t>(16 / size_of(c.job.dtype()));
  const int64_t width = c.g.outputs % together == 0 ? together : 1;
  const int64_t groups = c.g.outputs / width, count = c.g.batch * c.positions * groups;
  const std::string scale = epilogue.scale.empty() ? "" : " * " + epilogue.scale;
  std::string value = "total[e]";
  if (!epilogue.shift.empty()) value += " + " + epilogue.shift;
  if (epilogue.added) value += text(" + load(p", *epilogue.added, "[at + e])");
  if (epilogue.relu) value = text("scalar::Relu{}(", value, ")");
  Source source;
  source.name = c.job.node.name();
  source.code =
      c.windows() +
      function(
          c.job.node, source, "kernel",
          text("  __shared__ ", c.compute, " filter[", c.elements(),
               "];\n  for (int i = threadIdx.x; i < ", c.elements(), "; i += ", block_size,
               ") {\n    const Index o = i % Index(", c.g.outputs, ");\n    filter[i] = load(p",
               c.job.w, "[i])", scale, ";\n  }\n  __syncthreads();\n",
               "  for (Index i = blockIdx.x * Index(", block_size, ") + threadIdx.x; i < Index(",
               count, "); i += gridDim.x * Index(", block_size,
               ")) {\n    const Index first = i % Index(", groups, ") * Index(", width,
               "), place = i / Index(", groups, "), o = place % Index(", c.positions,
               "), n = place / Index(", c.positions, "), at = i * Index(", width, ");\n    ",
               c.compute, " total[", width, "] = {};\n#pragma unroll\n    for (Index k = 0; k < ",
               c.window, "; ++k) {\n", find_input,
               "      if (!inside) continue;\n#pragma unroll\n      for (int d = 0; d < ",
               c.g.channels, "; ++d) {\n        const ", c.compute, " under = ", c.input(),
               ";\n#pragma unroll\n        for (int e = 0; e < ", width,
               "; ++e) total[e] = fma(under, filter[(k * ", c.g.channels, " + d) * ", c.g.outputs,
               " + first + e], total[e]);\n      }\n    }\n    Pack<", c.storage, ", ", width,
               "> y;\n#pragma unroll\n    for (int e = 0; e < ", width,
               "; ++e) {\n      const Index o = first + e;\n      y.items[e] = ", c.storage, "(",
               value, ");\n    }\n    *reinterpret_cast<Pack<", c.storage, ", ", width, ">*>(p",
               c.job.y, " + at) = y;\n  }\n"));
  constexpr int64_t max_blocks = 2048;  // each begins by reading the filter
  source.launches = {
      {"kernel", static_cast<unsigned>(std::min<int64_t>(blocks_for(count), max_blocks))}};
  return source;
}

// A block has a chunk of the positions and 32 output channels, a thread the whole window for one of
// these channels; a second kernel adds up the blocks' sums, in order.
Source write_grad_filter(const Direct& c) {
  const int64_t all = c.g.batch * c.positions, taps = c.taps();
  const int64_t blocks = std::clamp<int64_t>(all / (lane_rows * 8), 1, 1024);
  const int64_t chunk = (all + blocks - 1) / blocks;
  const int64_t tiles = (c.g.outputs + lane_outputs - 1) / lane_outputs;
  const std::string parts = text("reinterpret_cast<", c.compute, "*>(p", c.job.scratch(), ")");
  Source source;
  source.name = c.job.node.name();
  source.scratch_bytes = static_cast<size_t>(blocks * c.elements()) * 8;
  source.code =
      c.windows() +
      function(
          c.job.node, source, "kernel",
          text("  const Index m = blockIdx.y * Index(", lane_outputs, ") + threadIdx.x;\n",
               "  const Index end = min((blockIdx.x + 1) * Index(", chunk, "), Index(", all,
               "));\n  __shared__ ", c.compute, " shared[", lane_outputs * lane_rows, "];\n  ",
               c.compute, " total[", taps, "] = {};\n  if (m < Index(", c.g.outputs,
               ")) {\n#pragma unroll 4\n  for (Index at = blockIdx.x * Index(", chunk,
               ") + threadIdx.y; at < end; at += ", lane_rows,
               ") {\n    const Index o = at % Index(", c.positions, "), n = at / Index(",
               c.positions, ");\n    const ", c.compute, " dy = load(p", c.job.y, "[at * Index(",
               c.g.outputs, ") + m]);\n#pragma unroll\n    for (Index k = 0; k < ", c.window,
               "; ++k) {\n", find_input,
               "      if (!inside) continue;\n#pragma unroll\n      for (int d = 0; d < ",
               c.g.channels, "; ++d) total[k * ", c.g.channels, " + d] = fma(", c.input(),
               ", dy, total[k * ", c.g.channels, " + d]);\n    }\n  }\n  }\n",
               "#pragma unroll\n  for (int t = 0; t < ", taps, "; ++t) {\n    const ", c.compute,
               " sum = combine<scalar::Add, ", lane_rows, ", ", lane_outputs,
               ">(total[t], shared, threadIdx.y, threadIdx.x);\n    if (threadIdx.y == 0 && m < ",
               "Index(", c.g.outputs, ")) ", parts, "[(blockIdx.x * Index(", taps,
               ") + t) * Index(", c.g.outputs, ") + m] = sum;\n  }\n"),
          {.max_threads = lane_outputs * lane_rows}) +
      function(
          c.job.node, source, "finish",
          text("  const Index i = blockIdx.x * Index(", lane_outputs,
               ") + threadIdx.x;\n  __shared__ ", c.compute, " shared[",
               lane_outputs * lane_outputs, "];\n  ", c.compute, " total = 0;\n  if (i < Index(",
               c.elements(), ")) {\n#pragma unroll 8\n    for (Index b = threadIdx.y; b < ", blocks,
               "; b += ", lane_outputs, ") total += ", parts, "[b * Index(", c.elements(),
               ") + i];\n  }\n  total = combine<scalar::Add, ", lane_outputs, ", ", lane_outputs,
               ">(total, shared, threadIdx.y, threadIdx.x);\n  if (threadIdx.y == 0 && i < ",
               "Index(", c.elements(), ")) p", c.job.w, "[i] = ", c.storage, "(total);\n"));
  source.launches = {
      {"kernel", static_cast<unsigned>(blocks), static_cast<unsigned>(tiles), lane_outputs,
       lane_rows},
      {"finish", static_cast<unsigned>((c.elements() + lane_outputs - 1) / lane_outputs), 1,
       lane_outputs, lane_outputs}};
  return source;
}

}  // namespace

bool fits_direct(const ConvJob& job) {
  const Direct c{job};
  if (c.g.groups != 1 || c.taps() > max_taps || job.dtype() == DType::f64) return false;
  if (job.kind == ConvKind::grad_filter) return true;
  return job.kind == ConvKind::forward && c.elements() * 4 <= max_filter;
}

Source write_direct_conv(const ConvJob& job) {
  const Direct c{job};
  return job.kind == ConvKind::forward ? write_forward(c) : write_grad_filter(c);
}

}  // namespace keratin::cuda
