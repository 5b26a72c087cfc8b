#include <algorithm>

#include "keratin/backend/cuda/conv/conv.h"
#include "keratin/backend/cuda/conv/cudnn_step.h"
#include "keratin/backend/cuda/conv/window_source.h"
#include "keratin/backend/cuda/matmul/cublas_matmul.h"
#include "keratin/backend/cuda/source_kernel.h"
#include "keratin/base/text.h"
#include "keratin/ops/conv.h"

namespace keratin::cuda {

namespace {

constexpr int64_t max_elements = int64_t{1} << 30;

// The matrix of windows: a row for each position of the output, with the inputs under its window.
struct Windows {
  ops::ConvGeometry g;
  int64_t positions, width;  // rows, columns

  explicit Windows(const ops::ConvGeometry& geometry)
      : g(geometry),
        positions(g.batch * outputs_of(g.axes)),
        width(window_of(g.axes) * g.channels) {}

  int64_t count() const { return positions * width; }
};

class WindowsStep final : public Kernel {
 public:
  WindowsStep(const ConvJob& job, const Windows& w, bool tf32)
      : job_(job),
        plain_(reads_input_in_order(w.g)),
        matrix_bytes_(plain_ ? 0 : aligned(static_cast<size_t>(w.count()) * size_of(job.dtype()))),
        matmul_(job.node.device(), shape(w), job.dtype(), tf32) {
    if (!plain_) windows_ = compile_kernel(job.node, write_im2col(job));
    if (!job.epilogue) return;
    Source after;
    after.name = job.node.name();
    after.code = "using Index = long long;\n";
    add_epilogue(after, job, true);
    after_ = compile_kernel(job.node, after);
  }

  std::string describe() const override {
    return text("cuda ", job_.conv.name(), plain_ ? "" : " of windows", ", cublasLt",
                after_ ? ", epilogue" : "");
  }
  size_t scratch_bytes() const override { return matrix_bytes_ + matmul_.scratch_bytes(); }

  Launch bind(Pointers p) const override {
    const auto bound = [&](const std::unique_ptr<Kernel>& part) {
      return part ? part->bind(p) : Launch([] {});
    };
    return [this, p, windows = bound(windows_), after = bound(after_)] {
      if (job_.kind != ConvKind::grad_input) windows();
      multiply(p);
      if (job_.kind == ConvKind::grad_input) windows();
      after();
    };
  }

 private:
  static size_t aligned(size_t bytes) {
    return (bytes + cublas::alignment - 1) / cublas::alignment * cublas::alignment;
  }

  MatmulShape shape(const Windows& w) const {
    MatmulShape s;
    const auto of = [&](size_t operand) { return alignment_of(job_.type_of(operand)); };
    const uint32_t windows = plain_ ? of(job_.x) : 64;
    switch (job_.kind) {
      case ConvKind::forward:
        s = {.rows = w.positions, .columns = w.g.outputs, .depth = w.width};
        s.alignment_a = windows;
        s.alignment_b = of(job_.w);
        s.alignment_out = of(job_.y);
        break;
      case ConvKind::grad_input:
        s = {.rows = w.positions, .columns = w.width, .depth = w.g.outputs, .transpose_b = true};
        s.alignment_a = of(job_.y);
        s.alignment_b = of(job_.w);
        s.alignment_out = windows;
        break;
      case ConvKind::grad_filter:
        s = {.rows = w.width, .columns = w.g.outputs, .depth = w.positions, .transpose_a = true};
        s.alignment_a = windows;
        s.alignment_b = of(job_.y);
        s.alignment_out = of(job_.w);
        break;
    }
    return s;
  }

  void multiply(Pointers p) const {
    void* const scratch = p[job_.scratch()];
    void* const x = plain_ ? p[job_.x] : scratch;
    void* const w = p[job_.w];
    void* const y = p[job_.y];
    void* const workspace = static_cast<std::byte*>(scratch) + matrix_bytes_;
    if (job_.kind == ConvKind::forward) matmul_.run(x, w, y, workspace);
    if (job_.kind == ConvKind::grad_input) matmul_.run(y, w, x, workspace);
    if (job_.kind == ConvKind::grad_filter) matmul_.run(x, y, w, workspace);
  }

  const ConvJob job_;
  const bool plain_;
  const size_t matrix_bytes_;
  const CublasMatmul matmul_;
  std::unique_ptr<Kernel> windows_, after_;
};

}  // namespace

bool reads_input_in_order(const ops::ConvGeometry& g) {
  return std::all_of(g.axes.begin(), g.axes.end(), [](const ops::WindowAxis& a) {
    return a.window == 1 && a.stride == 1 && a.low == 0 && a.input == a.output;
  });
}

std::optional<std::string> refuses_im2col(const ops::ConvGeometry& g) {
  if (g.groups != 1) return text(g.groups, " groups");
  if (!cublas::available()) return "cuBLASLt is not installed";
  const int64_t count = Windows(g).count();
  if (count < max_elements) return std::nullopt;
  return text("the matrix of windows has ", count, " elements");
}

Source write_im2col(const ConvJob& job) {
  const Windows w(ops::conv_geometry(job.conv));
  const std::string matrix =
      text("reinterpret_cast<", storage_type(job.dtype()), "*>(p", job.scratch(), ")");
  const auto call = [&](const std::string& function, const std::string& operands) {
    const WindowChannels channels{.channels = w.g.channels, .outputs = w.g.outputs};
    return ElementCall{define_windows(w.g.axes, channels) + include_of("im2col.cu"), function,
                       operands};
  };
  if (job.kind == ConvKind::grad_input)
    return element_kernel(job.node, job.node.type().shape.count(),
                          call("im2col::scatter<layout>", text(matrix, ", p", job.x)));
  // As many channels at a time as 16 bytes hold.
  const auto together = static_cast<int64_t>(16 / size_of(job.dtype()));
  const bool fits = w.g.channels % together == 0 && alignment_of(job.type_of(job.x)) >= 16;
  const int64_t width = fits ? together : 1;
  return element_kernel(
      job.node, w.count() / width,
      call(text("im2col::gather<layout, ", width, ">"), text("p", job.x, ", ", matrix)));
}

std::unique_ptr<Kernel> make_im2col(const ConvJob& job, const KernelOptions& options) {
  const ops::ConvGeometry g = ops::conv_geometry(job.conv);
  if (refuses_im2col(g)) return nullptr;
  return std::make_unique<WindowsStep>(job, Windows(g), options.tf32);
}

}  // namespace keratin::cuda
