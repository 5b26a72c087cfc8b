#include "keratin/backend/cpu/levels/copy.h"

#include <numeric>

#include "keratin/backend/cpu/levels/level_testing.h"

namespace keratin::cpu {
namespace {

using Dims = std::vector<int64_t>;

int64_t count_of(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

Dims dense_strides(const Dims& dims) {
  Dims strides(dims.size());
  int64_t stride = 1;
  for (size_t k = dims.size(); k-- > 0;) strides[k] = stride, stride *= dims[k];
  return strides;
}

struct Case {
  Dims size, src_stride, dst_stride;
  int64_t src_start = 0, dst_start = 0, src_count = 0, dst_count = 0;
};

Case transposed(const Dims& shape, const std::vector<size_t>& order) {
  Case c;
  const Dims strides = dense_strides(shape);
  for (const size_t k : order) c.size.push_back(shape[k]), c.src_stride.push_back(strides[k]);
  c.dst_stride = dense_strides(c.size);
  c.src_count = c.dst_count = count_of(shape);
  return c;
}

// The definition, element by element in bytes.
std::vector<uint8_t> naive(const Case& c, const std::vector<uint8_t>& src, int bytes) {
  std::vector<uint8_t> dst(static_cast<size_t>(c.dst_count * bytes), 0xee);
  const int64_t count = count_of(c.size);
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, from = c.src_start, to = c.dst_start;
    for (size_t k = c.size.size(); k-- > 0;) {
      from += rest % c.size[k] * c.src_stride[k];
      to += rest % c.size[k] * c.dst_stride[k];
      rest /= c.size[k];
    }
    std::memcpy(dst.data() + to * bytes, src.data() + from * bytes, static_cast<size_t>(bytes));
  }
  return dst;
}

void check(const Case& c) {
  for (const int bytes : {1, 2, 4, 8}) {
    std::vector<uint8_t> src(static_cast<size_t>(c.src_count * bytes));
    std::mt19937 engine(7);
    for (auto& b : src) b = static_cast<uint8_t>(engine());
    const CopyPlan plan = plan_copy(c.size, c.src_stride, c.dst_stride, bytes);
    on_every_level(
        [&](Level level, int threads) {
          std::vector<uint8_t> dst(static_cast<size_t>(c.dst_count * bytes), 0xee);
          routines<CopyRoutines>(level).copy(
              {&plan, src.data() + c.src_start * bytes, dst.data() + c.dst_start * bytes, threads});
          return dst;
        },
        [&](const std::vector<uint8_t>& dst) { EXPECT_EQ(dst, naive(c, src, bytes)) << bytes; });
  }
}

TEST(Copy, Transposes) {
  check(transposed({5, 7}, {1, 0}));
  check(transposed({64, 64}, {1, 0}));
  check(transposed({333, 130}, {1, 0}));
  check(transposed({3, 40, 50}, {0, 2, 1}));
  check(transposed({17, 5, 9}, {2, 0, 1}));
  check(transposed({17, 5, 9}, {2, 1, 0}));
  check(transposed({6, 35, 33, 4}, {0, 2, 1, 3}));
  check(transposed({2, 35, 33, 3}, {0, 3, 1, 2}));
  check(transposed({2, 3, 4, 5, 6}, {4, 2, 0, 3, 1}));
  check(transposed({1, 1, 1}, {2, 1, 0}));
  check(transposed({}, {}));
  check(transposed({3, 0, 2}, {2, 1, 0}));
}

TEST(Copy, SlicesPadsReversesAndBroadcasts) {
  check({{10, 20}, {40, 2}, {20, 1}, 5, 0, 500, 200});            // a slice with steps
  check({{10, 20}, {20, 1}, {30, 1}, 0, 35, 200, 400});           // into the middle of a pad
  check({{10, 20}, {20, 1}, {60, 3}, 0, 1, 200, 700});            // interior padding
  check({{100, 33}, {33, -1}, {33, 1}, 32, 0, 3300, 3300});       // reversed inside
  check({{100, 33}, {-33, 1}, {33, 1}, 3267, 0, 3300, 3300});     // reversed outside
  check({{70, 50, 3}, {0, 1, 0}, {150, 3, 1}, 0, 0, 50, 10500});  // broadcast
  check({{1000, 40}, {0, 1}, {40, 1}, 0, 0, 40, 40000});
  check({{100000}, {1}, {1}, 3, 2, 100003, 100010});  // plain
}

// Rows that are copied as one wide element, from an address where such an element is not aligned.
TEST(Copy, TakesUnalignedAddresses) {
  check({.size = {3, 2, 4},
         .src_stride = {16, 4, 1},
         .dst_stride = {8, 4, 1},
         .src_start = 1,
         .dst_start = 3,
         .src_count = 49,
         .dst_count = 27});
  check({.size = {5, 6, 4},
         .src_stride = {4, 20, 1},
         .dst_stride = {24, 4, 1},
         .src_start = 1,
         .dst_start = 1,
         .src_count = 121,
         .dst_count = 121});
}

TEST(Copy, MergesAxes) {
  const CopyPlan plain = plan_copy(Dims{2, 3, 4}, Dims{12, 4, 1}, Dims{12, 4, 1}, 4);
  EXPECT_EQ(plain.rank, 1);
  EXPECT_EQ(plain.size[0], 24);
  const CopyPlan swap = plan_copy(Dims{30, 20, 4}, Dims{4, 120, 1}, Dims{80, 4, 1}, 4);
  EXPECT_EQ(swap.rank, 2);
  EXPECT_EQ(swap.element_bytes, 16);
  EXPECT_TRUE(swap.tiled);
}

TEST(Copy, RefusesTooManyAxes) {
  const Dims size(13, 2), strides = dense_strides(size);
  EXPECT_THROW(plan_copy(size, strides, strides, 4), InternalError);
}

TEST(Fill, WritesEveryElement) {
  for (const int64_t count : {0, 1, 3, 100, 70000}) {
    on_every_level(
        [&](Level level, int threads) {
          std::vector<float> out(static_cast<size_t>(count) + 1, -1);
          const float value = 2.5f;
          routines<CopyRoutines>(level).fill({out.data(), &value, count, 4, threads});
          return out;
        },
        [&](const std::vector<float>& out) {
          std::vector<float> want(static_cast<size_t>(count), 2.5f);
          want.push_back(-1);
          EXPECT_EQ(out, want);
        });
  }
}

}  // namespace
}  // namespace keratin::cpu
