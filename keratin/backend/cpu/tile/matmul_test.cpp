#include "keratin/backend/cpu/tile/matmul.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "keratin/backend/cpu/levels/level_testing.h"
#include "keratin/tensor/buffer.h"

namespace keratin::cpu {
namespace {

// The operands of a matmul and the expected result, in double.
template <class T>
struct MatmulRun {
  MatmulDesc desc;
  std::vector<T> a, b, c, bias, addend;
  int64_t items = 1;

  explicit MatmulRun(const MatmulDesc& d) : desc(d) {
    for (const int64_t size : desc.batch) items *= size;
    a = random_values<T>(extent(desc.a_batch, desc.m, desc.a_row, desc.k, desc.a_column), 1);
    b = random_values<T>(extent(desc.b_batch, desc.k, desc.b_row, desc.n, desc.b_column), 2);
    c = random_values<T>(extent(desc.c_batch, desc.m, desc.c_row, desc.n, 1), 3);
    bias = random_values<T>(desc.n, 4);
    addend = random_values<T>(static_cast<int64_t>(c.size()), 5);
  }

  int64_t extent(const Dims& steps, int64_t rows, int64_t row, int64_t columns,
                 int64_t column) const {
    int64_t last =
        std::max<int64_t>(rows - 1, 0) * row + std::max<int64_t>(columns - 1, 0) * column;
    for (size_t i = 0; i < steps.size(); ++i) last += (desc.batch[i] - 1) * steps[i];
    return last + 1;
  }

  int64_t offset(const Dims& steps, int64_t item) const {
    int64_t at = 0;
    for (size_t i = steps.size(); i-- > 0; item /= desc.batch[i]) {
      at += item % desc.batch[i] * steps[i];
    }
    return at;
  }

  double element(int64_t item, int64_t i, int64_t j) const {
    const auto at = static_cast<size_t>(offset(desc.c_batch, item) + i * desc.c_row + j);
    double sum = desc.accumulate ? value_of(c[at]) : 0;
    const T* x = a.data() + offset(desc.a_batch, item) + i * desc.a_row;
    const T* y = b.data() + offset(desc.b_batch, item) + j * desc.b_column;
    for (int64_t k = 0; k < desc.k; ++k) {
      sum += value_of(x[k * desc.a_column]) * value_of(y[k * desc.b_row]);
    }
    for (const TilePost post : desc.post) {
      if (post == TilePost::bias) sum += value_of(bias[static_cast<size_t>(j)]);
      if (post == TilePost::addend) sum += value_of(addend[at]);
      if (post == TilePost::relu) sum = std::max(sum, 0.0);
    }
    return sum;
  }

  std::vector<double> expected() const {
    std::vector<double> want;
    for (const T& v : c) want.push_back(value_of(v));
    for (int64_t item = 0; item < items; ++item) {
      for (int64_t i = 0; i < desc.m; ++i) {
        for (int64_t j = 0; j < desc.n; ++j) {
          const int64_t at = offset(desc.c_batch, item) + i * desc.c_row + j;
          want[static_cast<size_t>(at)] = element(item, i, j);
        }
      }
    }
    return want;
  }

  std::vector<T> run(int threads, Level level) const {
    const TiledMatmul matmul(desc, threads, level);
    const Buffer scratch = Buffer::allocate(matmul.scratch_bytes());
    const Buffer packed = Buffer::allocate(desc.packed_b ? matmul.packed_bytes() : 0);
    if (desc.packed_b) matmul.pack(b.data(), packed.data());
    std::vector<T> result = c;
    MatmulArgs args{.a = a.data(), .b = b.data(), .c = result.data()};
    if (desc.packed_b) args.b = packed.data();
    args.bias = bias.data();
    args.addend = addend.data();
    args.scratch = scratch.data();
    matmul.run(args);
    return result;
  }
};

template <class T>
void check(const MatmulDesc& desc) {
  MatmulDesc typed = desc;
  typed.dtype = dtype_of<T>();
  const MatmulRun<T> run(typed);
  const auto want = run.expected();
  for (const Level level : levels()) {
    const auto alone = run.run(1, level);
    SCOPED_TRACE(TiledMatmul(typed, 1, level).describe());
    // A sum of k terms of size one wanders about sqrt(k) far, rounding once per step, and we see
    // the worst of many sums; a half is rounded only at the end.
    const double walk = 2 + std::sqrt(double(desc.k));
    expect_close(alone, want, sizeof(T) == 2 ? 1 : 2 * walk, sizeof(T) == 2 ? 1 : walk);
    for (const int threads : {2, 3}) expect_same_bits(run.run(threads, level), alone);
  }
}

template <class T>
class TiledMatmulTest : public FloatRoutines<T> {};
TYPED_TEST_SUITE(TiledMatmulTest, FloatStorage);

TYPED_TEST(TiledMatmulTest, TakesEveryOrderOfOperands) {
  const int64_t sizes[][3] = {{1, 1, 1},    {1, 37, 20},  {3, 16, 5},     {17, 33, 9},
                              {40, 10, 64}, {29, 130, 3}, {100, 70, 101}, {5, 400, 7}};
  for (const auto& [m, n, k] : sizes) {
    for (const bool a_transposed : {false, true}) {
      for (const bool b_transposed : {false, true}) {
        SCOPED_TRACE(::testing::Message()
                     << m << "x" << n << "x" << k << " " << a_transposed << b_transposed);
        check<TypeParam>(dense_matmul(DType::f32, m, n, k, a_transposed, b_transposed));
      }
    }
  }
}

TYPED_TEST(TiledMatmulTest, TakesEmptySizes) {
  check<TypeParam>(dense_matmul(DType::f32, 0, 5, 4));
  check<TypeParam>(dense_matmul(DType::f32, 5, 0, 4));
  MatmulDesc no_k = dense_matmul(DType::f32, 40, 20, 0);
  check<TypeParam>(no_k);
  no_k.post = {TilePost::bias};
  check<TypeParam>(no_k);
}

TYPED_TEST(TiledMatmulTest, AppliesEpilogues) {
  const std::vector<TilePost> chains[] = {
      {TilePost::bias},
      {TilePost::relu},
      {TilePost::bias, TilePost::relu},
      {TilePost::bias, TilePost::addend, TilePost::relu},
      {TilePost::bias, TilePost::relu, TilePost::addend},
  };
  for (const auto& post : chains) {
    for (const bool accumulate : {false, true}) {
      MatmulDesc desc = dense_matmul(DType::f32, 33, 45, 18);
      desc.post = post;
      desc.accumulate = accumulate;
      check<TypeParam>(desc);
    }
  }
}

TYPED_TEST(TiledMatmulTest, TakesGapsAndPackedWeights) {
  MatmulDesc desc = dense_matmul(DType::f32, 50, 39, 21);
  desc.a_row += 5;
  desc.b_row += 2;
  desc.c_row += 7;
  check<TypeParam>(desc);
  desc.packed_b = true;
  check<TypeParam>(desc);
  desc = dense_matmul(DType::f32, 2, 90, 30, false, true);
  desc.packed_b = true;
  check<TypeParam>(desc);
}

TYPED_TEST(TiledMatmulTest, RunsBatches) {
  MatmulDesc desc = dense_matmul(DType::f32, 5, 20, 6);
  desc.batch = {2, 3};
  desc.a_batch = {90, 30};
  desc.b_batch = {0, 120};  // repeated along the first axis
  desc.c_batch = {300, 100};
  check<TypeParam>(desc);
  desc.b_batch = {0, 0};  // becomes one matmul of 30 rows
  check<TypeParam>(desc);
  desc.a_batch = {0, 30};
  desc.b_batch = {120, 0};
  desc.b_row = 1;
  desc.b_column = 6;
  check<TypeParam>(desc);
}

// The packed bytes serve any number of rows and threads.
TEST(TiledMatmul, PacksAlikeForAllRowsAndThreads) {
  for (const int64_t n : {5, 33, 96, 200, 1000}) {
    const auto packing = [&](int64_t m, int threads) {
      MatmulDesc desc = dense_matmul(DType::f32, m, n, 1500);
      desc.packed_b = true;
      return TiledMatmul(desc, threads).describe_packing();
    };
    const std::string one = packing(1, 1);
    for (const int64_t m : {2, 13, 49, 196, 5000})
      for (const int threads : {1, 2, 3}) EXPECT_EQ(packing(m, threads), one);
  }
}

// MatmulSizes that use several blocks of k and of rows, and packing as a whole.
TEST(TiledMatmul, WorksInBlocks) {
  check<float>(dense_matmul(DType::f32, 700, 70, 1100));
  check<float>(dense_matmul(DType::f32, 600, 200, 1024));
  check<double>(dense_matmul(DType::f32, 530, 40, 600, true, true));
  MatmulDesc desc = dense_matmul(DType::f32, 60, 50, 2100);
  desc.post = {TilePost::bias, TilePost::relu};
  check<float>(desc);
  check<BFloat16>(desc);
}

// Larger than the cache, so that tiles fetch what they add to.
TEST(MatmulPlan, CutsLargeWorkIntoSmallChunks) {
  const auto chunks = [](int64_t m, int64_t n, int64_t k, int threads) {
    const MatmulPlan plan =
        plan_matmul(dense_matmul(DType::f32, m, n, k), threads, levels().back());
    return plan.m_chunks * plan.n_chunks;
  };
  EXPECT_EQ(chunks(1024, 1024, 1024, 1), 1);
  EXPECT_GE(chunks(1024, 1024, 1024, 2), 8);
  EXPECT_GE(chunks(4096, 64, 512, 2), 8);  // few strips, many rows
  EXPECT_EQ(chunks(32, 64, 64, 2), 2);     // small
}

TEST(TiledMatmul, ComputesLargeResults) {
  MatmulDesc desc = dense_matmul(DType::f32, 700, 400, 20);
  check<float>(desc);
  desc.post = {TilePost::bias, TilePost::addend};
  check<float>(desc);
}

TEST(TiledMatmul, CallsTheHookOnceForEveryElement) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    MatmulDesc desc = dense_matmul(dtype, 31, 40, 1200);
    desc.batch = {2};
    desc.a_batch = {0};
    desc.b_batch = {1200 * 40};
    desc.c_batch = {31 * 40};
    desc.hook = true;
    std::vector<int> seen(2 * 31 * 40);
    const TiledMatmul matmul(desc, 1);
    const std::vector<float> a(31 * 1200), b(2 * 1200 * 40);
    std::vector<float> c(2 * 31 * 40);
    const Buffer scratch = Buffer::allocate(matmul.scratch_bytes());
    MatmulArgs args{.a = a.data(), .b = b.data(), .c = c.data(), .scratch = scratch.data()};
    args.hook.context = &seen;
    args.hook.run = [](const void* context, int64_t row, int64_t rows, int64_t column,
                       int64_t columns) {
      auto& counts = *static_cast<std::vector<int>*>(const_cast<void*>(context));
      for (int64_t i = row; i < row + rows; ++i) {
        for (int64_t j = column; j < column + columns; ++j) ++counts[size_t(i * 40 + j)];
      }
    };
    matmul.run(args);
    EXPECT_EQ(std::accumulate(seen.begin(), seen.end(), 0), 2 * 31 * 40);
    EXPECT_EQ(*std::max_element(seen.begin(), seen.end()), 1);
  }
}

TEST(TiledMatmul, RefusesIntegersAndOperandsWithGapsAlongBothAxes) {
  MatmulDesc desc = dense_matmul(DType::i32, 4, 4, 4);
  EXPECT_NE(refuse_matmul(desc).find("i32"), std::string::npos);
  desc = dense_matmul(DType::f32, 4, 4, 4);
  EXPECT_EQ(refuse_matmul(desc), "");
  desc.a_row = 8;
  desc.a_column = 2;
  EXPECT_NE(refuse_matmul(desc), "");
}

}  // namespace
}  // namespace keratin::cpu
