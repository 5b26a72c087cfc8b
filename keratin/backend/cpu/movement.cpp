#include "keratin/ops/movement.h"

#include <algorithm>
#include <cstring>

#include "keratin/backend/cpu/call_kernel.h"
#include "keratin/backend/cpu/levels.h"
#include "keratin/backend/cpu/levels/copy.h"
#include "keratin/ops/indexing_operands.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/records.h"
#include "keratin/ops/slicing.h"
#include "keratin/tensor/elements.h"

// Ops that move elements: each is one or more strided copies, and a fill where there is padding.
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
      : node_(node),
        what_(std::move(what)),
        element_bytes_(static_cast<int>(size_of(node.type().dtype))),
        threads_(threads) {}

  std::string describe() const override { return what_; }
  Launch bind(Pointers pointers) const override {
    return [this, views = operands<JoinOperands>(node_, pointers)] { run(views); };
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
  void run(const JoinOperands<View>& views) const {
    auto* const out = static_cast<std::byte*>(views.y.data());
    if (fill_count_ > 0) {
      routines_.fill({.dst = out,
                      .value = fill_value_,
                      .count = fill_count_,
                      .element_bytes = element_bytes_,
                      .threads = threads_});
    }
    for (const Piece& piece : pieces_) {
      const auto* const in = static_cast<const std::byte*>(views.inputs[piece.input].data());
      routines_.copy({.plan = &piece.plan,
                      .src = in + piece.from,
                      .dst = out + piece.to,
                      .threads = threads_});
    }
  }

  const Node& node_;
  std::string what_;
  int element_bytes_;
  int threads_;
  const CopyRoutines& routines_ = routines<CopyRoutines>();
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
  auto kernel = std::make_unique<MoveKernel>(std::move(what), node, threads);
  kernel->add(out.dims(), 0, src, from, out.strides(), 0);
  return {.kernel = std::move(kernel)};
}

// A copy between a tensor and a window of it that starts where the program says, moved so that it
// lies inside.
class WindowCopy {
 public:
  WindowCopy(Value whole, Value window, Value start, bool into_whole, int threads)
      : start_dtype_(start.dtype()), threads_(threads) {
    const auto bytes = static_cast<int64_t>(size_of(whole.dtype()));
    const Dims strides = whole.shape().strides(), dense = window.shape().strides();
    empty_ = window.shape().count() == 0;
    for (int64_t i = 0; i < whole.rank(); ++i)
      room_.push_back(whole.shape()[i] - window.shape()[i]);
    plan_ = plan_copy(window.shape().dims(), into_whole ? dense : strides,
                      into_whole ? strides : dense, static_cast<int>(bytes));
    for (const int64_t stride : strides) byte_strides_.push_back(stride * bytes);
  }

  // Where the window begins, in bytes from the start of the whole tensor.
  int64_t offset(const void* start) const {
    int64_t offset = 0;
    for (size_t i = 0; i < room_.size(); ++i) {
      const int64_t at = start_dtype_ == DType::i32 ? static_cast<const int32_t*>(start)[i]
                                                    : static_cast<const int64_t*>(start)[i];
      offset += std::clamp<int64_t>(at, 0, room_[i]) * byte_strides_[i];
    }
    return offset;
  }
  void copy(const std::byte* src, std::byte* dst) const {
    if (!empty_) copy_({.plan = &plan_, .src = src, .dst = dst, .threads = threads_});
  }

 private:
  DType start_dtype_;
  int threads_;
  bool empty_ = false;
  CopyPlan plan_;
  Dims room_, byte_strides_;
  void (*copy_)(const CopyArgs&) = routines<CopyRoutines>().copy;
};

// The rank that the copying routine is made for.
std::optional<std::string> refuses_rank(const Node& node) {
  if (std::max(node.in().rank(), node.type().shape.rank()) <= max_copy_rank) return std::nullopt;
  return text("expected at most ", max_copy_rank, " axes");
}

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
  // Negative padding leaves elements out: the rest is copied.
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
  const auto values = operands<ops::DynamicSliceOperands>(node);
  return offer_call<ops::DynamicSliceOperands>(
      node, "copy of a window",
      [window =
           WindowCopy(values.x, values.y, values.start, false, options.threads)](const auto& v) {
        const auto* const x = static_cast<const std::byte*>(v.x.data());
        window.copy(x + window.offset(v.start.data()), static_cast<std::byte*>(v.y.data()));
      });
}

Offer make_dynamic_update_slice(const Node& node, const KernelOptions& options) {
  const auto values = operands<ops::DynamicUpdateSliceOperands>(node);
  const CopyPlan all{
      .rank = 1,
      .element_bytes = 1,
      .size = {values.x.shape().count() * static_cast<int64_t>(size_of(values.x.dtype()))},
      .src_stride = {1},
      .dst_stride = {1}};
  return offer_call<ops::DynamicUpdateSliceOperands>(
      node, "copy into a window",
      [all, copy = routines<CopyRoutines>().copy, threads = options.threads,
       window = WindowCopy(values.x, values.update, values.start, true, options.threads)](
          const auto& v) {
        auto* const y = static_cast<std::byte*>(v.y.data());
        // The start may live in what is written over, so it is read first.
        const int64_t to = window.offset(v.start.data());
        if (v.x.data() != y && all.size[0] > 0)
          copy({.plan = &all, .src = v.x.data(), .dst = y, .threads = threads});
        window.copy(static_cast<const std::byte*>(v.update.data()), y + to);
      },
      {.in_place = true});
}

}  // namespace

extern constinit const KernelDef transpose_kernel{
    .name = "transpose",
    .ops = {&ops::transpose_op},
    .refuses = refuses_rank,
    .make = make_transpose,
};
extern constinit const KernelDef broadcast_kernel{
    .name = "broadcast",
    .ops = {&ops::broadcast_to_op},
    .refuses = refuses_rank,
    .make = make_broadcast_to,
};
extern constinit const KernelDef slice_kernel{
    .name = "slice",
    .ops = {&ops::slice_op},
    .refuses = refuses_rank,
    .make = make_slice,
};
extern constinit const KernelDef reverse_kernel{
    .name = "reverse",
    .ops = {&ops::reverse_op},
    .refuses = refuses_rank,
    .make = make_reverse,
};
extern constinit const KernelDef pad_kernel{
    .name = "pad",
    .ops = {&ops::pad_op},
    .refuses = refuses_rank,
    .make = make_pad,
};
extern constinit const KernelDef concat_kernel{
    .name = "concat",
    .ops = {&ops::concat_op},
    .refuses = refuses_rank,
    .make = make_concat,
};
extern constinit const KernelDef dynamic_slice_kernel{
    .name = "dynamic slice",
    .ops = {&ops::dynamic_slice_op},
    .refuses = refuses_rank,
    .make = make_dynamic_slice,
};
extern constinit const KernelDef dynamic_update_slice_kernel{
    .name = "dynamic update slice",
    .ops = {&ops::dynamic_update_slice_op},
    .refuses = refuses_rank,
    .make = make_dynamic_update_slice,
};

}  // namespace keratin::cpu
