#include "keratin/ops/constant.h"
#include "keratin/ir/node.h"

#include "keratin/base/text.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/expect_values.h"

namespace keratin::ops {
namespace {

using testing::check_op;
using testing::expect_user_error;
using testing::expect_values;

using enum DType;

TEST(Constant, OfEveryDType) {
  for (DType dtype : all_dtypes) {
    const Tensor value = Tensor::of<double>(dtype, {2, 2}, {1, 0, 1, 1});
    check_op({.name = text("constant ", dtype),
              .inputs = {{dtype, {2}}},
              .build =
                  [&](const Values& in) {
                    return Values{constant(in[0].block(), value), in[0]};
                  },
              .gradient = false});
    expect_values([&](const Values& in) { return Values{constant(in[0].block(), value)}; },
                  {Tensor::zeros(dtype, {})}, {value});
  }
}

TEST(Constant, IsTheGradientOfNothing) {
  check_op({.name = "x + c",
            .inputs = {{f32, {3}}},
            .build = [](const Values& in) { return Values{in[0] + full_like(in[0], 2)}; },
            .unknown_sizes = false});
}

TEST(Constant, Full) {
  expect_values(
      [](const Values& in) {
        return Values{full(in[0].block(), i32, {2, 2}, 7), zeros_like(in[0]), full_like(in[0], -1)};
      },
      {Tensor::zeros(f32, {3})},
      {Tensor::full(i32, {2, 2}, 7), Tensor::zeros(f32, {3}), Tensor::full(f32, {3}, -1)});
}

TEST(Constant, Iota) {
  for (DType dtype : all_dtypes) {
    if (dtype == DType::boolean) continue;
    for (int64_t axis : {0, 1, -1})
      check_op({.name = text("iota ", dtype, " axis ", axis),
                .inputs = {{dtype, {1}}},
                .build =
                    [=](const Values& in) {
                      return Values{iota(in[0].block(), dtype, {3, 4}, axis), in[0]};
                    },
                .gradient = false});
  }
  expect_values(
      [](const Values& in) {
        Block& block = in[0].block();
        return Values{iota(block, i32, {2, 3}, 0), iota(block, f32, {2, 3}, -1),
                      iota(block, i32, {0}, 0)};
      },
      {Tensor::zeros(f32, {})},
      {Tensor::of<double>(i32, {2, 3}, {0, 0, 0, 1, 1, 1}),
       Tensor::of<double>(f32, {2, 3}, {0, 1, 2, 0, 1, 2}), Tensor(i32, {0})});
}

TEST(Constant, UniformValueSeesThroughMovement) {
  Module m;
  const Value x = m.input({f32, {2}});
  EXPECT_EQ(uniform_value(full_like(x, 3)), 3);
  EXPECT_EQ(uniform_value(reshape(full_like(x, 3), {2, 1})), 3);
  EXPECT_EQ(uniform_value(x), std::nullopt);
  EXPECT_EQ(uniform_value(constant(m.block(), Tensor::zeros(f32, {2}))), std::nullopt);
  EXPECT_EQ(constant_value(x), nullptr);
}

TEST(Constant, RefusesWhatDoesNotFit) {
  Module m;
  expect_user_error([&] { constant(m.block(), {}); }, {"constant", "missing"});
  expect_user_error([&] { iota(m.block(), i32, {2}, 1); }, {"iota", "axis", "got 1"});
  expect_user_error([&] { iota(m.block(), i32, {unknown}, 0); }, {"iota", "known", "[?]"});
  expect_user_error([&] { iota(m.block(), DType::boolean, {2}, 0); }, {"iota", "bool"});
  expect_user_error([&] { iota(m.block(), i32, {int64_t{1} << 50}, 0); },
                    {"iota", "too many elements"});
  expect_user_error(
      [&] {
        full_like(m.input({f32, {unknown}}), 1);
      },
      {"broadcast_to", "must be given"});
}

}  // namespace
}  // namespace keratin::ops
