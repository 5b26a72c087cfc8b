#include "keratin/ops/pool.h"

#include "keratin/backend/reference/families.h"
#include "keratin/backend/reference/windows.h"
#include "keratin/ops/records.h"

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

void max_pool(const Call& call) {
  const PoolGeometry g = ops::pool_geometry(call.node);
  dispatch(call.node.type().dtype, [&](auto tag) {
    using S = typename decltype(tag)::type;
    const auto read = [&](int64_t i) { return static_cast<compute_t<S>>(call.in<S>(0)[i]); };
    for_each_output(g, [&](int64_t y, auto window) {
      int64_t where = -1, best = 0;
      window([&](int64_t k, int64_t x) {
        const auto known = read(best), next = read(x);
        if (where >= 0 && !(known == known && (next > known || next != next))) return;
        where = k;
        best = x;
      });
      if (call.out<S>(0) != nullptr) call.out<S>(0)[y] = call.in<S>(0)[best];
      if (call.out<void>(1) == nullptr) return;
      if (call.node.type(1).dtype == DType::u8) {
        call.out<uint8_t>(1)[y] = static_cast<uint8_t>(where);
      } else {
        call.out<int32_t>(1)[y] = static_cast<int32_t>(where);
      }
    });
  });
}

int64_t where_at(const Call& call, int64_t y) {
  return call.node.in(1).dtype() == DType::u8 ? call.in<uint8_t>(1)[y] : call.in<int32_t>(1)[y];
}

template <class S>
double number(S value) {
  return static_cast<double>(static_cast<compute_t<S>>(value));
}

template <class S>
void store(const Call& call, const std::vector<double>& totals) {
  for (size_t i = 0; i < totals.size(); ++i)
    call.out<S>()[i] = static_cast<S>(static_cast<compute_t<S>>(totals[i]));
}

// Runs f(tag, geometry, totals) for the float types and stores the totals, summed in double.
template <class F>
void total(const Call& call, F&& f) {
  std::vector<double> totals(static_cast<size_t>(call.node.type().shape.count()), 0);
  dispatch(call.node.type().dtype, [&](auto tag) {
    using S = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<compute_t<S>>) {
      f(call.in<S>(0), ops::pool_geometry(call.node), totals);
      store<S>(call, totals);
    }
  });
}

void max_unpool(const Call& call) {
  total(call, [&](const auto* dy, const PoolGeometry& g, std::vector<double>& dx) {
    for_each_output(g, [&](int64_t y, auto window) {
      window([&](int64_t k, int64_t x) {
        if (k == where_at(call, y)) dx[static_cast<size_t>(x)] += number(dy[y]);
      });
    });
  });
}

void max_repool(const Call& call) {
  total(call, [&](const auto* x, const PoolGeometry& g, std::vector<double>& out) {
    for_each_output(g, [&](int64_t y, auto window) {
      window([&](int64_t k, int64_t i) {
        if (k == where_at(call, y)) out[static_cast<size_t>(y)] = number(x[i]);
      });
    });
  });
}

void avg_pool(const Call& call) {
  total(call, [&](const auto* x, const PoolGeometry& g, std::vector<double>& out) {
    for_each_output(g, [&](int64_t y, auto window) {
      double sum = 0, count = 0;
      window([&](int64_t, int64_t i) {
        sum += number(x[i]);
        ++count;
      });
      out[static_cast<size_t>(y)] = sum / count;
    });
  });
}

void avg_pool_grad(const Call& call) {
  total(call, [&](const auto* dy, const PoolGeometry& g, std::vector<double>& dx) {
    for_each_output(g, [&](int64_t y, auto window) {
      double count = 0;
      window([&](int64_t, int64_t) { ++count; });
      window([&](int64_t, int64_t i) { dx[static_cast<size_t>(i)] += number(dy[y]) / count; });
    });
  });
}

constexpr Entry table[] = {
    {&ops::max_pool_op, max_pool},           {&ops::max_unpool_op, max_unpool},
    {&ops::max_repool_op, max_repool},       {&ops::avg_pool_op, avg_pool},
    {&ops::avg_pool_grad_op, avg_pool_grad},
};

}  // namespace

std::span<const Entry> pool_loops() { return table; }

}  // namespace keratin::reference
