#include "keratin/ops/norm.h"

#include "keratin/backend/cpu/call_kernel.h"
#include "keratin/backend/cpu/kernel_table.h"
#include "keratin/backend/cpu/kernels.h"
#include "keratin/backend/cpu/norm.h"
#include "keratin/base/text.h"
#include "keratin/ops/records.h"

namespace keratin::cpu {
namespace {

// Rows that are normalised each for itself, or columns for batch norm.
struct Sizes {
  int64_t rows, cols;
};

Sizes layer_sizes(const Node& node) {
  const Shape& shape = node.in().shape();
  const int64_t first = node.attr<ops::LayerNormAttrs>().axes.front();
  return {shape.count(0, first), shape.count(first, shape.rank())};
}

Sizes batch_sizes(const Node& node) {
  const Shape& shape = node.in().shape();
  return {shape.count(0, shape.rank() - 1), shape.back()};
}

// The inputs after the first `before`, null where an attribute says that there is none.
struct Parameters {
  const void* scale;
  const void* offset;
};
template <class Attrs>
Parameters parameters(const Attrs& attrs, Pointers p, size_t before) {
  const void* const scale = attrs.scale ? p[before] : nullptr;
  const void* const offset = attrs.offset ? p[before + (attrs.scale ? 1 : 0)] : nullptr;
  return {scale, offset};
}

}  // namespace

bool claims_layer_norm(const Node& node) {
  const Dims& axes = node.attr<ops::LayerNormAttrs>().axes;
  return axes.back() == node.in().rank() - 1 &&
         axes.back() - axes.front() + 1 == static_cast<int64_t>(axes.size());
}

Offer make_layer_norm(const Node& node, const KernelOptions& options) {
  if (!claims_layer_norm(node)) return refuse("axes other than the last ones");
  const bool rms = &node.op() == &ops::rms_norm_op;
  const NormKernels& table = kernels().norm;
  const auto kernel = (rms ? table.rms_norm : table.layer_norm)[node.in().dtype()];
  return offer_call(
      text(node.name(), " ", node.in().shape()),
      [=, attrs = node.attr<ops::LayerNormAttrs>(), s = layer_sizes(node), out = node.input_count(),
       threads = options.threads](Pointers p) {
        const auto [scale, offset] = parameters(attrs, p, 1);
        void* const mean = rms ? nullptr : p[out + 1];
        void* const rstd = p[out + (rms ? 1 : 2)];
        kernel({p[0], scale, offset, p[out], mean, rstd, s.rows, s.cols, attrs.epsilon, threads});
      });
}

Offer make_layer_norm_grad(const Node& node, const KernelOptions& options) {
  if (!claims_layer_norm(node)) return refuse("axes other than the last ones");
  const bool rms = &node.op() == &ops::rms_norm_grad_op;
  const NormKernels& table = kernels().norm;
  const DType dtype = node.in().dtype();
  const auto kernel = (rms ? table.rms_norm_grad : table.layer_norm_grad)[dtype];
  const Sizes s = layer_sizes(node);
  return offer_call(
      text(node.name(), " ", node.in().shape()),
      [=, attrs = node.attr<ops::LayerNormAttrs>(), out = node.input_count(),
       threads = options.threads](Pointers p) {
        const void* const mean = rms ? nullptr : p[1];
        const size_t rstd = rms ? 1 : 2, results = rms ? 2 : 3;
        void* const doffset = rms ? nullptr : p[out + 2];
        kernel({p[0], parameters(attrs, p, rstd + 2).scale, p[rstd + 1], mean, p[rstd], p[out],
                p[out + 1], doffset, s.rows, s.cols, p[out + results], threads});
      },
      {.scratch_bytes = static_cast<size_t>(layer_norm_grad_scratch(dtype, s.rows, s.cols))});
}

bool claims_batch_norm(const Node& node) {
  return node.attr<ops::BatchNormAttrs>().axis == node.in().rank() - 1;
}

Offer make_batch_norm_training(const Node& node, const KernelOptions& options) {
  if (!claims_batch_norm(node)) return refuse("channels that are not last");
  const DType dtype = node.in().dtype();
  const Sizes s = batch_sizes(node);
  const int64_t scratch = batch_norm_scratch(dtype, s.rows, s.cols);
  const int64_t statistic = s.cols * compute_bytes(dtype);
  return offer_call(
      text(node.name(), " ", node.in().shape()),
      [=, kernel = kernels().norm.batch_norm_train[dtype], attrs = node.attr<ops::BatchNormAttrs>(),
       out = node.input_count(), threads = options.threads](Pointers p) {
        const auto [scale, offset] = parameters(attrs, p, 1);
        // Statistics that nobody asked for go where nobody looks.
        auto* const spare = static_cast<std::byte*>(p[out + 3]) + scratch;
        void* const mean = p[out + 1] ? p[out + 1] : spare;
        void* const variance = p[out + 2] ? p[out + 2] : spare + statistic;
        kernel({p[0], scale, offset, p[out], mean, variance, s.rows, s.cols, attrs.epsilon,
                p[out + 3], threads});
      },
      {.scratch_bytes = static_cast<size_t>(scratch + 2 * statistic)});
}

Offer make_batch_norm_inference(const Node& node, const KernelOptions& options) {
  if (!claims_batch_norm(node)) return refuse("channels that are not last");
  const DType dtype = node.in().dtype();
  const Sizes s = batch_sizes(node);
  return offer_call(
      text(node.name(), " ", node.in().shape()),
      [=, kernel = kernels().norm.batch_norm_infer[dtype], attrs = node.attr<ops::BatchNormAttrs>(),
       out = node.input_count(), threads = options.threads](Pointers p) {
        const auto [scale, offset] = parameters(attrs, p, 3);
        kernel({p[0], scale, offset, p[out], p[1], p[2], s.rows, s.cols, attrs.epsilon, p[out + 1],
                threads});
      },
      {.scratch_bytes = static_cast<size_t>(batch_norm_scratch(dtype, s.rows, s.cols)),
       .in_place = true});
}

Offer make_batch_norm_grad(const Node& node, const KernelOptions& options) {
  if (!claims_batch_norm(node)) return refuse("channels that are not last");
  const DType dtype = node.in().dtype();
  const Sizes s = batch_sizes(node);
  return offer_call(
      text(node.name(), " ", node.in().shape()),
      [=, kernel = kernels().norm.batch_norm_grad[dtype], attrs = node.attr<ops::BatchNormAttrs>(),
       out = node.input_count(), threads = options.threads](Pointers p) {
        kernel({p[0], parameters(attrs, p, 4).scale, p[3], p[1], p[2], p[out], p[out + 1],
                p[out + 2], s.rows, s.cols, attrs.epsilon, p[out + 3], threads});
      },
      {.scratch_bytes = static_cast<size_t>(batch_norm_scratch(dtype, s.rows, s.cols))});
}

}  // namespace keratin::cpu
