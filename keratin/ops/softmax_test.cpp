#include "keratin/ops/softmax.h"

#include <cmath>

#include "keratin/autodiff/gradients.h"
#include "keratin/base/text.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/records.h"
#include "keratin/ops/values_testing.h"
#include "keratin/testing/expect_error.h"

namespace keratin::ops {
namespace {

using testing::check_op;
using testing::counted;
using testing::evaluate;
using testing::expect_user_error;
using testing::expect_values;
using testing::random_tensor;

using enum DType;

TEST(Softmax, BehavesAsAnOp) {
  const std::pair<const char*, Value (*)(Value, int64_t)> cases[] = {{"softmax", softmax},
                                                                     {"log_softmax", log_softmax}};
  for (const auto& [name, op] : cases) {
    for (int64_t axis : {0, 1, -1})
      check_op({.name = text(name, " axis ", axis),
                .inputs = {{f32, {3, 4, 5}}},
                .build = [op = op, axis](const Values& in) { return Values{op(in[0], axis)}; },
                .low = -4,
                .high = 4,
                .second_order = true});
    for (DType dtype : {f64, f16, bf16})
      check_op({.name = text(name, ' ', dtype),
                .inputs = {{dtype, {5, 33}}},
                .build = [op = op](const Values& in) { return Values{op(in[0], -1)}; }});
  }
}

TEST(Softmax, GradientOpsBehaveAsOps) {
  for (const OpDef* op : {&softmax_grad_op, &log_softmax_grad_op})
    check_op({.name = std::string(op->name),
              .inputs = {{f32, {3, 4}}, {f32, {3, 4}}},
              .build = [op](const Values& in) { return Values{emit(*op, in, AxisAttrs{1})}; },
              .second_order = true});
}

TEST(Softmax, OverSeveralAxes) {
  check_op({.name = "softmax over two axes",
            .inputs = {{f32, {2, 3, 4}}},
            .build = [](const Values& in) {
              return Values{softmax(in[0], Dims{0, 2})};
            }});
  check_op({.name = "log_softmax over two axes",
            .inputs = {{f32, {2, 3, 4}}},
            .build = [](const Values& in) {
              return Values{log_softmax(in[0], Dims{-1, 1})};
            }});
}

TEST(Softmax, SurvivesLargeNumbers) {
  const Tensor x = Tensor::of<double>(f32, {1, 3}, {1e4, 1e4 + 1, -1e30});
  expect_values({x}, [](const Values& in) { return softmax(in[0]); }, {1, 3},
                {0.26894142, 0.7310586, 0});
  expect_values({x}, [](const Values& in) { return log_softmax(in[0]); }, {1, 3},
                {-1.3132617, -0.3132617, -1e30});
}

Tensor logits() { return counted({3, 4}, 7, 11, 5, 0.5); }

// The numbers below are those of Keras 3.15 on JAX.
TEST(Softmax, GivesKerasNumbers) {
  expect_values({logits()}, [](const Values& in) { return softmax(in[0]); }, {3, 4},
                {0.005347299, 0.1770782, 0.02396493, 0.7936095, 0.1606799, 0.02174565, 0.7201172,
                 0.09745726, 0.02550781, 0.8447028, 0.1143181, 0.01547127});
  expect_values({logits()}, [](const Values& in) { return log_softmax(in[0], 0); }, {3, 4},
                {-3.123873, -1.004597, -3.123873, -0.08509726, -0.123873, -3.504597, -0.123873,
                 -2.585097, -2.623873, -0.5045969, -2.623873, -5.085097});
  expect_values({logits()},
                [](const Values& in) {
                  return softmax(in[0], Dims{0, 1});
                },
                {3, 4},
                {0.002654987, 0.0879211, 0.01189883, 0.394035, 0.05332684, 0.007217003, 0.2389943,
                 0.03234436, 0.004377333, 0.1449574, 0.01961785, 0.002654987});
}

TEST(CrossEntropy, SparseBehavesAsAnOp) {
  const auto build = [](const Values& in) {
    const Node& node = emit_node(sparse_softmax_cross_entropy_op, in);
    return node.outputs();
  };
  for (DType dtype : {i32, i64, u8})
    check_op({.name = text("labels ", dtype),
              .inputs = {{f32, {2, 3, 5}}, {dtype, {2, 3}}},
              .build = build,
              .low = 0,
              .high = 5,
              .second_order = true});
  for (DType dtype : {f64, f16, bf16})
    check_op({.name = text("logits ", dtype),
              .inputs = {{dtype, {4, 5}}, {i32, {4}}},
              .build = build,
              .low = 0,
              .high = 5});
  check_op({.name = "one sample", .inputs = {{f32, {5}}, {i32, {}}}, .build = build, .low = 0});
  check_op(
      {.name = "gradient op",
       .inputs = {{f32, {2, 5}}, {i32, {2}}, {f32, {2}}, {f32, {2}}},
       .build =
           [](const Values& in) { return Values{emit(sparse_softmax_cross_entropy_grad_op, in)}; },
       .low = 0,
       .high = 4,
       .second_order = true});
}

TEST(CrossEntropy, IgnoresLabelsThatAreNoClass) {
  const Tensor labels = Tensor::of<double>(i32, {3}, {-1, 0, 4});
  const auto out = evaluate(
      [](const Values& in) {
        const Value loss = sparse_softmax_cross_entropy(in[0], in[1]);
        return Values{loss, gradients(loss, {in[0]})[0]};
      },
      {logits(), labels});
  testing::expect_close(out[0], Tensor::of<double>(f32, {3}, {0, 1.828341, 0}), 1e-5, "loss");
  const std::vector<double> expected = {0,         0,          0, 0, -0.8393201, 0.02174565,
                                        0.7201172, 0.09745726, 0, 0, 0,          0};
  testing::expect_close(out[1], Tensor::of(f32, {3, 4}, expected), 1e-5, "gradient");
}

TEST(CrossEntropy, GivesKerasNumbers) {
  const Tensor labels = Tensor::of<double>(i64, {3}, {2, 0, 3});
  const Tensor targets = counted({3, 4}, 3, 4, 0, 0.25);
  expect_values({logits(), labels},
                [](const Values& in) { return sparse_softmax_cross_entropy(in[0], in[1]); }, {3},
                {3.731164, 1.828341, 4.16877});
  expect_values({logits(), targets},
                [](const Values& in) { return softmax_cross_entropy(in[0], in[1]); }, {3},
                {3.221746, 3.617512, 2.253156});
  expect_values({logits(), targets},
                [](const Values& in) { return sigmoid_cross_entropy(in[0], in[1]); }, {3, 4},
                {0.07888974, 0.5632617, 0.8132617, 1.95389, 0.974077, 1.326413, 1.126928, 0.6931472,
                 0.126928, 0.5764133, 0.724077, 0.7038898});
}

TEST(CrossEntropy, HelpersHaveGradients) {
  for (const auto op : {softmax_cross_entropy, sigmoid_cross_entropy})
    check_op({.name = "cross entropy",
              .inputs = {{f32, {3, 4}}, {f32, {3, 4}}},
              .build = [op](const Values& in) { return Values{op(in[0], in[1])}; },
              .second_order = true});
  // At 0 the slope is σ(0) - target, though the formula has corners there.
  expect_values(
      {Tensor::zeros(f32, {1}), Tensor::full(f32, {1}, 1)},
      [](const Values& in) { return gradients(sigmoid_cross_entropy(in[0], in[1]), {in[0]})[0]; },
      {1}, {-0.5});
  // Far away nothing overflows.
  expect_values({Tensor::of<double>(f32, {2}, {300, -300}), Tensor::of<double>(f32, {2}, {0, 1})},
                [](const Values& in) { return sigmoid_cross_entropy(in[0], in[1]); }, {2},
                {300, 300});
}

TEST(Softmax, RefusesWhatDoesNotFit) {
  Module m;
  const Value x = m.input({f32, {2, 3}}), ints = m.input({i32, {2}});
  expect_user_error([&] { softmax(x, 2); }, {"softmax", "axis", "2"});
  expect_user_error([&] { softmax(ints); }, {"softmax", "float", "i32[2]"});
  expect_user_error([&] { log_softmax(m.input({f32, {}})); }, {"log_softmax", "axis"});
  expect_user_error([&] { softmax(m.input({f32, {2, 0}})); }, {"softmax", "size 0", "[2,0]"});
  expect_user_error(
      [&] {
        sparse_softmax_cross_entropy(x, m.input({i32, {3}}));
      },
      {"sparse_softmax_cross_entropy", "[2]", "[3]"});
  expect_user_error(
      [&] {
        sparse_softmax_cross_entropy(x, m.input({f32, {2}}));
      },
      {"labels", "integers", "f32[2]"});
  expect_user_error([&] { sparse_softmax_cross_entropy(ints, ints); }, {"logits", "floats"});
  expect_user_error(
      [&] {
        sparse_softmax_cross_entropy(m.input({f32, {2, 0}}), ints);
      },
      {"at least one class"});
}

}  // namespace
}  // namespace keratin::ops
