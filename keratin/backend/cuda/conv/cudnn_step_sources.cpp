#include <algorithm>

#include "keratin/backend/cuda/conv/conv.h"
#include "keratin/backend/cuda/conv/cudnn_step.h"
#include "keratin/backend/cuda/conv/window_source.h"
#include "keratin/base/text.h"

// The kernels around cuDNN's: see kernels/cudnn_layouts.cu.
namespace keratin::cuda {

namespace {

constexpr int64_t tile = 32, tile_rows = 8;
constexpr size_t alignment = 256;

size_t aligned(int64_t count, DType dtype) {
  return (static_cast<size_t>(count) * size_of(dtype) + alignment - 1) / alignment * alignment;
}

class Writer {
 public:
  Writer(const ConvJob& job, const CudnnShape& shape, bool fused)
      : job_(job),
        node_(job.node),
        kind_(job.kind),
        dtype_(job.dtype()),
        g_(ops::conv_geometry(job.conv)),
        padded_(shape.g),
        fold_(shape.fold),
        fused_(fused) {
    (kind_ == ConvKind::grad_filter ? sources_.filter_grad : sources_.prepared_filter) =
        aligned(g_.outputs * window_of(padded_.axes) * padded_.channels / padded_.groups, dtype_);
    if (pads()) sources_.image = aligned(count_of(padded_), dtype_);
    if (fused_) sources_.shift = aligned(g_.outputs, DType::f32);
    sources_.prepare.scratch_bytes = sources_.prepared_filter + sources_.shift;
    for (Source* source : {&sources_.prepare, &sources_.before, &sources_.after}) {
      source->name = job.node.name();
      source->code = text(include_of("cudnn_layouts.cu"), "constexpr cudnn::Change change = {",
                          layout(g_), ", ", layout(padded_), ", {", fold_[0], ", ", fold_[1], ", ",
                          fold_[2], "}};\nusing Index = ", index(), ";\n");
    }
  }

  ConvSources write() {
    const bool back = kind_ == ConvKind::grad_filter;
    if (padded_.channels == g_.channels)
      turn_filter(back ? sources_.after : sources_.prepare);
    else if (back)
      narrow_filter(sources_.after);
    else
      widen_filter(sources_.prepare);
    const std::string own = text("p", job_.x), wide = scratch(sources_.filter_grad);
    if (pads() && kind_ == ConvKind::grad_input)
      add_call(sources_.after, "crop", "crop<change>", count_of(g_), text(wide, ", ", own));
    if (pads() && kind_ != ConvKind::grad_input)
      add_call(sources_.before, "pad", "pad<change>", count_of(padded_), text(own, ", ", wide));
    if (job_.epilogue && !fused_) add_epilogue(sources_.after, job_, false);
    return std::move(sources_);
  }

 private:
  static int64_t count_of(const ops::ConvGeometry& g) {
    return g.batch * inputs_of(g.axes) * g.channels;
  }
  std::string_view index() const {
    constexpr int64_t most = int64_t{1} << 30;
    return std::max(count_of(padded_), count_of(g_)) < most ? index_type(node_) : "long long";
  }
  bool pads() const {
    bool same = padded_.channels == g_.channels;
    for (size_t axis = 0; axis < g_.axes.size(); ++axis)
      same = same && added(axis) == 0 && padded_.axes[axis].input == g_.axes[axis].input;
    return !same;
  }

  std::string scratch(size_t offset) const {
    return text("reinterpret_cast<", storage_type(dtype_), "*>(p", job_.scratch(), " + ", offset,
                ")");
  }
  std::string filter() const { return text("p", job_.w); }

  static std::string layout(const ops::ConvGeometry& g) {
    return layout_of(g.axes, {.channels = g.channels, .outputs = g.outputs, .groups = g.groups});
  }
  int64_t added(size_t axis) const { return g_.axes[axis].low - padded_.axes[axis].low; }

  // The scale and the shift of the epilogue, as functions of output o; the shift is for cuDNN.
  std::string scaled() const {
    const std::string_view type = storage_type(dtype_);
    const bool scales = job_.epilogue && !job_.epilogue->scale.empty();
    return text("[&](", type, " element, Index o) { return ",
                scales ? text(type, "(load(element) * ", job_.epilogue->scale, ")") : "element",
                "; }");
  }
  std::string store_shift() const {
    if (!fused_) return "[&](Index) {}";
    const std::string& shift = job_.epilogue->shift;
    return text("[&](Index o) { reinterpret_cast<float*>(p", job_.scratch(), " + ",
                sources_.prepared_filter, ")[o] = ", shift.empty() ? "0" : shift, "; }");
  }
  std::string functions() const { return text(",\n      ", scaled(), ",\n      ", store_shift()); }

  // From or to the beginning of the scratch memory.
  void turn_filter(Source& source) {
    int64_t rows = window_of(g_.axes) * g_.channels / g_.groups, columns = g_.outputs;
    std::string from = filter(), to = scratch(0);
    if (kind_ == ConvKind::grad_filter) {
      std::swap(rows, columns);
      std::swap(from, to);
    }
    source.code += function(node_, source, "turn_filter",
                            text("  cudnn::turn<", tile, ", ", tile_rows, ">(Index(", rows,
                                 "), Index(", columns, "), ", from, ", ", to, functions(), ");\n"));
    const auto tiles = [](int64_t size) { return static_cast<unsigned>((size + tile - 1) / tile); };
    source.launches.push_back({"turn_filter", tiles(rows), tiles(columns), tile, tile_rows});
  }
  void widen_filter(Source& source) {
    add_call(source, "turn_filter", "turn_and_widen<change>",
             g_.outputs * window_of(padded_.axes) * padded_.channels,
             text(filter(), ", ", scratch(0), functions()));
  }
  void narrow_filter(Source& source) {
    add_call(source, "turn_filter", "turn_and_narrow<change>",
             g_.outputs * window_of(g_.axes) * g_.channels, text(scratch(0), ", ", filter()));
  }

  // A kernel `name` that calls a function of kernels/cudnn_layouts.cu.
  void add_call(Source& source, const char* name, const char* called, int64_t count,
                const std::string& operands) const {
    source.code += function(node_, source, name,
                            text("  cudnn::", called, "(Index(", count, "), ", operands, ");\n"));
    source.launches.push_back({name, blocks_for(count)});
  }

  const ConvJob& job_;
  const Node& node_;
  const ConvKind kind_;
  const DType dtype_;
  const ops::ConvGeometry g_, padded_;
  const std::array<int64_t, 3> fold_;
  const bool fused_;
  ConvSources sources_;
};

}  // namespace

std::optional<CudnnShape> cudnn_shape(const ops::ConvGeometry& g, DType dtype, Channels channels) {
  constexpr int64_t few = 32;
  CudnnShape shape{.g = g};
  const bool uneven = std::any_of(g.axes.begin(), g.axes.end(), [](const ops::WindowAxis& a) {
    return a.low != a.high || a.low < 0;
  });
  int64_t wide = g.channels;
  if (channels == Channels::folded) {
    for (size_t axis = 0; axis < 3; ++axis) {
      ops::WindowAxis& a = shape.g.axes[axis];
      if (a.dilation != 1) return std::nullopt;
      wide *= shape.fold[axis] = a.stride;
      a.window = (a.window + a.stride - 1) / a.stride;
      a.input = a.output + a.window - 1;
      a.stride = 1;
      a.low = a.high = 0;
    }
    if (wide == g.channels || wide > few) return std::nullopt;
  } else if (uneven) {
    for (ops::WindowAxis& a : shape.g.axes) {
      a.input += a.low + a.high;
      a.low = a.high = 0;
    }
  }
  if (channels == Channels::as_they_are) return shape;
  const int64_t together = dtype == DType::f32 ? 4 : 8;  // 16 bytes
  shape.g.channels = (wide + together - 1) / together * together;
  if (g.groups != 1 || shape.g.channels == g.channels) return std::nullopt;
  return shape;
}

ConvSources conv_sources(const ConvJob& job, const CudnnShape& shape, bool fused) {
  return Writer(job, shape, fused).write();
}

void add_epilogue(Source& source, const ConvJob& job, bool with_scale) {
  const ConvEpilogue& e = *job.epilogue;
  const Shape& shape = job.node.type().shape;
  std::string value = text("load(p", job.y, "[i])");
  if (with_scale && !e.scale.empty()) value += " * " + e.scale;
  source.code += function(
      job.node, source, "finish",
      text("  for_each_element(Index(", shape.count(),
           "), [&](Index i) {\n    const Index o = i % ", "Index(", shape.back(), ");\n    p",
           job.y, "[i] = ", storage_type(job.dtype()), "(", e.after(value, "i"), ");\n  });\n"));
  source.launches.push_back({"finish", blocks_for(shape.count())});
}

}  // namespace keratin::cuda
