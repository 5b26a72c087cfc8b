#include "keratin/backend/cpu/levels/pool.h"

#include "keratin/backend/cpu/call_kernel.h"
#include "keratin/backend/cpu/levels.h"
#include "keratin/ops/pool.h"
#include "keratin/ops/records.h"
#include "keratin/ops/window_operands.h"

// Pooling, channels last.
namespace keratin::cpu {
namespace {

PoolShape pool_shape(const Node& node) {
  const ops::PoolGeometry g = ops::pool_geometry(node);
  PoolShape s{.batch = g.batch, .channels = g.channels};
  for (size_t k = 0; k < 3; ++k) {
    const ops::WindowAxis& axis = g.axes[k];
    s.in[k] = axis.input, s.out[k] = axis.output, s.window[k] = axis.window;
    s.stride[k] = axis.stride, s.pad[k] = axis.low;
  }
  return s;
}

// A kernel that calls run(shape, operands, threads).
template <template <class> class Operands, class Run>
Offer offer_pool(const Node& node, const char* what, const KernelOptions& options, Run run) {
  if (!is_float(node.type().dtype)) return refuse("expected floats, got ", node.type().dtype);
  return offer_call<Operands>(
      node, what, [run, shape = pool_shape(node), threads = options.threads](const auto& v) {
        run(shape, v, threads);
      });
}

Offer make_max_pool(const Node& node, const KernelOptions& options) {
  const auto routine = routines<PoolRoutines>().max_pool[node.type().dtype];
  return offer_pool<ops::MaxPoolOperands>(
      node, "max pool", options, [routine](const PoolShape& shape, const auto& v, int threads) {
        routine({.x = v.x.data(),
                 .y = v.y.data(),
                 .index = v.where.data(),
                 .shape = shape,
                 .threads = threads});
      });
}

Offer make_max_unpool(const Node& node, const KernelOptions& options) {
  const auto routine = routines<PoolRoutines>().max_pool_grad[node.type().dtype];
  return offer_pool<ops::MaxUnpoolOperands>(
      node, "max unpool", options, [routine](const PoolShape& shape, const auto& v, int threads) {
        routine({.dy = v.dy.data(),
                 .index = v.where.data(),
                 .dx = v.dx.data(),
                 .shape = shape,
                 .threads = threads});
      });
}

Offer make_avg_pool(const Node& node, const KernelOptions& options) {
  const auto routine = routines<PoolRoutines>().avg_pool[node.type().dtype];
  return offer_pool<UnaryOperands>(
      node, "average pool", options, [routine](const PoolShape& shape, const auto& v, int threads) {
        routine({.x = v.x.data(), .y = v.y.data(), .shape = shape, .threads = threads});
      });
}

Offer make_avg_pool_grad(const Node& node, const KernelOptions& options) {
  const auto routine = routines<PoolRoutines>().avg_pool_grad[node.type().dtype];
  return offer_pool<UnaryOperands>(
      node, "average unpool", options,
      [routine](const PoolShape& shape, const auto& v, int threads) {
        routine({.dy = v.x.data(), .dx = v.y.data(), .shape = shape, .threads = threads});
      });
}

}  // namespace

extern constinit const KernelDef max_pool_kernel{
    .name = "max pool",
    .ops = {&ops::max_pool_op},
    .make = make_max_pool,
};
extern constinit const KernelDef max_unpool_kernel{
    .name = "max unpool",
    .ops = {&ops::max_unpool_op},
    .make = make_max_unpool,
};
extern constinit const KernelDef avg_pool_kernel{
    .name = "average pool",
    .ops = {&ops::avg_pool_op},
    .make = make_avg_pool,
};
extern constinit const KernelDef avg_pool_grad_kernel{
    .name = "average pool gradient",
    .ops = {&ops::avg_pool_grad_op},
    .make = make_avg_pool_grad,
};

}  // namespace keratin::cpu
