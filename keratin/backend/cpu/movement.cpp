#include "keratin/backend/cpu/movement.h"

#include <algorithm>
#include <cstring>

#include "keratin/backend/cpu/kernel_table.h"
#include "keratin/backend/cpu/kernels.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/slicing.h"

namespace keratin::cpu {
namespace {

// One copy of a kernel: from an offset of an input to an offset of the output, in bytes.
struct Piece {
  CopyPlan plan;
  size_t input = 0;
  int64_t from = 0, to = 0;
};

class MoveKernel final : public Kernel {
 public:
  MoveKernel(std::string what, const Node& node, int threads)
      : what_(std::move(what)),
        element_bytes_(static_cast<int>(size_of(node.type().dtype))),
        inputs_(node.input_count()),
        threads_(threads) {}

  std::string describe() const override { return what_; }
  Launch bind(Pointers p) const override {
    return [this, p] { run(p); };
  }

  // Copies elements between strided views of an input and the output; offsets count elements.
  void add(const Dims& size, size_t input, const Dims& src, int64_t from, const Dims& dst,
           int64_t to) {
    if (std::find(size.begin(), size.end(), 0) != size.end()) return;
    pieces_.push_back({plan_copy(size, src, dst, element_bytes_), input, from * element_bytes_,
                       to * element_bytes_});
  }
  // Sets the whole output, before the copies.
  void fill(const void* value, int64_t count) {
    std::memcpy(fill_value_, value, static_cast<size_t>(element_bytes_));
    fill_count_ = count;
  }

 private:
  void run(Pointers p) const {
    auto* const out = static_cast<std::byte*>(p[inputs_]);
    const CopyKernels& k = kernels().copy;
    if (fill_count_ > 0) k.fill({out, fill_value_, fill_count_, element_bytes_, threads_});
    for (const Piece& piece : pieces_) {
      const auto* const in = static_cast<const std::byte*>(p[piece.input]);
      k.copy({&piece.plan, in + piece.from, out + piece.to, threads_});
    }
  }

  std::string what_;
  int element_bytes_;
  size_t inputs_;
  int threads_;
  std::vector<Piece> pieces_;
  unsigned char fill_value_[8] = {};
  int64_t fill_count_ = 0;
};

int64_t dot(const Dims& a, const Dims& b) {
  int64_t sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// A kernel with one copy from input 0 to the whole output.
Offer one_copy(std::string what, const Node& node, int threads, const Dims& src, int64_t from) {
  const Shape& out = node.type().shape;
  if (out.rank() > max_copy_rank) return refuse("more than ", max_copy_rank, " axes");
  auto kernel = std::make_unique<MoveKernel>(std::move(what), node, threads);
  kernel->add(out.dims(), 0, src, from, out.strides(), 0);
  return {.kernel = std::move(kernel)};
}

// A window of a tensor that starts where the program says, moved so that it lies inside.
int64_t window_offset(const void* start, DType dtype, const Dims& room, const Dims& strides) {
  int64_t offset = 0;
  for (size_t i = 0; i < room.size(); ++i) {
    const int64_t at = dtype == DType::i32 ? static_cast<const int32_t*>(start)[i]
                                           : static_cast<const int64_t*>(start)[i];
    offset += std::clamp<int64_t>(at, 0, room[i]) * strides[i];
  }
  return offset;
}

// dynamic_slice and dynamic_update_slice: a copy whose offset is known when it runs.
class WindowKernel final : public Kernel {
 public:
  WindowKernel(const Node& node, bool update, int threads)
      : update_(update), threads_(threads), start_dtype_(node.in(update ? 2 : 1).dtype()) {
    const Shape& whole = node.in().shape();
    const Shape& window = update ? node.in(1).shape() : node.type().shape;
    const auto bytes = static_cast<int64_t>(size_of(node.type().dtype));
    whole_bytes_ = whole.count() * bytes;
    const Dims strides = whole.strides(), dense = window.strides();
    empty_ = window.count() == 0;
    for (int64_t i = 0; i < whole.rank(); ++i) room_.push_back(whole[i] - window[i]);
    plan_ = plan_copy(window.dims(), update ? dense : strides, update ? strides : dense,
                      static_cast<int>(bytes));
    for (const int64_t stride : strides) byte_strides_.push_back(stride * bytes);
  }

  std::string describe() const override {
    return update_ ? "copy into a window" : "copy of a window";
  }
  bool in_place(size_t input, size_t output) const override {
    return update_ && input == 0 && output == 0;
  }
  Launch bind(Pointers p) const override {
    return [this, p] {
      if (update_) {
        update(p);
      } else {
        slice(p);
      }
    };
  }

 private:
  void slice(Pointers p) const {
    if (empty_) return;
    const auto* const x = static_cast<const std::byte*>(p[0]);
    const int64_t from = window_offset(p[1], start_dtype_, room_, byte_strides_);
    kernels().copy.copy({&plan_, x + from, p[2], threads_});
  }
  void update(Pointers p) const {
    auto* const out = static_cast<std::byte*>(p[3]);
    // The start may live in what is written over, so it is read first.
    const int64_t to = window_offset(p[2], start_dtype_, room_, byte_strides_);
    if (p[0] != p[3] && whole_bytes_ > 0) {
      const CopyPlan all{.rank = 1,
                         .element_bytes = 1,
                         .size = {whole_bytes_},
                         .src_stride = {1},
                         .dst_stride = {1}};
      kernels().copy.copy({&all, p[0], out, threads_});
    }
    if (!empty_) kernels().copy.copy({&plan_, p[1], out + to, threads_});
  }

  bool update_, empty_ = false;
  int threads_;
  DType start_dtype_;
  CopyPlan plan_;
  int64_t whole_bytes_ = 0;
  Dims room_, byte_strides_;
};

Offer make_window(const Node& node, bool update, int threads) {
  if (node.in().rank() > max_copy_rank) return refuse("more than ", max_copy_rank, " axes");
  return {.kernel = std::make_unique<WindowKernel>(node, update, threads)};
}

}  // namespace

Offer make_transpose(const Node& node, const KernelOptions& options) {
  const Dims strides = node.in().shape().strides();
  Dims src;
  for (const int64_t axis : node.attr<ops::TransposeAttrs>().permutation) {
    src.push_back(strides[static_cast<size_t>(axis)]);
  }
  return one_copy("transpose by tiles", node, options.threads, src, 0);
}

Offer make_broadcast_to(const Node& node, const KernelOptions& options) {
  const Shape &in = node.in().shape(), &out = node.type().shape;
  const Dims strides = in.strides();
  Dims src(static_cast<size_t>(out.rank()), 0);
  const int64_t missing = out.rank() - in.rank();
  for (int64_t axis = 0; axis < in.rank(); ++axis) {
    if (in[axis] != 1)
      src[static_cast<size_t>(axis + missing)] = strides[static_cast<size_t>(axis)];
  }
  return one_copy("broadcast copy", node, options.threads, src, 0);
}

Offer make_slice(const Node& node, const KernelOptions& options) {
  const auto& attrs = node.attr<ops::SliceAttrs>();
  const auto window = ops::slice_window(attrs, node.in().shape());
  const Dims strides = node.in().shape().strides();
  Dims src = strides;
  for (size_t i = 0; i < src.size(); ++i) src[i] *= attrs.step[i];
  return one_copy("slice copy", node, options.threads, src, dot(window.start, strides));
}

Offer make_reverse(const Node& node, const KernelOptions& options) {
  const Shape& shape = node.in().shape();
  Dims src = shape.strides();
  int64_t from = 0;
  for (const int64_t axis : node.attr<ops::ReverseAttrs>().axes) {
    int64_t& stride = src[static_cast<size_t>(axis)];
    from += std::max<int64_t>(shape[axis] - 1, 0) * stride;
    stride = -stride;
  }
  return one_copy("reversing copy", node, options.threads, src, from);
}

Offer make_pad(const Node& node, const KernelOptions& options) {
  const auto& attrs = node.attr<ops::PadAttrs>();
  const Shape &in = node.in().shape(), &out = node.type().shape;
  if (in.rank() > max_copy_rank) return refuse("more than ", max_copy_rank, " axes");
  // Padding by less than nothing leaves elements out: the rest is copied.
  const Dims src = in.strides(), dst = out.strides();
  Dims size, steps;
  int64_t from = 0, to = 0;
  for (int64_t axis = 0; axis < in.rank(); ++axis) {
    const auto i = static_cast<size_t>(axis);
    const int64_t lo = attrs.lo.empty() ? 0 : attrs.lo[i];
    const int64_t step = attrs.interior.empty() ? 1 : attrs.interior[i] + 1;
    const int64_t first = lo >= 0 ? 0 : (-lo + step - 1) / step;
    const int64_t start = lo + first * step;  // where the first element kept goes
    const int64_t fit = out[axis] <= start ? 0 : (out[axis] - start - 1) / step + 1;
    size.push_back(std::clamp<int64_t>(in[axis] - first, 0, fit));
    steps.push_back(dst[i] * step);
    from += first * src[i];
    to += start * dst[i];
  }
  auto kernel = std::make_unique<MoveKernel>("padding copy", node, options.threads);
  dispatch(node.type().dtype, [&](auto tag) {
    const auto value = convert<typename decltype(tag)::type>(attrs.value);
    kernel->fill(&value, out.count());
  });
  kernel->add(size, 0, src, from, steps, to);
  return {.kernel = std::move(kernel)};
}

Offer make_concat(const Node& node, const KernelOptions& options) {
  const Shape& out = node.type().shape;
  if (out.rank() > max_copy_rank) return refuse("more than ", max_copy_rank, " axes");
  const int64_t axis = node.attr<ops::AxisAttrs>().axis;
  const Dims dst = out.strides();
  auto kernel = std::make_unique<MoveKernel>("concat copy", node, options.threads);
  int64_t at = 0;
  for (size_t i = 0; i < node.input_count(); ++i) {
    const Shape& in = node.in(i).shape();
    kernel->add(in.dims(), i, in.strides(), 0, dst, at * dst[static_cast<size_t>(axis)]);
    at += in[axis];
  }
  return {.kernel = std::move(kernel)};
}

Offer make_dynamic_slice(const Node& node, const KernelOptions& options) {
  return make_window(node, false, options.threads);
}

Offer make_dynamic_update_slice(const Node& node, const KernelOptions& options) {
  return make_window(node, true, options.threads);
}

}  // namespace keratin::cpu
