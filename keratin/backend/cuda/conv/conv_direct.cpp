#include <algorithm>

#include "keratin/backend/cuda/conv/conv.h"
#include "keratin/backend/cuda/conv/window_source.h"
#include "keratin/backend/cuda/source_kernel.h"
#include "keratin/base/text.h"

// Convolutions over few numbers per window, by kernels/conv_direct.cu: the tiles of a library's
// matmul would be nearly empty.
namespace keratin::cuda {

namespace {

constexpr int64_t max_taps = 32;                      // numbers under a window
constexpr int64_t max_filter = 48 << 10;              // bytes of shared memory that every chip has
constexpr unsigned lane_outputs = 32, lane_rows = 8;  // threads of a block that sums

struct Direct {
  const ConvJob& job;
  const ops::ConvGeometry g = ops::conv_geometry(job.conv);

  int64_t positions() const { return g.batch * outputs_of(g.axes); }
  int64_t taps() const { return window_of(g.axes) * g.channels; }
  int64_t elements() const { return taps() * g.outputs; }  // of the filter
  Source begin() const {
    Source source;
    source.name = job.node.name();
    source.code = text(define_windows(g.axes, {.channels = g.channels, .outputs = g.outputs}),
                       include_of("conv_direct.cu"), "using Index = ", index_type(job.node), ";\n");
    return source;
  }
};

Source write_forward(const Direct& c) {
  const ConvJob& job = c.job;
  const ConvEpilogue epilogue = job.epilogue.value_or(ConvEpilogue{});
  const auto together = static_cast<int64_t>(16 / size_of(job.dtype()));
  const int64_t width = c.g.outputs % together == 0 ? together : 1;
  const int64_t count = c.positions() * (c.g.outputs / width);
  const std::string scaled = epilogue.scale.empty() ? "weight" : "weight * " + epilogue.scale;
  Source source = c.begin();
  source.code +=
      function(job.node, source, "kernel",
               text("  direct::conv<layout, ", width, ">(Index(", count, "), p", job.x, ", p",
                    job.w, ", p", job.y, ",\n      [&](float weight, Index o) { return ", scaled,
                    "; },\n      [&](float total, Index o, Index at) { return ",
                    epilogue.after("total", "at"), "; });\n"));
  constexpr unsigned max_blocks = 2048;  // each begins by reading the filter
  source.launches = {{"kernel", std::min(blocks_for(count), max_blocks)}};
  return source;
}

// A second kernel adds up the blocks' sums.
Source write_grad_filter(const Direct& c) {
  const ConvJob& job = c.job;
  const int64_t all = c.positions(),
                blocks = std::clamp<int64_t>(all / (int64_t{lane_rows} * 8), 1, 1024);
  const int64_t chunk = (all + blocks - 1) / blocks;
  const auto tiles = [](int64_t size) {
    return static_cast<unsigned>((size + lane_outputs - 1) / lane_outputs);
  };
  const std::string partial =
      text("reinterpret_cast<", compute_type(job.dtype()), "*>(p", job.scratch(), ")");
  Source source = c.begin();
  source.scratch_bytes = static_cast<size_t>(blocks * c.elements()) * 8;
  source.code +=
      function(job.node, source, "kernel",
               text("  direct::add_chunk<layout, ", lane_outputs, ", ", lane_rows, ">(Index(",
                    chunk, "), Index(", all, "), p", job.x, ", p", job.y, ", ", partial, ");\n"),
               {.max_threads = lane_outputs * lane_rows});
  source.code += function(job.node, source, "finish",
                          text("  direct::join_chunks<layout, ", lane_outputs, ">(Index(", blocks,
                               "), ", partial, ", p", job.w, ");\n"));
  source.launches = {
      {"kernel", static_cast<unsigned>(blocks), tiles(c.g.outputs), lane_outputs, lane_rows},
      {"finish", tiles(c.elements()), 1, lane_outputs, lane_outputs}};
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
