#include "keratin/backend/cpu/kernels/small_matmul.h"

#include "keratin/backend/cpu/kernels/kernel_testing.h"

namespace keratin::cpu {
namespace {

struct Sizes {
  int64_t batch, m, n, k;
};
const Sizes all_sizes[] = {{1, 1, 16, 16}, {1, 1, 512, 512}, {1, 3, 37, 29}, {1, 8, 130, 65},
                           {2, 5, 10, 7},  {3, 2, 64, 1},    {1, 1, 1, 100}, {1, 13, 5, 3},
                           {1, 2, 3, 0},   {0, 2, 3, 4},     {1, 0, 3, 4},   {1, 4, 0, 4},
                           {1, 1, 200, 33}};

template <class T>
class SmallMatmulTest : public FloatKernels<T> {};
TYPED_TEST_SUITE(SmallMatmulTest, FloatStorage);

double activated(double v, MatmulActivation activation) {
  switch (activation) {
    case MatmulActivation::none:
      return v;
    case MatmulActivation::relu:
      return std::max(v, 0.0);
    case MatmulActivation::sigmoid:
      return 1 / (1 + std::exp(-v));
    case MatmulActivation::tanh:
      break;
  }
  return std::tanh(v);
}

template <class T>
void check(const Sizes& s, bool transpose_a, bool transpose_b, bool biased,
           MatmulActivation activation) {
  const auto a = random_values<T>(s.batch * s.m * s.k, 1, -1, 1);
  const auto b = random_values<T>(s.batch * s.k * s.n, 2, -1, 1);
  const auto bias = random_values<T>(s.n, 3, -1, 1);
  SmallMatmulArgs args{.a = a.data(),
                       .b = b.data(),
                       .bias = biased ? bias.data() : nullptr,
                       .batch = s.batch,
                       .m = s.m,
                       .n = s.n,
                       .k = s.k,
                       .a_row = transpose_a ? 1 : s.k,
                       .a_col = transpose_a ? s.m : 1,
                       .b_row = transpose_b ? 1 : s.n,
                       .b_col = transpose_b ? s.k : 1,
                       .y_row = s.n,
                       .a_batch = s.m * s.k,
                       .b_batch = s.k * s.n,
                       .y_batch = s.m * s.n,
                       .activation = activation};
  if (!transpose_a && s.m == 1) args.a_row = 1, args.a_col = 1;
  std::vector<double> want;
  for (int64_t p = 0; p < s.batch; ++p) {
    for (int64_t i = 0; i < s.m; ++i) {
      for (int64_t j = 0; j < s.n; ++j) {
        double sum = biased ? value_of(bias[static_cast<size_t>(j)]) : 0;
        for (int64_t k = 0; k < s.k; ++k) {
          sum +=
              value_of(a[static_cast<size_t>(p * args.a_batch + i * args.a_row + k * args.a_col)]) *
              value_of(b[static_cast<size_t>(p * args.b_batch + k * args.b_row + j * args.b_col)]);
        }
        want.push_back(activated(sum, activation));
      }
    }
  }
  on_every_level(
      [&](const KernelTable& k, int threads) {
        std::vector<T> y(want.size());
        SmallMatmulArgs here = args;
        here.y = y.data();
        here.threads = threads;
        k.small_matmul.matmul[dtype_of<T>()](here);
        return y;
      },
      [&](const std::vector<T>& y) {
        expect_close(y, want, 8, 1 + static_cast<double>(s.k) / 16);
      });
}

TYPED_TEST(SmallMatmulTest, MatchesTheDefinition) {
  for (const Sizes& s : all_sizes) {
    for (const bool transpose_a : {false, true}) {
      for (const bool transpose_b : {false, true}) {
        SCOPED_TRACE(testing::Message() << s.batch << " " << s.m << " " << s.n << " " << s.k << " "
                                        << transpose_a << transpose_b);
        check<TypeParam>(s, transpose_a, transpose_b, false, MatmulActivation::none);
        check<TypeParam>(s, transpose_a, transpose_b, true, MatmulActivation::relu);
      }
    }
  }
}

TYPED_TEST(SmallMatmulTest, Activations) {
  for (const auto activation : {MatmulActivation::none, MatmulActivation::relu,
                                MatmulActivation::sigmoid, MatmulActivation::tanh}) {
    check<TypeParam>({1, 3, 50, 20}, false, false, true, activation);
    check<TypeParam>({1, 3, 50, 20}, false, true, true, activation);
  }
}

}  // namespace
}  // namespace keratin::cpu
