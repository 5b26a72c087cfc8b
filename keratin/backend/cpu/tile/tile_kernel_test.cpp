#include "keratin/backend/cpu/tile/tile_kernel.h"

#include <cmath>

#include "keratin/backend/cpu/levels/level_testing.h"

namespace keratin::cpu {
namespace {

struct TileCase {
  int64_t rows, vectors, tail;  // tail: columns taken off the last vector
  std::vector<int64_t> ks;      // of the segments
  bool transposed_a = false;
  bool whole_b = false;
  bool unrolled = false;
  bool copy_b = false;
  bool fetch_c = false;
  std::vector<TilePost> post;
  bool accumulate = false;
  std::vector<uint32_t> masks;  // the rows that each segment feeds; none: all of them
};

// Everything a kernel of the case reads and writes, in a layout with gaps.
template <class T>
struct TileRun {
  TileSpec spec;
  std::vector<TileSegment> segments;
  std::vector<int64_t> counts;
  std::vector<T> a, b, c, bias, addend, gate, b_copy;

  TileRun(const TileCase& test, Level level) {
    const int64_t lanes = tile_lanes(level, dtype_of<T>());
    const int64_t columns = test.vectors * lanes - std::min(test.tail, lanes - 1);
    const int64_t width = test.vectors * lanes;
    int64_t total = 0;
    for (const int64_t k : test.ks) total += k;
    const int64_t a_step = test.transposed_a ? test.rows + 2 : 1;
    const int64_t b_step = test.whole_b ? width : columns;
    spec = {.level = level,
            .dtype = dtype_of<T>(),
            .a_step = a_step,
            .b_step = b_step,
            .columns = columns,
            .whole_b = test.whole_b,
            .copy_b = test.copy_b,
            .fetch_c = test.fetch_c,
            .post = test.post,
            .scale = 0.375,
            .cap = 0.125};
    for (int64_t i = 0; i < test.rows; ++i) {
      spec.a_rows.push_back(test.transposed_a ? i : i * (total + 3));
      spec.c_rows.push_back(i * (columns + 6) + (i % 2) * 5);
    }
    int64_t k0 = 0;
    const auto size = static_cast<int64_t>(sizeof(T));
    for (const int64_t k : test.ks) {
      segments.push_back({k0 * a_step * size, k0 * b_step * size, k});
      k0 += k;
    }
    make_classes(test);
    a = random_values<T>((total + 3) * (test.rows + 2), 1);
    b = random_values<T>(total * b_step + 1, 2);
    c = random_values<T>(test.rows * (columns + 6), 3);
    b_copy.assign(static_cast<size_t>(total * width + 1), T(99));
    bias = random_values<T>(columns, 4);
    addend = random_values<T>(static_cast<int64_t>(c.size()), 5);
    gate = random_values<T>(static_cast<int64_t>(c.size()), 6);
    gate[0] = T(0);
    gate[1] = T(NAN);
  }

  void make_classes(const TileCase& test) {
    spec.unrolled = test.unrolled;
    counts = {static_cast<int64_t>(segments.size())};
    if (!test.masks.empty()) {
      spec.classes.clear();
      for (const uint32_t mask : test.masks) spec.classes.push_back({.rows = mask});
      counts.assign(segments.size(), 1);
    }
    for (size_t i = 0; test.unrolled && i < segments.size(); ++i) {
      spec.classes[test.masks.empty() ? 0 : i].segments.push_back(segments[i]);
    }
  }

  std::vector<double> expected(const TileCase& test) const {
    std::vector<double> want(c.begin(), c.end());
    for (size_t i = 0; i < spec.a_rows.size(); ++i) {
      for (int64_t j = 0; j < spec.columns; ++j) {
        const auto at = static_cast<size_t>(spec.c_rows[i] + j);
        double sum = test.accumulate ? want[at] : 0;
        for (size_t n = 0; n < segments.size(); ++n) {
          const TileSegment& s = segments[n];
          if (!test.masks.empty() && (test.masks[n] >> i & 1U) == 0) continue;
          for (int64_t k = 0; k < s.k; ++k) {
            const auto x = s.a / int64_t(sizeof(T)) + spec.a_rows[i] + k * spec.a_step;
            const auto y = s.b / int64_t(sizeof(T)) + k * spec.b_step + j;
            sum += double(a[size_t(x)]) * double(b[size_t(y)]);
          }
        }
        for (const TilePost post : test.post) {
          if (post == TilePost::bias) sum += double(bias[size_t(j)]);
          if (post == TilePost::addend) sum += double(addend[at]);
          if (post == TilePost::relu) sum = std::max(sum, 0.0);
          if (post == TilePost::gate && !(gate[at] > 0)) sum = 0;
          if (post == TilePost::scale) sum *= 0.375;
          if (post == TilePost::cap) sum = std::min(sum, 0.125);
        }
        want[at] = sum;
      }
    }
    return want;
  }

  void run(const TileCase& test) {
    const auto kernel = make_tile_kernel(spec);
    TileArgs args{a.data(), b.data(), c.data(), segments.data(), counts.data()};
    args.bias = bias.data();
    args.addend = addend.data();
    args.gate = gate.data();
    args.b_copy = b_copy.data();
    args.accumulate = test.accumulate ? 1 : 0;
    args.finish = 1;
    (*kernel)(args);
  }
};

// Row by row, with zeros after the columns, and nothing behind the last row.
template <class T>
void expect_b_copied(const TileRun<T>& run) {
  const int64_t k = static_cast<int64_t>(run.b.size() - 1) / run.spec.b_step;
  const int64_t width = static_cast<int64_t>(run.b_copy.size() - 1) / k;
  std::vector<double> want;
  for (int64_t i = 0; i < k; ++i) {
    for (int64_t j = 0; j < width; ++j) {
      const auto at = static_cast<size_t>(i * run.spec.b_step + j);
      want.push_back(j < run.spec.columns ? double(run.b[at]) : 0);
    }
  }
  want.push_back(99);
  expect_close(run.b_copy, want, 0);
}

template <class T>
void check_case(TileCase test) {
  for (const Level level : levels()) {
    if (test.vectors > max_tile_vectors(level)) continue;
    TileCase fitted = test;
    fitted.rows = std::min(test.rows, max_tile_rows(level, test.vectors));
    SCOPED_TRACE(::testing::Message() << "v" << int(level) + 2 << " " << fitted.rows << " rows "
                                      << fitted.vectors << " vectors, tail " << fitted.tail);
    TileRun<T> run(fitted, level);
    const auto want = run.expected(fitted);
    run.run(fitted);
    expect_close(run.c, want, 64, 8);
    if (test.copy_b) expect_b_copied(run);
  }
}

const TileCase tile_cases[] = {
    {.rows = 1, .vectors = 1, .tail = 0, .ks = {1}},
    {.rows = 14, .vectors = 2, .tail = 0, .ks = {17}},
    {.rows = 13, .vectors = 2, .tail = 3, .ks = {4, 9}, .whole_b = true},
    {.rows = 5, .vectors = 2, .tail = 1, .ks = {8}, .transposed_a = true},
    {.rows = 28, .vectors = 1, .tail = 6, .ks = {10, 0, 3}, .accumulate = true},
    {.rows = 9, .vectors = 3, .tail = 15, .ks = {21}, .post = {TilePost::bias}},
    {.rows = 6, .vectors = 4, .tail = 2, .ks = {5}, .post = {TilePost::bias, TilePost::relu}},
    {.rows = 8, .vectors = 3, .tail = 5, .ks = {5}, .post = {TilePost::relu, TilePost::cap}},
    {.rows = 4,
     .vectors = 2,
     .tail = 5,
     .ks = {3, 3, 3},
     .unrolled = true,
     .post = {TilePost::bias, TilePost::addend, TilePost::relu},
     .accumulate = true},
    {.rows = 2,
     .vectors = 3,
     .tail = 7,
     .ks = {12},
     .transposed_a = true,
     .post = {TilePost::relu, TilePost::addend}},
    {.rows = 9, .vectors = 3, .tail = 9, .ks = {7}, .fetch_c = true, .post = {TilePost::gate}},
    {.rows = 6,
     .vectors = 4,
     .tail = 0,
     .ks = {11},
     .fetch_c = true,
     .post = {TilePost::bias, TilePost::scale, TilePost::addend, TilePost::gate}},
    {.rows = 30, .vectors = 1, .tail = 3, .ks = {6}, .post = {TilePost::gate, TilePost::scale}},
    {.rows = 3, .vectors = 2, .tail = 1, .ks = {9}, .fetch_c = true},
    {.rows = 1, .vectors = 12, .tail = 4, .ks = {30}},
    {.rows = 6, .vectors = 2, .tail = 0, .ks = {13}, .copy_b = true},
    {.rows = 5, .vectors = 2, .tail = 9, .ks = {8, 3}, .copy_b = true},
    {.rows = 5, .vectors = 2, .tail = 3, .ks = {9, 4, 6}, .masks = {0b11110, 0b11111, 0b00011}},
    {.rows = 4,
     .vectors = 2,
     .tail = 0,
     .ks = {3, 2, 5},
     .unrolled = true,
     .masks = {0b1110, 0b0000, 0b0111}},
    {.rows = 3, .vectors = 2, .tail = 0, .ks = {}, .post = {TilePost::bias}},
};

TEST(TileKernel, MatchesTheDefinition) {
  for (const TileCase& test : tile_cases) {
    check_case<float>(test);
    check_case<double>(test);
  }
}

TEST(TileKernel, ReluKeepsNan) {
  for (const Level level : levels()) {
    TileRun<float> run({.rows = 1, .vectors = 1, .tail = 0, .ks = {1}, .post = {TilePost::relu}},
                       level);
    run.a[0] = NAN;
    run.run({});
    EXPECT_TRUE(std::isnan(run.c[0]));
  }
}

// One that copies B writes where the other has no memory: they must never be taken for each other.
TEST(TileKernel, IsNotSharedWhereOneCopiesB) {
  const TileRun<float> run(tile_cases[1], levels().back());
  TileSpec other = run.spec;
  other.copy_b = !other.copy_b;
  const auto first = make_tile_kernel(run.spec);
  EXPECT_NE(first, make_tile_kernel(other));
}

TEST(TileKernel, ClosedGateDropsNan) {
  for (const Level level : levels()) {
    TileRun<float> run({.rows = 1, .vectors = 1, .tail = 0, .ks = {1}, .post = {TilePost::gate}},
                       level);
    run.a[0] = NAN;
    run.gate[2] = 1;
    run.run({});
    EXPECT_EQ(run.c[0], 0);
    EXPECT_EQ(run.c[1], 0);
    EXPECT_TRUE(std::isnan(run.c[2]));
  }
}

TEST(TileKernel, IsSharedByEqualSpecs) {
  const TileRun<float> run(tile_cases[1], levels().back());
  const auto first = make_tile_kernel(run.spec);
  EXPECT_EQ(first, make_tile_kernel(run.spec));
  TileSpec other = run.spec;
  other.columns -= 1;
  EXPECT_NE(first, make_tile_kernel(other));
  other = run.spec;
  other.scale = 2;
  EXPECT_NE(first, make_tile_kernel(other));
}

}  // namespace
}  // namespace keratin::cpu
