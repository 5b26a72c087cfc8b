#include "keratin/ops/pool.h"

#include "keratin/backend/reference/windows.h"
#include "keratin/ops/records.h"
#include "keratin/ops/window_operands.h"
#include "keratin/tensor/elements.h"

namespace keratin::reference {

namespace {

using ops::PoolGeometry;

// Calls f(y, window) for every output element: its position, and `window`, which calls its own
// argument with (k, x) for each element of the window.
template <class F>
void for_each_output(const PoolGeometry& g, F&& f) {
  int64_t y = 0;
  const int64_t inputs = spatial_inputs(g.axes);
  for (int64_t n = 0; n < g.batch; ++n)
    for_each_index(spatial_output(g.axes), [&](const Dims& o) {
      for (int64_t c = 0; c < g.channels; ++c)
        f(y++, [&](auto&& visit) {
          for_each_in_window(g.axes, o, [&](int64_t k, int64_t i) {
            visit(k, (n * inputs + i) * g.channels + c);
          });
        });
    });
}

void store_where(const View& where, int64_t y, int64_t position) {
  if (where.dtype() == DType::u8)
    where.as<uint8_t>()[y] = static_cast<uint8_t>(position);
  else
    where.as<int32_t>()[y] = static_cast<int32_t>(position);
}
int64_t where_at(const View& where, int64_t y) {
  return where.dtype() == DType::u8 ? where.as<uint8_t>()[y] : where.as<int32_t>()[y];
}

void max_pool(const Node& node, const ops::MaxPoolOperands<View>& v) {
  const PoolGeometry g = ops::pool_geometry(node);
  dispatch(v.x.dtype(), [&](auto tag) {
    using S = typename decltype(tag)::type;
    const S* x = v.x.as<S>();
    const auto read = [&](int64_t i) { return static_cast<compute_t<S>>(x[i]); };
    for_each_output(g, [&](int64_t y, auto window) {
      int64_t where = -1, best = 0;
      window([&](int64_t k, int64_t i) {
        const auto known = read(best), next = read(i);
        if (where >= 0 && !(known == known && (next > known || next != next))) return;
        where = k;
        best = i;
      });
      if (v.y) v.y.as<S>()[y] = x[best];
      if (v.where) store_where(v.where, y, where);
    });
  });
}

template <class S>
double as_double(S value) {
  return static_cast<double>(static_cast<compute_t<S>>(value));
}

// Runs f(elements of `in`, geometry, totals), which adds to the totals of `out` in double, and
// stores these.
template <class F>
void total(const Node& node, const View& in, const View& out, F&& f) {
  std::vector<double> totals(static_cast<size_t>(out.shape().count()), 0);
  dispatch(out.dtype(), [&](auto tag) {
    using S = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<compute_t<S>>) {
      f(in.as<const S>(), ops::pool_geometry(node), totals);
      for (size_t i = 0; i < totals.size(); ++i)
        out.as<S>()[i] = static_cast<S>(static_cast<compute_t<S>>(totals[i]));
    }
  });
}

void max_unpool(const Node& node, const ops::MaxUnpoolOperands<View>& v) {
  total(node, v.dy, v.dx, [&](const auto* dy, const PoolGeometry& g, std::vector<double>& dx) {
    for_each_output(g, [&](int64_t y, auto window) {
      window([&](int64_t k, int64_t x) {
        if (k == where_at(v.where, y)) dx[static_cast<size_t>(x)] += as_double(dy[y]);
      });
    });
  });
}

void max_repool(const Node& node, const ops::MaxRepoolOperands<View>& v) {
  total(node, v.x, v.y, [&](const auto* x, const PoolGeometry& g, std::vector<double>& out) {
    for_each_output(g, [&](int64_t y, auto window) {
      window([&](int64_t k, int64_t i) {
        if (k == where_at(v.where, y)) out[static_cast<size_t>(y)] = as_double(x[i]);
      });
    });
  });
}

void avg_pool(const Node& node, const UnaryOperands<View>& v) {
  total(node, v.x, v.y, [&](const auto* x, const PoolGeometry& g, std::vector<double>& out) {
    for_each_output(g, [&](int64_t y, auto window) {
      double sum = 0, count = 0;
      window([&](int64_t, int64_t i) {
        sum += as_double(x[i]);
        ++count;
      });
      out[static_cast<size_t>(y)] = sum / count;
    });
  });
}

void avg_pool_grad(const Node& node, const UnaryOperands<View>& v) {
  total(node, v.x, v.y, [&](const auto* dy, const PoolGeometry& g, std::vector<double>& dx) {
    for_each_output(g, [&](int64_t y, auto window) {
      double count = 0;
      window([&](int64_t, int64_t) { ++count; });
      window([&](int64_t, int64_t i) { dx[static_cast<size_t>(i)] += as_double(dy[y]) / count; });
    });
  });
}

}  // namespace

extern const KernelDef max_pool_loop{.name = "max_pool",
                                     .ops = {&ops::max_pool_op},
                                     .make = make_loop<ops::MaxPoolOperands, max_pool>};
extern const KernelDef max_unpool_loop{.name = "max_unpool",
                                       .ops = {&ops::max_unpool_op},
                                       .make = make_loop<ops::MaxUnpoolOperands, max_unpool>};
extern const KernelDef max_repool_loop{.name = "max_repool",
                                       .ops = {&ops::max_repool_op},
                                       .make = make_loop<ops::MaxRepoolOperands, max_repool>};
extern const KernelDef avg_pool_loop{
    .name = "avg_pool", .ops = {&ops::avg_pool_op}, .make = make_loop<UnaryOperands, avg_pool>};
extern const KernelDef avg_pool_grad_loop{.name = "avg_pool_grad",
                                          .ops = {&ops::avg_pool_grad_op},
                                          .make = make_loop<UnaryOperands, avg_pool_grad>};

}  // namespace keratin::reference
