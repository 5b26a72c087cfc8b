#include "keratin/ops/pointwise.h"

#include <limits>

#include "keratin/base/text.h"
#include "keratin/ops/values_testing.h"
#include "keratin/testing/check_op.h"
#include "keratin/testing/expect_error.h"

namespace keratin::ops {
namespace {

using testing::check_op;
using testing::expect_user_error;

using enum DType;

struct Unary {
  const char* name;
  Value (*op)(Value);
  double low, high;
  bool smooth = true;
};

TEST(Pointwise, FunctionsOfOneFloat) {
  const Unary cases[] = {
      {"neg", negative, -2, 2},
      {"abs", abs, -2, 2},
      {"sign", sign, -2, 2},
      {"relu", relu, -2, 2},
      {"floor", floor, -2, 2},
      {"ceil", ceil, -2, 2},
      {"round", round, -2, 2},
      {"trunc", trunc, -2, 2},
      {"sqrt", sqrt, 0.1, 4},
      {"rsqrt", rsqrt, 0.1, 4},
      {"exp", exp, -4, 4},
      {"expm1", expm1, -2, 2},
      {"log", log, 0.05, 9},
      {"log1p", log1p, -0.9, 3},
      {"sin", sin, -4, 4},
      {"cos", cos, -4, 4},
      {"tan", tan, -1.2, 1.2},
      {"asin", arcsin, -0.9, 0.9},
      {"acos", arccos, -0.9, 0.9},
      {"atan", arctan, -4, 4},
      {"sinh", sinh, -2, 2},
      {"cosh", cosh, -2, 2},
      {"tanh", tanh, -4, 4},
      {"asinh", arcsinh, -4, 4},
      {"acosh", arccosh, 1.1, 4},
      {"atanh", arctanh, -0.9, 0.9},
      {"erf", erf, -3, 3},
      {"erfinv", erfinv, -0.9, 0.9},
      {"sigmoid", sigmoid, -6, 6},
      {"square", square, -2, 2},
      {"reciprocal", reciprocal, 0.3, 3},
  };
  for (const Unary& c : cases) {
    const auto build = [&](const Values& in) { return Values{c.op(in[0])}; };
    check_op({.name = c.name,
              .inputs = {{f32, {3, 5}}},
              .build = build,
              .low = c.low,
              .high = c.high,
              .second_order = true});
    for (DType dtype : {f64, f16, bf16})
      check_op({.name = text(c.name, ' ', dtype),
                .inputs = {{dtype, {7}}},
                .build = build,
                .low = c.low,
                .high = c.high,
                .gradient = false});
  }
}

TEST(Pointwise, FunctionsOfOneInteger) {
  const std::pair<const char*, Value (*)(Value)> cases[] = {
      {"neg", negative}, {"abs", abs}, {"sign", sign}, {"square", square}, {"relu", relu}};
  for (const auto& [name, op] : cases)
    for (DType dtype : {i8, u8, i32, i64})
      check_op({.name = text(name, ' ', dtype),
                .inputs = {{dtype, {3, 7}}},
                .build = [op = op](const Values& in) { return Values{op(in[0])}; },
                .low = -11,
                .high = 11,
                .gradient = false});
}

TEST(Pointwise, FunctionsOfTwoNumbersBroadcast) {
  const std::pair<const char*, Value (*)(Value, Value)> cases[] = {
      {"add", add},      {"sub", subtract},    {"mul", multiply},
      {"div", divide},   {"maximum", maximum}, {"minimum", minimum},
      {"pow", power},    {"mod", mod},         {"floor_div", floor_divide},
      {"atan2", arctan2}};
  for (const auto& [name, op] : cases) {
    const auto build = [op = op](const Values& in) { return Values{op(in[0], in[1])}; };
    for (const auto& [a, b] : std::vector<std::pair<Shape, Shape>>{
             {{3, 4}, {3, 4}}, {{3, 4}, {4}}, {{2, 1, 3}, {4, 1}}, {{}, {5}}, {{0, 3}, {3}}})
      check_op(
          {.name = name, .inputs = {{f32, a}, {f32, b}}, .build = build, .low = 0.3, .high = 2.7});
    for (DType dtype : {f64, f16, bf16})
      check_op({.name = text(name, ' ', dtype),
                .inputs = {{dtype, {4, 5}}, {dtype, {5}}},
                .build = build,
                .low = 0.3,
                .high = 2.7,
                .gradient = false});
    if (op == static_cast<Value (*)(Value, Value)>(arctan2)) continue;
    for (DType dtype : {i32, i64, i8, u8})
      check_op({.name = text(name, ' ', dtype),
                .inputs = {{dtype, {4, 5}}, {dtype, {5}}},
                .build = build,
                .low = -9,
                .high = 9,
                .gradient = false});
  }
}

TEST(Pointwise, ComparisonsGiveBools) {
  for (auto op : {equal, not_equal, less, less_equal, greater, greater_equal})
    for (DType dtype : all_dtypes)
      check_op({.name = text("compare ", dtype),
                .inputs = {{dtype, {4, 6}}, {dtype, {6}}},
                .build = [op](const Values& in) { return Values{op(in[0], in[1])}; },
                .low = 0,
                .high = 3,
                .gradient = false});
}

TEST(Pointwise, LogicAndBits) {
  for (auto op : {bitwise_and, bitwise_or, bitwise_xor, bitwise_left_shift, bitwise_right_shift,
                  shift_right_logical})
    for (DType dtype : {i32, i64, i8, u8, boolean})
      check_op({.name = text("bits ", dtype),
                .inputs = {{dtype, {3, 7}}, {dtype, {7}}},
                .build = [op](const Values& in) { return Values{op(in[0], in[1])}; },
                .low = -3,
                .high = 90,
                .gradient = false});
  for (DType dtype : {i32, i64, i8, u8, boolean})
    check_op({.name = text("bit_not ", dtype),
              .inputs = {{dtype, {9}}},
              .build = [](const Values& in) { return Values{bitwise_not(in[0])}; },
              .low = -3,
              .high = 90,
              .gradient = false});
}

TEST(Pointwise, SelectCastClip) {
  for (DType dtype : all_dtypes)
    check_op({.name = text("select ", dtype),
              .inputs = {{boolean, {3, 1}}, {dtype, {3, 4}}, {dtype, {4}}},
              .build = [](const Values& in) { return Values{where(in[0], in[1], in[2])}; },
              .gradient = dtype == f32});
  for (DType from : all_dtypes)
    for (DType to : all_dtypes)
      check_op({.name = text("cast ", from, " to ", to),
                .inputs = {{from, {2, 9}}},
                .build = [to](const Values& in) { return Values{cast(in[0], to)}; },
                .low = -200,
                .high = 200,
                .gradient = false});
  for (DType dtype : {f64, f32, f16, bf16, i8, u8, i32, i64})
    check_op({.name = text("clip ", dtype),
              .inputs = {{dtype, {20}}},
              .build = [](const Values& in) { return Values{clip(in[0], 0, 1)}; },
              .gradient = dtype == f32});
}

TEST(Pointwise, KindsOfNumbers) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> numbers = {0, -1.5, inf, -inf,
                                       std::numeric_limits<double>::quiet_NaN()};
  for (DType dtype : {f64, f32, f16, bf16}) {
    const auto expect = [&](Value (*op)(Value), const std::vector<double>& expected) {
      const auto build = [op](const Values& in) { return Values{op(in[0])}; };
      const Tensor x = Tensor::of(dtype, {5}, numbers);
      testing::expect_values(build, {x}, {Tensor::of(boolean, {5}, expected)}, 0);
      check_op({.name = text("kind ", dtype),
                .inputs = {{dtype, {5}}},
                .build = build,
                .data = {x},
                .gradient = false});
    };
    expect(isnan, {0, 0, 0, 0, 1});
    expect(isinf, {0, 0, 1, 1, 0});
    expect(isfinite, {1, 1, 0, 0, 0});
  }
}

TEST(Pointwise, StopGradientStops) {
  check_op({.name = "stop_gradient",
            .inputs = {{f32, {4}}},
            .build = [](const Values& in) { return Values{stop_gradient(in[0])}; },
            .gradient = false});
}

TEST(Pointwise, RefusesWhatDoesNotFit) {
  Module m;
  const Value a = m.input({f32, {2, 3}}), b = m.input({f32, {4}}), c = m.input({i32, {3}});
  expect_user_error([&] { add(a, b); }, {"add", "[2,3]", "[4]", "broadcast"});
  expect_user_error([&] { multiply(a, c); }, {"mul", "one dtype", "f32[2,3]", "i32[3]"});
  expect_user_error([&] { exp(c); }, {"exp", "float", "i32[3]"});
  expect_user_error([&] { bitwise_and(a, a); }, {"bit_and", "integers", "f32[2,3]"});
  expect_user_error([&] { where(a, a, a); }, {"select", "bool"});
  expect_user_error([&] { add(a, Value()); }, {"add", "undefined"});
}

}  // namespace
}  // namespace keratin::ops
