#include <algorithm>

#include "keratin/backend/cuda/conv/conv.h"
#include "keratin/backend/cuda/conv/cudnn_step.h"
#include "keratin/backend/cuda/conv/window_source.h"
#include "keratin/base/text.h"

namespace keratin::cuda {

namespace {

constexpr int64_t tile = 32, tile_rows = 8;
constexpr size_t alignment = 256;

size_t aligned(int64_t count, DType dtype) {
  return (static_cast<size_t>(count) * size_of(dtype) + alignment - 1) / alignment * alignment;
}

void add_loop(Source& source, const Node& node, const char* name, int64_t count,
              const std::string& body) {
  source.code += function(
      node, source, name,
      text("  for (Index i = blockIdx.x * Index(", block_size, ") + threadIdx.x; i < Index(", count,
           "); i += gridDim.x * Index(", block_size, ")) {\n", body, "  }\n"));
  source.launches.push_back({name, blocks_for(count)});
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
      source->code = text("using Index = ", index(), ";\n");
    }
  }

  ConvSources write() {
    Source& filter = kind_ == ConvKind::grad_filter ? sources_.after : sources_.prepare;
    if (padded_.channels == g_.channels)
      turn_filter(filter);
    else
      turn_and_widen_filter(filter);
    if (pads() && kind_ == ConvKind::grad_input) crop(sources_.after);
    if (pads() && kind_ != ConvKind::grad_input) pad(sources_.before);
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
  std::string image() const { return text("p", job_.x); }
  // An element of the filter of output o, times the scale.
  std::string scaled(const std::string& element) const {
    if (!job_.epilogue || job_.epilogue->scale.empty()) return element;
    return text(storage_type(dtype_), "(load(", element, ") * ", job_.epilogue->scale, ")");
  }

  // The shift of output o, for cuDNN.
  std::string write_shift() const {
    const std::string& shift = job_.epilogue->shift;
    return text("reinterpret_cast<float*>(p", job_.scratch(), " + ", sources_.prepared_filter,
                ")[o] = ", shift.empty() ? "0" : shift, ";\n");
  }

  // Transposes a matrix tile by tile, from or to the beginning of the scratch memory.
  void turn_filter(Source& source) {
    int64_t rows = window_of(g_.axes) * g_.channels / g_.groups, columns = g_.outputs;
    std::string from = filter(), to = scratch(0);
    if (kind_ == ConvKind::grad_filter) {
      std::swap(rows, columns);
      std::swap(from, to);
    }
    source.code += function(
        node_, source, "turn_filter",
        text("  __shared__ ", storage_type(dtype_), " tile[", tile, "][", tile + 1,
             "];\n  const Index row = blockIdx.x * Index(", tile, "), column = blockIdx.y * Index(",
             tile, ");\n  for (int j = threadIdx.y; j < ", tile, "; j += ", tile_rows,
             ")\n    if (row + j < ", rows, " && column + threadIdx.x < ", columns,
             ") tile[j][threadIdx.x] = ", from, "[(row + j) * Index(", columns,
             ") + column + threadIdx.x];\n  __syncthreads();\n  for (int j = threadIdx.y; j < ",
             tile, "; j += ", tile_rows, ")\n    if (const Index o = column + j; o < ", columns,
             " && row + threadIdx.x < ", rows, ") ", to, "[(column + j) * Index(", rows,
             ") + row + threadIdx.x] = ", scaled("tile[threadIdx.x][j]"), ";\n",
             !fused_ ? ""
                     : text("  if (const Index o = column + threadIdx.x; blockIdx.x == 0 && "
                            "threadIdx.y == 0 && o < ",
                            columns, ") ", write_shift())));
    const auto tiles = [](int64_t size) { return static_cast<unsigned>((size + tile - 1) / tile); };
    source.launches.push_back({"turn_filter", tiles(rows), tiles(columns), tile, tile_rows});
  }

  // Filters of few channels, padded with zeros; the gradients of these are dropped.
  void turn_and_widen_filter(Source& source) {
    const int64_t depth = g_.channels, wide = padded_.channels, window = window_of(padded_.axes);
    if (kind_ == ConvKind::grad_filter) {
      std::string place = "0", offset = "0";
      for (size_t axis = 0; axis < 3; ++axis) {
        const std::string k = coordinate(cuda::window(g_.axes), axis, "k");
        place = text("(", place, " * Index(", padded_.axes[axis].window, ") + ", k, " / Index(",
                     fold_[axis], "))");
        offset =
            text("(", offset, " * Index(", fold_[axis], ") + ", k, " % Index(", fold_[axis], "))");
      }
      add_loop(source, "turn_filter", g_.outputs * window_of(g_.axes) * depth,
               text("    const Index o = i % Index(", g_.outputs, "), c = i / Index(", g_.outputs,
                    ") % Index(", depth, "), k = i / Index(", g_.outputs * depth, ");\n    ",
                    filter(), "[i] = ", scratch(0), "[(o * Index(", window, ") + ", place,
                    ") * Index(", wide, ") + ", offset, " * Index(", depth, ") + c];\n"));
      return;
    }
    std::string found = text("c < Index(", folded() * depth, ")"), k = "0";
    for (size_t axis = 0; axis < 3; ++axis) {
      const std::string own = text("(", coordinate(cuda::window(padded_.axes), axis, "place"),
                                   " * Index(", fold_[axis], ") + ", offset_of(axis), ")");
      found += text(" && ", own, " < Index(", g_.axes[axis].window, ")");
      k = text("(", k, " * Index(", g_.axes[axis].window, ") + ", own, ")");
    }
    const std::string element = text(filter(), "[(", k, " * Index(", depth, ") + c % Index(", depth,
                                     ")) * Index(", g_.outputs, ") + o]");
    add_loop(source, "turn_filter", g_.outputs * window * wide,
             text("    const Index c = i % Index(", wide, "), place = i / Index(", wide,
                  ") % Index(", window, "), o = i / Index(", wide * window, ");\n    ", scratch(0),
                  "[i] = ", found, " ? ", scaled(element), " : ", storage_type(dtype_), "(0);\n",
                  !fused_ ? "" : text("    if (c == 0 && place == 0) ", write_shift())));
  }

  int64_t folded() const { return fold_[0] * fold_[1] * fold_[2]; }
  // The neighbour along an axis that channel c of the padded image stands for.
  std::string offset_of(size_t axis) const {
    int64_t inner = g_.channels;
    for (size_t later = axis + 1; later < 3; ++later) inner *= fold_[later];
    return text("c / Index(", inner, ") % Index(", fold_[axis], ")");
  }

  // The padding in front of the image.
  int64_t added(size_t axis) const { return g_.axes[axis].low - padded_.axes[axis].low; }

  // Element i of an image: its channel c, sample n and spatial position x.
  static std::string split(const ops::ConvGeometry& g) {
    return text("    const Index c = i % Index(", g.channels, "), x = i / Index(", g.channels,
                ") % Index(", inputs_of(g.axes), "), n = i / Index(",
                inputs_of(g.axes) * g.channels, ");\n");
  }
  static std::string position(const ops::ConvGeometry& g, const std::string& channel) {
    return text("(((n * Index(", g.axes[0].input, ") + x0) * Index(", g.axes[1].input,
                ") + x1) * Index(", g.axes[2].input, ") + x2) * Index(", g.channels, ") + ",
                channel);
  }

  void pad(Source& source) {
    std::string body = split(padded_), inside = text("c < Index(", folded() * g_.channels, ")");
    for (size_t axis = 0; axis < 3; ++axis) {
      body += text("    const Index x", axis, " = ", coordinate(inputs(padded_.axes), axis, "x"),
                   " * Index(", fold_[axis], ") + ", offset_of(axis), " - (", added(axis), ");\n");
      inside += text(" && x", axis, " >= 0 && x", axis, " < Index(", g_.axes[axis].input, ")");
    }
    add_loop(source, "pad", count_of(padded_),
             text(body, "    ", scratch(sources_.filter_grad), "[i] = ", inside, " ? ", image(),
                  "[", position(g_, text("c % Index(", g_.channels, ")")),
                  "] : ", storage_type(dtype_), "(0);\n"));
  }

  void crop(Source& source) {
    std::string body = split(g_), inside = "true", offset = "0";
    for (size_t axis = 0; axis < 3; ++axis) {
      body += text("    const Index t", axis, " = ", coordinate(inputs(g_.axes), axis, "x"), " + (",
                   added(axis), "), x", axis, " = t", axis, " / Index(", fold_[axis], ");\n");
      inside += text(" && t", axis, " >= 0 && x", axis, " < Index(", padded_.axes[axis].input, ")");
      offset = text("(", offset, " * Index(", fold_[axis], ") + t", axis, " % Index(", fold_[axis],
                    "))");
    }
    add_loop(source, "crop", count_of(g_),
             text(body, "    ", image(), "[i] = ", inside, " ? ", scratch(sources_.filter_grad),
                  "[", position(padded_, text(offset, " * Index(", g_.channels, ") + c")),
                  "] : ", storage_type(dtype_), "(0);\n"));
  }

  void add_loop(Source& source, const char* name, int64_t count, const std::string& body) const {
    keratin::cuda::add_loop(source, node_, name, count, body);
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
  std::string value = text("load(p", job.y, "[i])");
  if (with_scale && !e.scale.empty()) value += " * " + e.scale;
  if (!e.shift.empty()) value += " + " + e.shift;
  if (e.added) value += text(" + load(p", *e.added, "[i])");
  if (e.relu) value = text("scalar::Relu{}(", value, ")");
  const Shape& shape = job.node.type().shape;
  add_loop(source, job.node, "finish", shape.count(),
           text("    const Index o = i % Index(", shape.back(), ");\n    p", job.y,
                "[i] = ", storage_type(job.dtype()), "(", value, ");\n"));
}

}  // namespace keratin::cuda
