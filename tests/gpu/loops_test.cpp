#include "gpu_testing.h"
#include "keratin/base/text.h"

// Large sizes, at which kernels process several elements at a time; `check_op` takes too long for
// these.
namespace keratin::testing {
namespace {

class LargeLoops : public OnGpu {};

TEST_F(LargeLoops, BroadcastOperands) {
  const Shape shape = {64, 96, 56};
  for (DType dtype : {DType::f32, DType::bf16, DType::f16, DType::f64, DType::i32, DType::u8})
    for (const Shape& other : {Shape{56}, Shape{96, 1}, Shape{64, 1, 56}, Shape{}, Shape{64, 1, 1},
                               Shape{1, 96, 56}, Shape{64, 96, 56}})
      expect_as_reference(
          {numbers(shape, dtype), numbers(other, dtype)},
          [](const Values& v) {
            return Values{v[0] + v[1], ops::multiply(v[1], v[0])};
          },
          text(dtype, shape, " and ", other));
}

TEST_F(LargeLoops, MixDtypeSizes) {
  const Shape shape = {700, 400};
  expect_as_reference(
      {numbers(shape), numbers(shape, DType::bf16), flags(shape), numbers({400})},
      [](const Values& v) {
        const Value sum = v[0] + ops::cast(v[1], DType::f32) + v[3];
        return Values{ops::where(v[2], sum, v[0]), ops::cast(sum, DType::bf16),
                      ops::greater(sum, v[0])};
      },
      "mixed");
}

TEST_F(LargeLoops, Reductions) {
  for (DType dtype : {DType::f32, DType::bf16, DType::i32})
    for (const Shape& shape :
         {Shape{512, 640}, Shape{300, 16, 72}, Shape{7, 40001}, Shape{4096, 130}})
      expect_as_reference(
          {numbers(shape, dtype), numbers({shape.back()}, dtype)},
          [&](const Values& v) {
            const Value x = v[0] * v[1];
            const int64_t last = shape.rank() - 1;
            return Values{x, ops::sum(v[0], {0}), ops::max(v[0], {last}), ops::max(v[0]),
                          ops::min(v[0] + v[1], {0})};
          },
          text("reductions of ", dtype, shape), "", dtype == DType::f32 ? 2e-4 : 0);
}

TEST_F(LargeLoops, HandleRemainders) {
  for (const Shape& shape : {Shape{521, 521}, Shape{3, 100, 1001}, Shape{262146}, Shape{262148, 1}})
    expect_as_reference(
        {numbers(shape), numbers(shape, DType::bf16)},
        [](const Values& v) {
          return Values{ops::tanh(v[0]), v[1] * v[1]};
        },
        text("odd ", shape));
}

// The sums are as large as the vector that all of them read, so its memory could be reused too
// early.
TEST_F(LargeLoops, DoNotOverwriteSharedOperands) {
  constexpr int64_t n = 4096;
  expect_as_reference(
      {numbers({n, n}), numbers({n})},
      [](const Values& v) {
        const Value vector = ops::flip(v[1]);
        return Values{ops::flip(ops::sum(v[0] * vector, {1}))};
      },
      "sums beside a vector", " sum", 1e-3);
}

}  // namespace
}  // namespace keratin::testing
