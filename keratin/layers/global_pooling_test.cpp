#include "keratin/layers/pooling.h"

#include "keratin/graph/input.h"
#include "keratin/testing/check_layer.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::check_layer;
using testing::expect_user_error;

TEST(GlobalAveragePooling1D, BehavesAsInKeras) {
  check_layer("GlobalAveragePooling1D", {.no_gradient = {"a row all masked"}});  // NaN
}

Arguments<MaskedTensor> masked_steps(float masked = 2) {
  return {{MaskedTensor{Tensor::of<float>(DType::f32, {1, 4, 1}, {1, masked, 6, 99}),
                        Tensor::of<bool>(DType::boolean, {1, 4}, {true, false, true, false})}},
          {}};
}

TEST(GlobalPooling, LeavesMaskedStepsOutInBothDialects) {
  for (const Dialect dialect : {Dialect::keras3, Dialect::keras2}) {
    const auto result = run_layer(*GlobalAveragePooling1D(), masked_steps(), {.dialect = dialect});
    EXPECT_EQ(Tensor(result.outputs).at(0), 3.5);
    EXPECT_FALSE(result.masks[0].has_value());
  }
}

TEST(GlobalPooling, IgnoresMaskedNaNs) {
  const auto arguments = masked_steps(std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(Tensor(run_layer(*GlobalAveragePooling1D(), arguments).outputs).at(0), 3.5);
}

TEST(GlobalPooling, MaxIgnoresMasks) {
  const auto pool = GlobalMaxPooling1D({}, "p");
  for (const Dialect dialect : {Dialect::keras3, Dialect::keras2})
    EXPECT_EQ(Tensor(run_layer(*pool, masked_steps(), {.dialect = dialect}).outputs).at(0), 99);
}

TEST(GlobalPooling, TakesUnknownSizes) {
  const SymbolicTensor y = GlobalAveragePooling2D({.keepdims = true})(Input({unknown, unknown, 3}));
  EXPECT_EQ(y.shape(), Shape({unknown, 1, 1, 3}));
}

TEST(GlobalPooling, MeansOfManyHalvesAreFinite) {
  const auto pool =
      GlobalAveragePooling2D({.keepdims = false}, {.dtype = DTypePolicy("mixed_float16")});
  const Tensor x = Tensor::full(DType::f32, {1, 128, 128, 3}, 6);
  EXPECT_EQ(Tensor(run_layer(*pool, {{MaskedTensor{x}}, {}}).outputs),
            Tensor::full(DType::f16, {1, 3}, 6));
}

TEST(GlobalPooling, RefusesBadArgumentsAndInputs) {
  expect_user_error([] { GlobalMaxPooling1D({.data_format = "last"}); }, {"data_format", "last"});
  expect_user_error(
      [] {
        GlobalAveragePooling2D()(Input({4, 3}));
      },
      {"expected ndim=4", "found ndim=3"});
}

}  // namespace
}  // namespace keratin
