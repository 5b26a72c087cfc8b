#include "keratin/backend/cpu/call_kernel.h"
#include "keratin/backend/cpu/levels.h"
#include "keratin/backend/cpu/levels/norm.h"
#include "keratin/ops/norm_operands.h"
#include "keratin/ops/records.h"

// Layer norm and rms norm over the last axes; over others they are decomposed.
namespace keratin::cpu {
namespace {

// Rows, each of which is normalised by itself.
struct LayerSizes {
  int64_t rows, cols;
};

LayerSizes layer_sizes(const Node& node) {
  const Shape& shape = node.in().shape();
  const int64_t first = node.attr<ops::LayerNormAttrs>().axes.front();
  return {shape.count(0, first), shape.count(first, shape.rank())};
}

std::optional<std::string> refuses_axes(const Node& node) {
  const Dims& axes = node.attr<ops::LayerNormAttrs>().axes;
  const bool last = axes.back() == node.in().rank() - 1 &&
                    axes.back() - axes.front() + 1 == static_cast<int64_t>(axes.size());
  if (last) return std::nullopt;
  return "expected the last axes";
}

std::string layer_text(const Node& node) { return text(node.name(), " ", node.in().shape()); }

Offer make_layer_norm(const Node& node, const KernelOptions& options) {
  return offer_call<ops::LayerNormOperands>(
      node, layer_text(node),
      [routine = routines<LayerNormRoutines>().layer_norm[node.in().dtype()], s = layer_sizes(node),
       epsilon = node.attr<ops::LayerNormAttrs>().epsilon,
       threads = options.threads](const auto& v) {
        routine({.x = v.x.data(),
                 .gamma = v.scale.data(),
                 .beta = v.offset.data(),
                 .y = v.y.data(),
                 .mean = v.mean.data(),
                 .rstd = v.rstd.data(),
                 .rows = s.rows,
                 .cols = s.cols,
                 .epsilon = epsilon,
                 .threads = threads});
      });
}

Offer make_rms_norm(const Node& node, const KernelOptions& options) {
  return offer_call<ops::RmsNormOperands>(
      node, layer_text(node),
      [routine = routines<LayerNormRoutines>().rms_norm[node.in().dtype()], s = layer_sizes(node),
       epsilon = node.attr<ops::LayerNormAttrs>().epsilon,
       threads = options.threads](const auto& v) {
        routine({.x = v.x.data(),
                 .gamma = v.scale.data(),
                 .beta = nullptr,
                 .y = v.y.data(),
                 .mean = nullptr,
                 .rstd = v.rstd.data(),
                 .rows = s.rows,
                 .cols = s.cols,
                 .epsilon = epsilon,
                 .threads = threads});
      });
}

CallTraits grad_traits(const Node& node, const LayerSizes& s) {
  const int64_t bytes = layer_norm_grad_scratch(node.in().dtype(), s.rows, s.cols);
  return {.scratch_bytes = static_cast<size_t>(bytes)};
}

Offer make_layer_norm_grad(const Node& node, const KernelOptions& options) {
  const LayerSizes s = layer_sizes(node);
  return offer_call<ops::LayerNormGradOperands>(
      node, layer_text(node),
      [routine = routines<LayerNormRoutines>().layer_norm_grad[node.in().dtype()], s,
       threads = options.threads](const auto& v, void* scratch) {
        routine({.x = v.x.data(),
                 .gamma = v.scale.data(),
                 .dy = v.dy.data(),
                 .mean = v.mean.data(),
                 .rstd = v.rstd.data(),
                 .dx = v.dx.data(),
                 .dgamma = v.dscale.data(),
                 .dbeta = v.doffset.data(),
                 .rows = s.rows,
                 .cols = s.cols,
                 .scratch = scratch,
                 .threads = threads});
      },
      grad_traits(node, s));
}

Offer make_rms_norm_grad(const Node& node, const KernelOptions& options) {
  const LayerSizes s = layer_sizes(node);
  return offer_call<ops::RmsNormGradOperands>(
      node, layer_text(node),
      [routine = routines<LayerNormRoutines>().rms_norm_grad[node.in().dtype()], s,
       threads = options.threads](const auto& v, void* scratch) {
        routine({.x = v.x.data(),
                 .gamma = v.scale.data(),
                 .dy = v.dy.data(),
                 .mean = nullptr,
                 .rstd = v.rstd.data(),
                 .dx = v.dx.data(),
                 .dgamma = v.dscale.data(),
                 .dbeta = nullptr,
                 .rows = s.rows,
                 .cols = s.cols,
                 .scratch = scratch,
                 .threads = threads});
      },
      grad_traits(node, s));
}

}  // namespace

extern constinit const KernelDef layer_norm_kernel{
    .name = "layer norm",
    .ops = {&ops::layer_norm_op},
    .refuses = refuses_axes,
    .make = make_layer_norm,
};
extern constinit const KernelDef layer_norm_grad_kernel{
    .name = "layer norm gradient",
    .ops = {&ops::layer_norm_grad_op},
    .refuses = refuses_axes,
    .make = make_layer_norm_grad,
};
extern constinit const KernelDef rms_norm_kernel{
    .name = "rms norm",
    .ops = {&ops::rms_norm_op},
    .refuses = refuses_axes,
    .make = make_rms_norm,
};
extern constinit const KernelDef rms_norm_grad_kernel{
    .name = "rms norm gradient",
    .ops = {&ops::rms_norm_grad_op},
    .refuses = refuses_axes,
    .make = make_rms_norm_grad,
};

}  // namespace keratin::cpu
