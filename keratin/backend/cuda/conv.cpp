#include "keratin/backend/cuda/conv.h"

#include "keratin/backend/cuda/families.h"
#include "keratin/backend/cuda/gemm.h"
#include "keratin/backend/cuda/step.h"
#include "keratin/backend/cuda/window_text.h"
#include "keratin/ops/conv.h"
#include "keratin/ops/records.h"

namespace keratin::cuda {

namespace {

constexpr int64_t most_elements = int64_t{1} << 30;

// The matrix of windows: a row for each place of the output, in it the inputs under the window.
struct Windows {
  ops::ConvGeometry g;
  int64_t places, width;  // rows, columns

  explicit Windows(const Node& node)
      : g(ops::conv_geometry(node)),
        places(g.batch * outputs_of(g.axes)),
        width(window_of(g.axes) * g.channels) {}

  int64_t count() const { return places * width; }
  // Each window is one input, in order: the input is the matrix.
  bool plain() const {
    for (const ops::WindowAxis& a : g.axes)
      if (a.window != 1 || a.stride != 1 || a.low != 0 || a.input != a.output) return false;
    return true;
  }
};

std::string matrix(const Node& node, const char* qualifier) {
  return text("reinterpret_cast<", qualifier, storage_type(node.type().dtype), "*>(p3)");
}

// The matrix from the input, p0.
Source gather_windows(const Node& node, const Windows& w) {
  return element_kernel(
      node, w.count(),
      text("    const Index c = i % Index(", w.g.channels, "), k = i / Index(", w.g.channels,
           ") % Index(", window_of(w.g.axes), "), place = i / Index(", w.width,
           "), o = place % Index(", outputs_of(w.g.axes), "), n = place / Index(",
           outputs_of(w.g.axes), ");\n", find_input(w.g.axes), "    ", matrix(node, ""),
           "[i] = inside ? p0[(n * Index(", inputs_of(w.g.axes), ") + x) * Index(", w.g.channels,
           ") + c] : ", storage_type(node.type().dtype), "(0);\n"));
}

// The gradient of the input, p2, from that of the matrix: each input adds up where it was.
Source scatter_windows(const Node& node, const Windows& w) {
  const DType dtype = node.type().dtype;
  return element_kernel(
      node, text("    const Index c = i % Index(", w.g.channels, "), x = i / Index(", w.g.channels,
                 ") % Index(", inputs_of(w.g.axes), "), n = i / Index(",
                 w.g.channels * inputs_of(w.g.axes), ");\n    ", compute_type(dtype),
                 " total = 0;\n    for (Index k = 0; k < ", window_of(w.g.axes), "; ++k) {\n",
                 find_output(w.g.axes), "      if (inside) total += load(", matrix(node, "const "),
                 "[((n * Index(", outputs_of(w.g.axes), ") + o) * Index(", window_of(w.g.axes),
                 ") + k) * Index(", w.g.channels,
                 ") + c]);\n    }\n    p2[i] = ", storage_type(dtype), "(total);\n"));
}

class ConvStep final : public Kernel {
 public:
  enum class Kind { forward, grad_input, grad_filter };

  ConvStep(const Node& node, const Windows& w, Kind kind, bool tf32)
      : node_(node),
        kind_(kind),
        plain_(w.plain()),
        matrix_bytes_(
            plain_ ? 0 : aligned(static_cast<size_t>(w.count()) * size_of(node.type().dtype))),
        gemm_(node.device(), shape(node, w), node.type().dtype, tf32) {
    if (!plain_)
      windows_ = make_step(
          node, kind == Kind::grad_input ? scatter_windows(node, w) : gather_windows(node, w));
  }

  std::string describe() const override {
    return text("cuda ", node_.name(), plain_ ? "" : " of windows", ", cublasLt");
  }
  size_t scratch_bytes() const override { return matrix_bytes_ + gemm_.scratch_bytes(); }

  Launch bind(Pointers p) const override {
    return [this, p, windows = windows_ ? windows_->bind(p) : Launch()] { launch(p, windows); };
  }

 private:
  static size_t aligned(size_t bytes) {
    return (bytes + cublas::alignment - 1) / cublas::alignment * cublas::alignment;
  }

  GemmShape shape(const Node& node, const Windows& w) const {
    GemmShape s;
    const auto of = [&](const Type& type) { return alignment_of(type); };
    const uint32_t windows =
        plain_ ? of(kind_ == Kind::grad_input ? node.type() : node.in().type()) : 64;
    switch (kind_) {
      case Kind::forward:
        s = {.rows = w.places, .columns = w.g.outputs, .depth = w.width};
        s.alignment_a = windows;
        s.alignment_b = of(node.in(1).type());
        s.alignment_out = of(node.type());
        break;
      case Kind::grad_input:
        s = {.rows = w.places, .columns = w.width, .depth = w.g.outputs, .transpose_b = true};
        s.alignment_a = of(node.in(0).type());
        s.alignment_b = of(node.in(1).type());
        s.alignment_out = windows;
        break;
      case Kind::grad_filter:
        s = {.rows = w.width, .columns = w.g.outputs, .depth = w.places, .transpose_a = true};
        s.alignment_a = windows;
        s.alignment_b = of(node.in(1).type());
        s.alignment_out = of(node.type());
        break;
    }
    return s;
  }

  void launch(Pointers p, const Launch& windows) const {
    void* workspace = static_cast<std::byte*>(p[3]) + matrix_bytes_;
    if (kind_ == Kind::grad_input) {
      gemm_.run(p[0], p[1], plain_ ? p[2] : p[3], workspace);
      if (windows) windows();
    } else {
      if (windows) windows();
      gemm_.run(plain_ ? p[0] : p[3], p[1], p[2], workspace);
    }
  }

  const Node& node_;
  const Kind kind_;
  const bool plain_;
  const size_t matrix_bytes_;
  const Gemm gemm_;
  std::unique_ptr<Kernel> windows_;
};

}  // namespace

std::unique_ptr<Kernel> make_conv_product(const Node& node, const KernelOptions& options) {
  using Kind = ConvStep::Kind;
  const std::pair<const OpDef*, Kind> kinds[] = {{&ops::conv_op, Kind::forward},
                                                 {&ops::conv_grad_input_op, Kind::grad_input},
                                                 {&ops::conv_grad_filter_op, Kind::grad_filter}};
  for (const auto& [op, kind] : kinds) {
    if (&node.op() != op) continue;
    const Windows w(node);
    if (w.g.groups != 1 || w.count() == 0 || w.g.outputs == 0 || w.count() >= most_elements)
      return nullptr;
    if (node.type().shape.count() == 0 || !cublas::available()) return nullptr;
    return std::make_unique<ConvStep>(node, w, kind, options.tf32);
  }
  return nullptr;
}

}  // namespace keratin::cuda
