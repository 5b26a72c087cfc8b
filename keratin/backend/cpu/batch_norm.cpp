#include "keratin/backend/cpu/call_kernel.h"
#include "keratin/backend/cpu/levels.h"
#include "keratin/backend/cpu/levels/norm.h"
#include "keratin/ops/norm_operands.h"
#include "keratin/ops/records.h"

// Batch norm with the channels last; over another axis it is decomposed.
namespace keratin::cpu {
namespace {

// What the three kernels hold: a matrix whose columns are normalised, and its statistics.
struct BatchColumns {
  int64_t rows, channels;
  double epsilon;
  int64_t scratch, statistic;  // bytes: of the routine's scratch, and of one statistic

  explicit BatchColumns(const Node& node) : rows(0), channels(node.in().shape().back()) {
    const Shape& shape = node.in().shape();
    const DType dtype = node.in().dtype();
    rows = shape.count(0, shape.rank() - 1);
    epsilon = node.attr<ops::BatchNormAttrs>().epsilon;
    scratch = batch_norm_scratch(dtype, rows, channels);
    statistic = channels * compute_bytes(dtype);
  }
};

std::optional<std::string> refuses_axis(const Node& node) {
  if (node.attr<ops::BatchNormAttrs>().axis == node.in().rank() - 1) return std::nullopt;
  return "expected the channels last";
}

std::string batch_text(const Node& node) { return text(node.name(), " ", node.in().shape()); }

Offer make_batch_norm_training(const Node& node, const KernelOptions& options) {
  const BatchColumns s(node);
  return offer_call<ops::BatchNormTrainingOperands>(
      node, batch_text(node),
      [routine = routines<BatchNormRoutines>().training[node.in().dtype()], s,
       threads = options.threads](const auto& v, void* scratch) {
        // The routine writes statistics that nobody uses to scratch memory.
        auto* const spare = static_cast<std::byte*>(scratch) + s.scratch;
        routine({.x = v.x.data(),
                 .gamma = v.scale.data(),
                 .beta = v.offset.data(),
                 .y = v.y.data(),
                 .mean = v.mean ? v.mean.data() : spare,
                 .var = v.variance ? v.variance.data() : spare + s.statistic,
                 .rows = s.rows,
                 .channels = s.channels,
                 .epsilon = s.epsilon,
                 .scratch = scratch,
                 .threads = threads});
      },
      {.scratch_bytes = static_cast<size_t>(s.scratch + 2 * s.statistic)});
}

Offer make_batch_norm_inference(const Node& node, const KernelOptions& options) {
  const BatchColumns s(node);
  return offer_call<ops::BatchNormInferenceOperands>(
      node, batch_text(node),
      [routine = routines<BatchNormRoutines>().inference[node.in().dtype()], s,
       threads = options.threads](const auto& v, void* scratch) {
        routine({.x = v.x.data(),
                 .gamma = v.scale.data(),
                 .beta = v.offset.data(),
                 .y = v.y.data(),
                 .mean = v.mean.data(),
                 .var = v.variance.data(),
                 .rows = s.rows,
                 .channels = s.channels,
                 .epsilon = s.epsilon,
                 .scratch = scratch,
                 .threads = threads});
      },
      {.scratch_bytes = static_cast<size_t>(s.scratch), .in_place = true});
}

Offer make_batch_norm_grad(const Node& node, const KernelOptions& options) {
  const BatchColumns s(node);
  return offer_call<ops::BatchNormGradOperands>(
      node, batch_text(node),
      [routine = routines<BatchNormRoutines>().grad[node.in().dtype()], s,
       threads = options.threads](const auto& v, void* scratch) {
        routine({.x = v.x.data(),
                 .gamma = v.scale.data(),
                 .dy = v.dy.data(),
                 .mean = v.mean.data(),
                 .var = v.variance.data(),
                 .dx = v.dx.data(),
                 .dgamma = v.dscale.data(),
                 .dbeta = v.doffset.data(),
                 .rows = s.rows,
                 .channels = s.channels,
                 .epsilon = s.epsilon,
                 .scratch = scratch,
                 .threads = threads});
      },
      {.scratch_bytes = static_cast<size_t>(s.scratch)});
}

}  // namespace

extern constinit const KernelDef batch_norm_training_kernel{
    .name = "batch norm of a batch",
    .ops = {&ops::batch_norm_training_op},
    .refuses = refuses_axis,
    .make = make_batch_norm_training,
};
extern constinit const KernelDef batch_norm_inference_kernel{
    .name = "batch norm",
    .ops = {&ops::batch_norm_inference_op},
    .refuses = refuses_axis,
    .make = make_batch_norm_inference,
};
extern constinit const KernelDef batch_norm_grad_kernel{
    .name = "batch norm gradient",
    .ops = {&ops::batch_norm_grad_op},
    .refuses = refuses_axis,
    .make = make_batch_norm_grad,
};

}  // namespace keratin::cpu
