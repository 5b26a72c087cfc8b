#include "keratin/ops/reduce.h"

#include <cmath>

#include "keratin/autodiff/gradients.h"
#include "keratin/base/text.h"
#include "keratin/ir/node.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/registry.h"
#include "keratin/ops/values_testing.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/expect_values.h"

namespace keratin::ops {
namespace {

using testing::check_op;
using testing::expect_user_error;
using testing::expect_values;
using testing::inf;
using testing::nan;

using enum DType;

using Reduce = Value (*)(Value, const Dims&, bool);
struct Named {
  const char* name;
  Reduce op;
};
const Named of_numbers[] = {{"sum", sum}, {"max", max}, {"min", min}, {"prod", prod}};
const Named of_floats[] = {{"mean", mean}, {"var", var}, {"logsumexp", logsumexp}};

auto build(Reduce op, Dims axes, bool keepdims = false) {
  return [=](const Values& in) { return Values{op(in[0], axes, keepdims)}; };
}

TEST(Reduce, FloatsOverAnyAxes) {
  for (const auto& list : {std::span<const Named>(of_numbers), std::span<const Named>(of_floats)})
    for (const auto& [name, op] : list)
      for (const Dims& axes : {Dims{}, {0}, {1}, {2}, {0, 1}, {-1, 0}, {2, 1}})
        for (bool keepdims : {false, true})
          check_op({.name = text(name, " over ", axes.size(), keepdims ? " kept" : ""),
                    .inputs = {{f32, {3, 4, 5}}},
                    .build = build(op, axes, keepdims),
                    .second_order = axes.size() == 1});
}

TEST(Reduce, OddSizesAndScalars) {
  for (const auto& [name, op] : of_numbers) {
    for (const Shape& shape : {Shape{}, {1}, {1, 1}, {131}, {2, 67}, {67, 2}, {2, 3, 1, 5}})
      check_op({.name = text(name, shape), .inputs = {{f32, shape}}, .build = build(op, {})});
    check_op({.name = text(name, " rows"), .inputs = {{f32, {9, 70}}}, .build = build(op, {1})});
    check_op({.name = text(name, " columns"), .inputs = {{f32, {70, 9}}}, .build = build(op, {0})});
  }
}

TEST(Reduce, EveryDType) {
  for (const auto& [name, op] : of_numbers)
    for (DType dtype : {f64, f16, bf16, i8, u8, i32, i64})
      check_op({.name = text(name, ' ', dtype),
                .inputs = {{dtype, {3, 5, 4}}},
                .build = build(op, {1}),
                .low = -3,
                .high = 4,
                .gradient = false});
  for (const auto& [name, op] : of_floats)
    for (DType dtype : {f64, f16, bf16})
      check_op({.name = text(name, ' ', dtype),
                .inputs = {{dtype, {3, 5, 4}}},
                .build = build(op, {2}),
                .gradient = false});
}

TEST(Reduce, BoolsAnyAll) {
  for (Reduce op : {any, all})
    for (const Dims& axes : {Dims{}, {0}, {1}})
      check_op({.name = "logic", .inputs = {{boolean, {3, 2}}}, .build = build(op, axes)});
  const Tensor x = Tensor::of<double>(boolean, {3, 2}, {0, 0, 1, 0, 1, 1});
  expect_values(
      [](const Values& in) {
        return Values{any(in[0], {1}), all(in[0], {1}), all(in[0])};
      },
      {x},
      {Tensor::of<double>(boolean, {3}, {0, 1, 1}), Tensor::of<double>(boolean, {3}, {0, 0, 1}),
       Tensor::scalar(boolean, 0)});
}

TEST(Reduce, Positions) {
  using Position = Value (*)(Value, int64_t, bool);
  for (Position op : {Position{argmax}, Position{argmin}})
    for (DType dtype : {f32, f64, f16, bf16, i32, i64, u8, i8})
      for (int64_t axis : {0, 1, -1})
        check_op({.name = text("arg ", dtype, " axis ", axis),
                  .inputs = {{dtype, {3, 4, 5}}},
                  .build = [=](const Values& in) { return Values{op(in[0], axis, axis == 1)}; },
                  .gradient = false});
  // NumPy: np.argmax, np.argmin; the first of equals, and NaN before everything.
  const Tensor x = Tensor::of<double>(f32, {3, 4}, {1, 3, 3, 0, 2, nan, 9, nan, -inf, inf, inf, 0});
  expect_values(
      [](const Values& in) {
        return Values{argmax(in[0], 1), argmin(in[0], 1)};
      },
      {x}, {Tensor::of<double>(i64, {3}, {1, 1, 1}), Tensor::of<double>(i64, {3}, {3, 1, 0})});
}

TEST(Reduce, ValuesOfNumPy) {
  const Tensor x = Tensor::of<double>(f64, {2, 3}, {1, -2, 4, 0.5, 3, -1});
  expect_values(
      [](const Values& in) {
        return Values{sum(in[0], {0}),  sum(in[0]),       prod(in[0], {1}), max(in[0], {0}),
                      min(in[0], {-1}), mean(in[0], {1}), var(in[0], {1}),  logsumexp(in[0])};
      },
      {x},
      {Tensor::of<double>(f64, {3}, {1.5, 1, 3}), Tensor::scalar(f64, 5.5),
       Tensor::of<double>(f64, {2}, {-8, -1.5}), Tensor::of<double>(f64, {3}, {1, 3, 4}),
       Tensor::of<double>(f64, {2}, {-2, -1}),
       Tensor::of<double>(f64, {2}, {1, 0.8333333333333334}),
       Tensor::of<double>(f64, {2}, {6, 2.7222222222222228}),
       Tensor::scalar(f64, 4.376434839435808)});
}

TEST(Reduce, IntegersWrap) {
  expect_values(
      [](const Values& in) {
        return Values{sum(in[0]), prod(in[0])};
      },
      {Tensor::of<double>(i8, {3}, {100, 100, 3})},
      {Tensor::scalar(i8, -53), Tensor::scalar(i8, 48)});
}

TEST(Reduce, NanAndInfinity) {
  const Tensor x = Tensor::of<double>(f32, {3, 2}, {nan, 1, -inf, -inf, inf, 2});
  expect_values(
      [](const Values& in) {
        return Values{max(in[0], {1}), min(in[0], {1}), logsumexp(in[0], {1})};
      },
      {x},
      {Tensor::of<double>(f32, {3}, {nan, -inf, inf}), Tensor::of<double>(f32, {3}, {nan, -inf, 2}),
       Tensor::of<double>(f32, {3}, {nan, -inf, inf})});
}

TEST(Reduce, LogSumExpOfLargeNumbers) {
  expect_values([](const Values& in) { return Values{logsumexp(in[0])}; },
                {Tensor::of<double>(f32, {2}, {1000, 1000})},
                {Tensor::scalar(f32, 1000 + std::log(2))});
}

TEST(Reduce, OfNothing) {
  for (const auto& [name, op] : {Named{"sum", sum}, {"prod", prod}}) {
    check_op(
        {.name = text(name, " of nothing"), .inputs = {{f32, {0, 3}}}, .build = build(op, {0})});
    check_op(
        {.name = text(name, " of no rows"), .inputs = {{f32, {0, 3}}}, .build = build(op, {1})});
  }
  check_op({.name = "max of no rows", .inputs = {{f32, {0, 3}}}, .build = build(max, {1})});
  const Tensor none(f32, {0, 2});
  expect_values(
      [](const Values& in) {
        return Values{sum(in[0], {0}), prod(in[0], {0}), mean(in[0])};
      },
      {none}, {Tensor::full(f32, {2}, 0), Tensor::full(f32, {2}, 1), Tensor::scalar(f32, nan)});
}

TEST(Reduce, ProductGradientsWithZeros) {
  for (const std::vector<double>& row : {std::vector<double>{2, 0, 3}, {0, 5, 0}, {2, 3, 4}})
    check_op({.name = "prod",
              .inputs = {{f64, {3}}},
              .build = build(prod, {}),
              .data = {Tensor::of<double>(f64, {3}, row)}});
}

// The sums are larger than any number of float16.
TEST(Reduce, MeansOfHalvesDoNotOverflow) {
  const Tensor x = Tensor::full(f16, {2, 128, 128}, 6);
  expect_values(
      [](const Values& in) {
        return Values{mean(in[0], {1, 2}), mean(in[0], {0, 1}), mean(in[0]), var(in[0])};
      },
      {x},
      {Tensor::full(f16, {2}, 6), Tensor::full(f16, {128}, 6), Tensor::scalar(f16, 6),
       Tensor::scalar(f16, 0)});
  std::vector<double> far(1024, 100);
  for (size_t i = 0; i < far.size(); i += 2) far[i] = -100;
  expect_values(
      [](const Values& in) {
        return Values{var(in[0]), mean(square(in[0]))};
      },
      {Tensor::of(f16, {1024}, far)}, {Tensor::scalar(f16, 10000), Tensor::scalar(f16, 10000)});
  // A sum in bfloat16 would round 300 of these away.
  std::vector<double> steps(512);
  for (size_t i = 0; i < steps.size(); ++i) steps[i] = 1 + static_cast<double>(i % 2) / 128;
  expect_values([](const Values& in) { return Values{var(in[0])}; },
                {Tensor::of(bf16, {512}, steps)}, {Tensor::scalar(bf16, 0x1p-16)});
}

// A node lists its axes in order; without any it changes nothing, and so does what it is made of.
TEST(Reduce, AxesAreListedInOrderOrNotAtAll) {
  for (const char* op : {"sum", "prod", "max", "mean", "variance", "logsumexp"}) {
    const auto program = [&](const char* axes) {
      return parse(
          text("module(%x: f32[2,3]) { %y = ", op, "(%x) {axes = ", axes, "} return %y }"));
    };
    expect_user_error([&] { program("[1, 1]"); }, {op, "in order"});
    expect_user_error([&] { program("[1, 0]"); }, {op, "in order"});
    const Module none = program("[]");
    const Node& node = *none.block().nodes()[0];
    EXPECT_EQ(node.type().shape, Shape({2, 3}));
    if (node.op().decompose != nullptr) {
      EXPECT_EQ(node.op().decompose(node)[0].shape(), Shape({2, 3})) << op;
    }
    const Value x = none.block().parameters()[0]->out();
    EXPECT_EQ(gradients(none.block().results[0], {x})[0].shape(), Shape({2, 3})) << op;
  }
}

TEST(Reduce, RefusesWhatDoesNotFit) {
  Module m;
  const Value x = m.input({f32, {2, 3}}), b = m.input({boolean, {3}}), i = m.input({i32, {3}});
  const Value none = m.input({f32, {0, 3}});
  expect_user_error([&] { sum(x, {2}); }, {"sum", "axis", "[-2, 2)", "got 2"});
  expect_user_error([&] { sum(x, {0, -2}); }, {"sum", "twice"});
  expect_user_error([&] { sum(b); }, {"sum", "numbers", "bool[3]"});
  expect_user_error([&] { mean(i); }, {"mean", "float", "i32[3]"});
  expect_user_error([&] { any(x); }, {"any", "bool", "f32[2,3]"});
  expect_user_error([&] { max(none, {0}); }, {"max", "size 0", "f32[0,3]"});
  expect_user_error([&] { argmax(none, 0); }, {"argmax", "size 0", "f32[0,3]"});
  expect_user_error([&] { argmin(x, -3); }, {"argmin", "axis", "got -3"});
  expect_user_error([&] { logsumexp(none); }, {"logsumexp", "size 0"});
}

}  // namespace
}  // namespace keratin::ops
