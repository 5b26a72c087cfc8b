#include "keratin/backend/cpu/pool.h"

#include "keratin/backend/cpu/call_kernel.h"
#include "keratin/backend/cpu/kernel_table.h"
#include "keratin/backend/cpu/kernels.h"
#include "keratin/ops/pool.h"

namespace keratin::cpu {
namespace {

PoolShape shape_of(const Node& node) {
  const ops::PoolGeometry g = ops::pool_geometry(node);
  PoolShape s{.batch = g.batch, .channels = g.channels};
  for (size_t k = 0; k < 3; ++k) {
    const ops::WindowAxis& axis = g.axes[k];
    s.in[k] = axis.input, s.out[k] = axis.output, s.window[k] = axis.window;
    s.stride[k] = axis.stride, s.pad[k] = axis.low;
  }
  return s;
}

// run(shape, pointers, threads), where the kernel serves the type.
template <class Run>
Offer offer(const char* what, const Node& node, const KernelOptions& options, Run run) {
  if (!is_float(node.type().dtype)) return refuse("pooling of ", node.type().dtype);
  return offer_call(what, [run, shape = shape_of(node), threads = options.threads](Pointers p) {
    run(shape, p, threads);
  });
}

}  // namespace

Offer make_max_pool(const Node& node, const KernelOptions& options) {
  const auto kernel = kernels().pool.max_pool[node.type().dtype];
  return offer("max pool", node, options, [=](const PoolShape& s, Pointers p, int threads) {
    kernel({p[0], p[1], p[2], s, threads});
  });
}

Offer make_max_unpool(const Node& node, const KernelOptions& options) {
  const auto kernel = kernels().pool.max_pool_grad[node.type().dtype];
  return offer("max unpool", node, options, [=](const PoolShape& s, Pointers p, int threads) {
    kernel({p[0], p[1], p[2], s, threads});
  });
}

Offer make_avg_pool(const Node& node, const KernelOptions& options) {
  const auto kernel = kernels().pool.avg_pool[node.type().dtype];
  return offer("average pool", node, options, [=](const PoolShape& s, Pointers p, int threads) {
    kernel({p[0], p[1], s, threads});
  });
}

Offer make_avg_pool_grad(const Node& node, const KernelOptions& options) {
  const auto kernel = kernels().pool.avg_pool_grad[node.type().dtype];
  return offer("average unpool", node, options, [=](const PoolShape& s, Pointers p, int threads) {
    kernel({p[0], p[1], s, threads});
  });
}

}  // namespace keratin::cpu
