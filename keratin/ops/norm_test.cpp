#include "keratin/ops/norm.h"
#include "keratin/tensor/shape_rules.h"

#include "keratin/base/text.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/norm_rules.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/records.h"
#include "keratin/ops/values_testing.h"
#include "keratin/testing/expect_error.h"

namespace keratin::ops {
namespace {

using testing::check_op;
using testing::counted;
using testing::expect_user_error;
using testing::expect_values;

using enum DType;

// All outputs of the node that makes the value: the statistics have gradients too.
Values all_outputs(Value y) { return y.node().outputs(); }

Value optional_input(const Values& in, size_t i) { return i < in.size() ? in[i] : Value(); }

TEST(LayerNorm, BehavesAsAnOp) {
  struct Case {
    Shape x;
    Dims axes;
    Shape parameter;
  };
  for (const Case& c : {Case{{3, 5}, {-1}, {5}}, Case{{2, 3, 4}, {1, 2}, {3, 4}},
                        Case{{2, 3, 4}, {0, 2}, {2, 4}}, Case{{6}, {0}, {6}}})
    for (size_t parameters : {0, 1, 2}) {
      Types inputs = {{f32, c.x}, {f32, c.parameter}, {f32, c.parameter}};
      inputs.resize(1 + parameters);
      check_op({.name = text("layer_norm ", c.x, ", ", parameters, " parameters"),
                .inputs = inputs,
                .build =
                    [&](const Values& in) {
                      return all_outputs(
                          layer_norm(in[0], optional_input(in, 1), optional_input(in, 2), c.axes));
                    },
                .second_order = true});
      if (parameters == 2) continue;
      check_op({.name = text("rms_norm ", c.x, ", ", parameters, " parameters"),
                .inputs = inputs,
                .build =
                    [&](const Values& in) {
                      return all_outputs(rms_norm(in[0], optional_input(in, 1), c.axes));
                    },
                .second_order = true});
    }
  check_op({.name = "layer_norm, offset only",
            .inputs = {{f32, {3, 5}}, {f32, {5}}},
            .build = [](const Values& in) { return Values{layer_norm(in[0], {}, in[1])}; }});
}

TEST(LayerNorm, EveryDType) {
  for (DType dtype : {f64, f16, bf16}) {
    check_op({.name = text("layer_norm ", dtype),
              .inputs = {{dtype, {3, 70}}, {dtype, {70}}, {dtype, {70}}},
              .build = [](const Values& in) { return Values{layer_norm(in[0], in[1], in[2])}; }});
    check_op({.name = text("rms_norm ", dtype),
              .inputs = {{dtype, {3, 70}}, {dtype, {70}}},
              .build = [](const Values& in) { return Values{rms_norm(in[0], in[1])}; }});
  }
  Module m;
  const Value y = layer_norm(m.input({bf16, {3, 4}}));
  EXPECT_EQ(text(y.node().type(0), y.node().type(1)), "bf16[3,4]f32[3,1]");
}

TEST(GroupNorm, BehavesAsAnOp) {
  check_op({.name = "channels last",
            .inputs = {{f32, {2, 3, 4}}, {f32, {4}}, {f32, {4}}},
            .build = [](const Values& in) { return Values{group_norm(in[0], in[1], in[2], 2)}; },
            .second_order = true});
  check_op({.name = "channels first, no parameters",
            .inputs = {{f32, {2, 6, 2, 2}}},
            .build = [](const Values& in) { return Values{group_norm(in[0], {}, {}, 3, 1)}; }});
  check_op({.name = "bf16",
            .inputs = {{bf16, {2, 3, 4}}, {bf16, {4}}},
            .build = [](const Values& in) { return Values{group_norm(in[0], {}, in[1], 4)}; }});
}

TEST(BatchNorm, TrainingBehavesAsAnOp) {
  struct Case {
    Shape x;
    int64_t axis;
  };
  for (const Case& c : {Case{{5, 3}, -1}, Case{{2, 3, 2, 4}, -1}, Case{{3, 4, 2}, 1}})
    for (size_t parameters : {0, 1, 2}) {
      const Shape channels{c.x[normalize_axis(c.axis, c.x.rank(), "test")]};
      Types inputs = {{f32, c.x}, {f32, channels}, {f32, channels}};
      inputs.resize(1 + parameters);
      check_op({.name = text("training ", c.x, ", ", parameters, " parameters"),
                .inputs = inputs,
                .build =
                    [&](const Values& in) {
                      const BatchNorm norm = batch_norm_training(in[0], optional_input(in, 1),
                                                                 optional_input(in, 2), c.axis);
                      return Values{norm.y, norm.mean, norm.variance};
                    },
                .second_order = true});
    }
  for (DType dtype : {f64, f16, bf16})
    check_op({.name = text("training ", dtype),
              .inputs = {{dtype, {9, 4}}, {dtype, {4}}, {dtype, {4}}},
              .build = [](const Values& in) {
                return Values{batch_norm_training(in[0], in[1], in[2]).y};
              }});
}

// A bias in front changes nothing but the mean; the gradient that it gets is no more than rounding.
TEST(BatchNorm, TrainingTakesABiasAway) {
  for (DType dtype : {f32, f64})
    check_op({.name = text("biased ", dtype),
              .inputs = {{dtype, {3, 5, 4}}, {dtype, {4}}, {dtype, {4}}},
              .build = [](const Values& in) {
                const BatchNorm norm = batch_norm_training(in[0] + in[1], in[2], {});
                return Values{norm.y, norm.mean, norm.variance};
              }});
}

// As mixed precision has it: half numbers, normalised as whole ones.
TEST(BatchNorm, TrainingOfWidenedNumbers) {
  check_op({.name = "widened",
            .inputs = {{bf16, {6, 5, 4}}, {f32, {4}}, {f32, {4}}},
            .build = [](const Values& in) {
              const Value wide = cast(in[0], in[1].dtype());
              return Values{cast(batch_norm_training(wide, in[1], in[2]).y, in[0].dtype())};
            }});
}

TEST(Moments, BehaveAsAnOp) {
  for (const Shape& shape : {Shape{5, 3}, Shape{3, 700, 64}, Shape{900, 40}, Shape{2, 300}})
    for (DType dtype : {f32, f64, f16, bf16})
      check_op({.name = text("moments ", dtype, shape),
                .inputs = {{dtype, shape}},
                .build =
                    [](const Values& in) {
                      const Moments found = moments(in[0]);
                      return Values{found.mean, found.variance};
                    },
                .gradient = shape.count() < 100,
                .second_order = shape.count() < 100});
}

TEST(BatchNorm, InferenceBehavesAsAnOp) {
  for (DType dtype : {f32, f64, f16, bf16}) {
    const DType statistic = statistics_dtype(dtype);
    check_op(
        {.name = text("inference ", dtype),
         .inputs =
             {{dtype, {3, 2, 4}}, {statistic, {4}}, {statistic, {4}}, {dtype, {4}}, {dtype, {4}}},
         .build =
             [](const Values& in) {
               return Values{batch_norm_inference(in[0], in[1], in[2], in[3], in[4])};
             },
         .low = 0.2});
  }
  check_op({.name = "inference, channels first, offset only",
            .inputs = {{f32, {3, 4, 2}}, {f32, {4}}, {f32, {4}}, {f32, {4}}},
            .build =
                [](const Values& in) {
                  return Values{batch_norm_inference(in[0], in[1], in[2], {}, in[3], 1)};
                },
            .low = 0.2,
            .second_order = true});
}

Tensor x() { return counted({2, 3, 4}, 7, 11, 5, 0.5); }
Tensor scale(const Shape& shape) { return counted(shape, 5, 7, 3, 0.5); }
Tensor offset(const Shape& shape) { return counted(shape, 3, 5, 2, 0.25); }

// The numbers below are those of the layers of Keras 3.15 on JAX.
TEST(LayerNorm, GivesKerasNumbers) {
  expect_values(
      {x(), scale({4}), offset({4})},
      [](const Values& in) { return layer_norm(in[0], in[1], in[2]); }, {2, 3, 4},
      {1.469325,  0.7751533, -0.25, -0.8128831, -0.799904, -1.149552,   -0.25, 0.699936,
       0.5841223, 1.775802,  -0.25, 1.54397,    -0.799904, -1.149552,   -0.25, 0.6999359,
       0.5841222, 1.775802,  -0.25, 1.54397,    -2.065954, 0.009083927, -0.25, -0.2227482});
  expect_values({x(), scale({3, 4}), offset({3, 4})},
                [](const Values& in) {
                  return layer_norm(in[0], in[1], in[2], {1, 2}, 1e-2);
                },
                {2, 3, 4}, {1.56201,    0.9748278,  -0.25,      -1.124614, 0.6373486,  -0.887408,
                            -0.4123427, -0.4374555, -0.5747447, 0,         -0.3250416, -1.81201,
                            -1.391644,  -0.4525077, -0.25,      0.2298047, -1.540113,  0.1214492,
                            0.2770195,  1.776465,   1.418664,   0,         1.175211,   1.141644});
  expect_values({x(), scale({4})}, [](const Values& in) { return rms_norm(in[0], in[1]); },
                {2, 3, 4},
                {1.969596, 0.5252256, 0, -1.313064, -0.5883482, -1.176696,  0, 0,
                 1.680336, 0.8401679, 0, 1.40028,   -1.028991,  -0.6859942, 0, -0.3429971,
                 1.405564, 1.24939,   0, 1.24939,   -1.441153,  -0.3202562, 0, -0.6405125});
  expect_values({x(), scale({4}), offset({4})},
                [](const Values& in) { return group_norm(in[0], in[1], in[2], 2); }, {2, 3, 4},
                {1.429404,  1.214702, -0.25, -0.9064683, -1.464702, -0.3931345, -0.25, 0.5484989,
                 0.9470526, 1.536269, -0.25, 2.003466,   -1.35528,  -0.7003115, -0.25, 0.1605076,
                 1.495654,  1.580436, -0.25, 1.615475,   -1.925467, -0.3201869, -0.25, -0.1304858});
}

TEST(BatchNorm, GivesKerasNumbers) {
  const auto training = [](const Values& in) { return batch_norm_training(in[0], in[1], in[2]); };
  const std::vector inputs = {x(), scale({4}), offset({4})};
  expect_values(inputs, [&](const Values& in) { return training(in).y; }, {2, 3, 4},
                {1.429404,  0.820187, -0.25, -1.003466, -1.464702, -1.080436,  -0.25, 0.4515011,
                 0.9470526, 1.200312, -0.25, 1.906468,  -1.947052, -0.7003115, -0.25, 0.1605076,
                 0.4647018, 1.580436, -0.25, 1.615475,  -2.429403, -0.3201869, -0.25, -0.1304858});
  expect_values(inputs, [&](const Values& in) { return training(in).mean; }, {4},
                {-0.5, 0.25, 0.08333334, -0.08333334});
  expect_values(inputs, [&](const Values& in) { return training(in).variance; }, {4},
                {2.416667, 1.729167, 2.951389, 2.951389});
  expect_values(
      {x(), Tensor::of<double>(f32, {3}, {0.5, -1, 0}), Tensor::of<double>(f32, {3}, {2, 0.25, 1}),
       scale({3}), offset({3})},
      [](const Values& in) { return batch_norm_inference(in[0], in[1], in[2], in[3], in[4], 1); },
      {2, 3, 4},
      {2.681185,   -1.030198, 1.090593, -2.62079,  3.244018,  -0.7480059, 6.238036, 2.246012,
       -0.25,      -0.25,     -0.25,    -0.25,     -1.030198, 1.090593,   -2.62079, -0.5,
       -0.7480059, 6.238036,  2.246012, -1.746012, -0.25,     -0.25,      -0.25,    -0.25});
}

TEST(Norm, RefusesWhatDoesNotFit) {
  Module m;
  const Value x = m.input({f32, {2, 3, 4}}), four = m.input({f32, {4}}),
              three = m.input({f32, {3}});
  const Value ints = m.input({DType::i32, {2, 4}}), half = m.input({f16, {4}});
  expect_user_error([&] { layer_norm(x, three); }, {"layer_norm", "scale", "f32[4]", "f32[3]"});
  expect_user_error([&] { layer_norm(x, four, half); }, {"layer_norm", "offset", "f16[4]"});
  expect_user_error([&] { layer_norm(ints); }, {"layer_norm", "float", "i32"});
  expect_user_error([&] { layer_norm(x, {}, {}, {3}); }, {"layer_norm", "axis", "3"});
  expect_user_error([&] { layer_norm(x, {}, {}, {1}, -1); }, {"layer_norm", "epsilon", "-1"});
  expect_user_error([&] { layer_norm({}); }, {"layer_norm", "undefined"});
  expect_user_error([&] { rms_norm(x, three); }, {"rms_norm", "scale"});
  expect_user_error([&] { group_norm(x, {}, {}, 3); }, {"group_norm", "4 channels", "3 groups"});
  expect_user_error([&] { group_norm(x, {}, {}, 0); }, {"group_norm", "0 groups"});
  expect_user_error([&] { group_norm(x, {}, {}, 1, 0); }, {"group_norm", "first axis"});
  expect_user_error([&] { batch_norm_training(four); }, {"batch_norm_training", "rank 2"});
  expect_user_error([&] { batch_norm_training(x, three); }, {"batch_norm_training", "scale"});
  expect_user_error([&] { batch_norm_inference(x, four, three); }, {"variance", "f32[4]"});
  expect_user_error([&] { batch_norm_inference(x, half, half); }, {"mean", "f32[4]", "f16[4]"});
}

}  // namespace
}  // namespace keratin::ops
