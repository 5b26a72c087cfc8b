#include "keratin/layers/pooling.h"

#include "keratin/graph/input.h"
#include "keratin/testing/check_layer.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;

TEST(Pooling, StridesByItsSizeByDefault) {
  const Json config = MaxPooling2D({.pool_size = {3, 2}})->get_config();
  EXPECT_EQ(config.at("strides"), Json::parse("[3, 2]"));
  const SymbolicTensor y = MaxPooling2D({.pool_size = {3, 2}})(Input({unknown, 7, 2}));
  EXPECT_EQ(y.shape(), Shape({unknown, unknown, 3, 2}));
}

TEST(Pooling, KeepsIntegersInMaxPooling) {
  const auto pool = MaxPooling1D();
  const auto result = run_layer(
      *pool, {{MaskedTensor{Tensor::of<int32_t>(DType::i32, {1, 4, 1}, {1, 7, -4, -5})}}, {}});
  EXPECT_EQ(Tensor(result.outputs), Tensor::of<int32_t>(DType::i32, {1, 2, 1}, {7, -4}));
  const SymbolicTensor mean = AveragePooling1D()(Input({.shape = {4, 1}, .dtype = DType::i32}));
  EXPECT_EQ(mean.dtype(), DType::f32);
}

TEST(Pooling, RefusesBadArgumentsAndInputs) {
  expect_user_error([] { MaxPooling1D({.pool_size = 0}); }, {"pool_size", "(0,)"});
  expect_user_error(
      [] {
        AveragePooling2D({.strides = Sizes{1, 2, 3}});
      },
      {"strides", "(1, 2, 3)"});
  expect_user_error([] { AveragePooling2D({.padding = "causal"}); }, {"padding", "causal"});
  expect_user_error([] { MaxPooling2D()(Input({4, 4})); }, {"expected ndim=4", "found ndim=3"});
  expect_user_error(
      [] {
        MaxPooling1D({.pool_size = 3})(Input({2, 4}));
      },
      {"zero or negative", "(None, 2, 4)", "(3,)"});
}

TEST(Pooling, DropsMasks) {
  const auto pool = AveragePooling1D({}, "p");
  const Arguments<MaskedTensor> arguments{
      {MaskedTensor{Tensor::zeros(DType::f32, {1, 4, 2}), Tensor::zeros(DType::boolean, {1, 4})}},
      {}};
  for (const Dialect dialect : {Dialect::keras3, Dialect::keras2})
    EXPECT_FALSE(run_layer(*pool, arguments, {.dialect = dialect}).masks[0].has_value());
}

}  // namespace
}  // namespace keratin
