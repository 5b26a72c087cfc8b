#include "keratin/ops/positions.h"

#include "keratin/testing/expect_error.h"
#include "keratin/testing/expect_values.h"

namespace keratin::ops {
namespace {

using testing::check_op;
using testing::expect_user_error;
using testing::expect_values;

TEST(Positions, CountAlongAnAxis) {
  check_op({.name = "positions",
            .inputs = {{DType::f32, {2, 3}}},
            .build = [](const Values& in) { return Values{positions(in[0], -1)}; },
            .gradient = false});
  expect_values([](const Values& in) { return Values{positions(in[0], 1)}; },
                {Tensor::zeros(DType::f32, {2, 3})},
                {Tensor::of<int32_t>(DType::i32, {3}, {0, 1, 2})});
}

TEST(Positions, MayBeUnknown) {
  Module module;
  const Value x = module.input({DType::f32, {unknown, 3}});
  EXPECT_EQ(positions(x, 0).shape(), Shape{unknown});
  expect_user_error([&] { positions(x, 2); }, {"positions", "2"});
}

}  // namespace
}  // namespace keratin::ops
