#include "keratin/backend/cpu/levels/pool.h"

#include <cmath>
#include "keratin/tensor/elements.h"

#include "keratin/backend/cpu/levels/level_testing.h"

namespace keratin::cpu {
namespace {

PoolShape make_shape(int64_t batch, std::vector<int64_t> in, std::vector<int64_t> window,
                     std::vector<int64_t> stride, bool same, int64_t channels) {
  PoolShape s{.batch = batch, .channels = channels};
  for (size_t k = 0; k < 3; ++k) {
    s.in[k] = in[k], s.window[k] = window[k], s.stride[k] = stride[k];
    if (same) {
      s.out[k] = (in[k] + stride[k] - 1) / stride[k];
      s.pad[k] = std::max<int64_t>((s.out[k] - 1) * stride[k] + window[k] - in[k], 0) / 2;
    } else {
      s.out[k] = in[k] < window[k] ? 0 : (in[k] - window[k]) / stride[k] + 1;
      s.pad[k] = 0;
    }
  }
  return s;
}

const PoolShape all_shapes[] = {
    make_shape(2, {1, 6, 8}, {1, 2, 2}, {1, 2, 2}, false, 16),
    make_shape(3, {1, 7, 9}, {1, 2, 2}, {1, 2, 2}, true, 35),
    make_shape(2, {1, 7, 9}, {1, 3, 3}, {1, 2, 2}, true, 5),
    make_shape(2, {1, 9, 9}, {1, 3, 2}, {1, 1, 1}, true, 64),
    make_shape(2, {1, 1, 20}, {1, 1, 4}, {1, 1, 3}, false, 3),
    make_shape(1, {5, 6, 7}, {2, 3, 2}, {2, 1, 3}, true, 17),
    make_shape(1, {9, 9, 9}, {7, 7, 7}, {2, 2, 2}, false, 9),  // an index of 32 bits
    make_shape(0, {1, 4, 4}, {1, 2, 2}, {1, 2, 2}, false, 3),
    make_shape(2, {1, 4, 4}, {1, 2, 2}, {1, 2, 2}, false, 0),
    make_shape(2, {1, 9, 9}, {1, 2, 2}, {1, 4, 3}, false, 8),  // elements in no window
};

int64_t size_of_in(const PoolShape& s) {
  return s.batch * s.in[0] * s.in[1] * s.in[2] * s.channels;
}
int64_t size_of_out(const PoolShape& s) {
  return s.batch * s.out[0] * s.out[1] * s.out[2] * s.channels;
}

// Calls body(input position, output position, index in the window) for all that belong together.
template <class F>
void each_pair(const PoolShape& s, const F& body) {
  for (int64_t at = 0; at < size_of_out(s); ++at) {
    const int64_t c = at % s.channels, o2 = at / s.channels % s.out[2];
    const int64_t o1 = at / s.channels / s.out[2] % s.out[1];
    const int64_t o0 = at / s.channels / s.out[2] / s.out[1] % s.out[0];
    const int64_t n = at / s.channels / s.out[2] / s.out[1] / s.out[0];
    for (int64_t tap = 0; tap < s.window_size(); ++tap) {
      const int64_t i2 = o2 * s.stride[2] - s.pad[2] + tap % s.window[2];
      const int64_t i1 = o1 * s.stride[1] - s.pad[1] + tap / s.window[2] % s.window[1];
      const int64_t i0 = o0 * s.stride[0] - s.pad[0] + tap / s.window[2] / s.window[1];
      if (i0 < 0 || i0 >= s.in[0] || i1 < 0 || i1 >= s.in[1] || i2 < 0 || i2 >= s.in[2]) continue;
      const int64_t from = (((n * s.in[0] + i0) * s.in[1] + i1) * s.in[2] + i2) * s.channels + c;
      body(static_cast<size_t>(from), static_cast<size_t>(at), tap);
    }
  }
}

template <class T>
class PoolTest : public FloatRoutines<T> {};
TYPED_TEST_SUITE(PoolTest, FloatStorage);

template <class T, class Index>
void check_max(const PoolShape& s, bool with_nan) {
  auto x = random_values<T>(size_of_in(s), 1, -8, 8);
  for (T& v : x) v = convert<T>(std::trunc(value_of(v)));  // ties: the first wins
  for (size_t i = 3; with_nan && i < x.size(); i += 13) x[i] = convert<T>(std::nan(""));
  const auto dy = random_values<T>(size_of_out(s), 2);
  const auto n = static_cast<size_t>(size_of_out(s));
  std::vector<double> want(n, -INFINITY), want_dx(x.size());
  std::vector<Index> want_index(n);
  std::vector<size_t> source(n);
  std::vector<char> seen(n);
  each_pair(s, [&](size_t from, size_t to, int64_t tap) {
    const double v = value_of(x[from]);
    if (seen[to] && !(v > want[to] || (std::isnan(v) && !std::isnan(want[to])))) return;
    seen[to] = 1, want[to] = v, want_index[to] = static_cast<Index>(tap), source[to] = from;
  });
  for (size_t i = 0; i < n; ++i) want_dx[source[i]] += value_of(dy[i]);
  on_every_level(
      [&](Level level, int threads) {
        std::vector<T> y(n), plain(n), dx(x.size());
        std::vector<Index> index(n);
        routines<PoolRoutines>(level).max_pool[dtype_of<T>()](
            {x.data(), y.data(), index.data(), s, threads});
        routines<PoolRoutines>(level).max_pool[dtype_of<T>()](
            {x.data(), plain.data(), nullptr, s, threads});
        routines<PoolRoutines>(level).max_pool_grad[dtype_of<T>()](
            {dy.data(), index.data(), dx.data(), s, threads});
        if (!with_nan) expect_same_bits(y, plain);
        EXPECT_EQ(index, want_index);
        expect_close(dx, want_dx, 4);
        return y;
      },
      [&](const std::vector<T>& y) { expect_close(y, want, 0); });
}

TYPED_TEST(PoolTest, MaximumAndItsGradient) {
  for (const PoolShape& s : all_shapes) {
    for (const bool with_nan : {false, true}) {
      if (s.window_size() > 256) {
        check_max<TypeParam, int32_t>(s, with_nan);
      } else {
        check_max<TypeParam, uint8_t>(s, with_nan);
      }
    }
  }
}

TYPED_TEST(PoolTest, AverageAndItsGradient) {
  using T = TypeParam;
  for (const PoolShape& s : all_shapes) {
    const auto x = random_values<T>(size_of_in(s), 1);
    const auto dy = random_values<T>(size_of_out(s), 2);
    std::vector<double> want(dy.size()), want_dx(x.size()), count(dy.size());
    each_pair(s, [&](size_t, size_t to, int64_t) { ++count[to]; });
    each_pair(s, [&](size_t from, size_t to, int64_t) {
      want[to] += value_of(x[from]) / count[to];
      want_dx[from] += value_of(dy[to]) / count[to];
    });
    on_every_level(
        [&](Level level, int threads) {
          std::vector<T> y(dy.size()), dx(x.size());
          routines<PoolRoutines>(level).avg_pool[dtype_of<T>()]({x.data(), y.data(), s, threads});
          routines<PoolRoutines>(level).avg_pool_grad[dtype_of<T>()](
              {dy.data(), dx.data(), s, threads});
          expect_close(dx, want_dx, 8);
          return y;
        },
        [&](const std::vector<T>& y) { expect_close(y, want, 8); });
  }
}

}  // namespace
}  // namespace keratin::cpu
