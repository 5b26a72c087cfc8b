#include "keratin/ops/conv.h"

#include "keratin/base/text.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/records.h"
#include "keratin/ops/registry.h"
#include "keratin/ops/values_testing.h"
#include "keratin/testing/expect_error.h"

namespace keratin::ops {
namespace {

using testing::check_op;
using testing::counted;
using testing::expect_user_error;
using testing::expect_values;

using enum DType;

struct ConvCase {
  const char* name;
  Shape x, w;
  ConvAttrs attrs;
};

const ConvCase conv_cases[] = {
    {"1d", {2, 7, 3}, {3, 3, 4}, {}},
    {"1d causal dilated", {2, 6, 2}, {3, 2, 3}, {.dilations = {2}, .padding = "causal"}},
    {"2d", {2, 5, 6, 3}, {3, 2, 3, 4}, {}},
    {"2d same strided", {1, 5, 6, 2}, {4, 3, 2, 3}, {.strides = {2, 3}, .padding = "same"}},
    {"2d same dilated", {1, 6, 5, 2}, {3, 2, 2, 2}, {.dilations = {2, 1}, .padding = "same"}},
    {"2d groups", {1, 4, 4, 4}, {2, 2, 2, 6}, {.strides = {2}, .groups = 2}},
    {"2d depthwise", {1, 4, 4, 3}, {3, 3, 1, 6}, {.groups = 3, .padding = "same"}},
    {"2d pointwise", {2, 3, 3, 4}, {1, 1, 4, 5}, {}},
    {"2d explicit",
     {1, 4, 5, 2},
     {2, 3, 2, 3},
     {.strides = {2, 1}, .padding = "explicit", .low = {1, 0}, .high = {2, -1}}},
    {"2d more channels at one end",
     {2, 8, 8, 20},
     {3, 3, 20, 24},
     {.strides = {2}, .padding = "same"}},
    {"2d odd channels", {2, 9, 7, 5}, {5, 3, 5, 7}, {.strides = {2, 1}, .padding = "same"}},
    {"2d depthwise strided",
     {2, 9, 9, 8},
     {3, 3, 1, 8},
     {.strides = {2}, .groups = 8, .padding = "same"}},
    {"3d", {1, 4, 3, 5, 2}, {2, 2, 3, 2, 2}, {.strides = {1, 1, 2}, .padding = "same"}},
    {"no samples", {0, 4, 4, 2}, {2, 2, 2, 3}, {}},
};

TEST(Conv, BehavesAsAnOp) {
  for (const ConvCase& c : conv_cases)
    check_op({.name = c.name,
              .inputs = {{f32, c.x}, {f32, c.w}},
              .build = [&](const Values& in) { return Values{conv(in[0], in[1], c.attrs)}; },
              .second_order = c.x.count() < 100});
  for (DType dtype : {f64, f16, bf16})
    check_op(
        {.name = text("conv ", dtype),
         .inputs = {{dtype, {2, 5, 5, 3}}, {dtype, {3, 3, 3, 4}}},
         .build = [](const Values& in) { return Values{conv(in[0], in[1], {.padding = "same"})}; },
         .low = -1,
         .high = 1});
}

// What backends may do in one go with the convolution.
TEST(Conv, EpiloguesBehaveAsOps) {
  const auto wide = [](const Values& in) { return conv(in[0], in[1], {.padding = "same"}); };
  for (DType dtype : {f32, f64, f16, bf16}) {
    const Type x{dtype, {2, 5, 5, 8}}, w{dtype, {3, 3, 8, 16}}, channel{dtype, {16}},
        y{dtype, {2, 5, 5, 16}};
    const auto check = [&](const char* name, const Types& inputs, const auto& build) {
      check_op({.name = text(name, ' ', dtype),
                .inputs = inputs,
                .build = [&](const Values& in) { return Values{build(in)}; },
                .low = -0.7,
                .high = 0.7,
                .gradient = false});
    };
    check("bias and relu", {x, w, channel},
          [&](const Values& in) { return relu(wide(in) + in[2]); });
    check("bias, scale, shift", {x, w, channel, channel, channel},
          [&](const Values& in) { return (wide(in) + in[2]) * in[3] - in[4]; });
    check("scale, shift, added, relu", {x, w, channel, channel, y},
          [&](const Values& in) { return relu(in[4] + (wide(in) * in[2] + in[3])); });
    check("added twice", {x, w, y, y},
          [&](const Values& in) { return relu(wide(in) + in[2] + in[3]); });
    check("tanh", {x, w, channel}, [&](const Values& in) { return tanh(wide(in) + in[2]); });
    check("pointwise", {x, {dtype, {1, 1, 8, 16}}, channel, y},
          [&](const Values& in) { return relu(conv(in[0], in[1], {}) * in[2] + in[3]); });
  }
}

TEST(Conv, GradientOpsBehaveAsOps) {
  for (const ConvCase& c : conv_cases) {
    Module m;
    const Shape y = conv(m.input({f32, c.x}), m.input({f32, c.w}), c.attrs).shape();
    ConvAttrs by_input = c.attrs, by_filter = c.attrs;
    by_input.sizes = Dims(c.x.begin() + 1, c.x.end() - 1);
    by_filter.sizes = Dims(c.w.begin(), c.w.end() - 2);
    check_op({.name = text("grad_input ", c.name),
              .inputs = {{f32, y}, {f32, c.w}},
              .build = [&](const Values& in) {
                return Values{conv_grad_input(in[0], in[1], by_input)};
              }});
    check_op({.name = text("grad_filter ", c.name),
              .inputs = {{f32, c.x}, {f32, y}},
              .build = [&](const Values& in) {
                return Values{conv_grad_filter(in[0], in[1], by_filter)};
              }});
  }
}

TEST(Conv, TransposedBehavesAsAnOp) {
  const std::pair<const char*, ConvTransposeAttrs> cases[] = {
      {"valid", {}},
      {"same", {.padding = "same"}},
      {"valid strided", {.strides = {3}}},
      {"same strided", {.strides = {2}, .padding = "same"}},
      {"same dilated", {.dilations = {2}, .padding = "same"}},
      {"padded", {.strides = {2}, .padding = "same", .output_padding = {1, 0}}},
  };
  for (const auto& [name, attrs] : cases)
    check_op({.name = name,
              .inputs = {{f32, {1, 3, 4, 2}}, {f32, {3, 2, 3, 2}}},
              .build = [attrs = attrs](const Values& in) {
                return Values{conv_transpose(in[0], in[1], attrs)};
              }});
}

TEST(Conv, ChannelsFirstDepthwiseAndSeparable) {
  check_op({.name = "channels first",
            .inputs = {{f32, {2, 3, 5, 4}}, {f32, {3, 2, 3, 4}}},
            .build = [](const Values& in) {
              return Values{
                  conv(in[0], in[1], {.strides = {2}, .padding = "same"}, "channels_first")};
            }});
  check_op({.name = "depthwise channels first",
            .inputs = {{f32, {2, 3, 5}}, {f32, {2, 3, 2}}},
            .build =
                [](const Values& in) {
                  return Values{depthwise_conv(in[0], in[1], {}, "channels_first")};
                },
            .unknown_sizes = false});
  check_op({.name = "separable channels first",
            .inputs = {{f32, {1, 2, 4, 4}}, {f32, {2, 2, 2, 2}}, {f32, {1, 1, 4, 3}}},
            .build =
                [](const Values& in) {
                  return Values{
                      separable_conv(in[0], in[1], in[2], {.padding = "same"}, "channels_first")};
                },
            .unknown_sizes = false});
  check_op({.name = "transposed channels first",
            .inputs = {{f32, {1, 2, 4}}, {f32, {3, 3, 2}}},
            .build = [](const Values& in) {
              return Values{conv_transpose(in[0], in[1], {.strides = {2}}, "channels_first")};
            }});
}

Tensor x_of(const Shape& shape) { return counted(shape, 7, 11, 5); }
Tensor w_of(const Shape& shape) { return counted(shape, 5, 7, 3); }

// The numbers below are those of Keras 3.15 on JAX.
TEST(Conv, GivesKerasNumbers) {
  const auto expect = [](const Shape& x, const Shape& w, const ConvAttrs& attrs, const Shape& shape,
                         const std::vector<double>& y) {
    expect_values(
        {x_of(x), w_of(w)}, [&](const Values& in) { return conv(in[0], in[1], attrs); }, shape, y);
  };
  expect({1, 5, 5, 1}, {4, 4, 1, 1}, {.strides = {2}, .padding = "same"}, {1, 3, 3, 1},
         {11, 30, 1, 0, -68, 21, 13, 21, -4});
  expect({1, 3, 4, 2}, {2, 2, 2, 1}, {.padding = "same"}, {1, 3, 4, 1},
         {16, 18, -13, 4, 35, -7, -5, -26, 25, -6, -15, 19});
  expect({1, 5, 5, 1}, {2, 2, 1, 2}, {.dilations = {2}, .padding = "same"}, {1, 5, 5, 2},
         {-4,  -12, -9,  -3, 16, 16, -3,  -9,  -12, -4, 5,  11, 10,  -13, -19, -5, 7,
          -19, -21, 8,   3,  1,  8,  -17, -21, 13,  16, 10, 12, -8,  1,   13,  17, 12,
          10,  -13, -19, -5, 12, -2, 0,   6,   -3,  -6, 9,  -6, -12, 16,  0,   0});
  expect({2, 4, 4}, {2, 2, 6}, {.groups = 2}, {2, 3, 6},
         {5, -20, 4, 12,  -16, 5,  5, 18, 3,  5,  2,   6,  5, -21, 2,  9,   9,  -26,
          5, -22, 0, -16, 12,  -2, 5, 16, -1, 21, -25, -1, 5, -23, -2, -19, 15, 0});
  expect({1, 6, 2}, {3, 2, 2}, {.dilations = {2}, .padding = "causal"}, {1, 6, 2},
         {-14, 6, -14, 15, -9, -20, -3, -17, 7, 5, 26, -25});
  expect({1, 3, 3, 3, 1}, {2, 2, 2, 1, 2}, {.strides = {2}, .padding = "same"}, {1, 2, 2, 2, 2},
         {45, -21, -8, -12, -4, -1, 20, -8, 2, 22, -3, 8, 6, -14, -3, 2});
  expect_values({x_of({1, 2, 3, 3}), w_of({2, 2, 2, 1})},
                [](const Values& in) { return conv(in[0], in[1], {}, "channels_first"); },
                {1, 1, 2, 2}, {45, -9, 15, -28});
}

TEST(Conv, TransposedGivesKerasNumbers) {
  const auto expect = [](const Shape& x, const Shape& w, const ConvTransposeAttrs& attrs,
                         const Shape& shape, const std::vector<double>& y) {
    expect_values(
        {x_of(x), w_of(w)}, [&](const Values& in) { return conv_transpose(in[0], in[1], attrs); },
        shape, y);
  };
  expect({1, 3, 2}, {3, 2, 2}, {.strides = {2}, .padding = "same"}, {1, 6, 2},
         {19, -4, -13, -1, 6, 6, -1, -13, -13, 25, 0, 8});
  expect({1, 2, 2, 1}, {4, 4, 1, 1}, {.strides = {2}, .padding = "same"}, {1, 4, 4, 1},
         {-5, 11, 17, -2, -4, -1, -1, -4, 3, 34, -1, -11, 0, 14, -6, -10});
  expect({1, 3, 1}, {2, 1, 1}, {.strides = {3}}, {1, 9, 1}, {15, -10, 0, -6, 4, 0, 6, -4, 0});
  expect({1, 3, 1}, {3, 1, 1}, {.strides = {2}, .output_padding = {1}}, {1, 8, 1},
         {15, -10, -6, 4, 6, -4, 0, 0});
  expect({1, 3, 1}, {3, 1, 1}, {.strides = {2}, .padding = "same", .output_padding = {0}},
         {1, 5, 1}, {-10, -6, 4, 6, -4});
  expect({1, 4, 1}, {2, 1, 1}, {.dilations = {2}, .padding = "same"}, {1, 4, 1}, {-6, -4, -11, -4});
  expect({1, 3, 1}, {2, 1, 1}, {.strides = {2}, .padding = "same", .output_padding = {1}},
         {1, 5, 1}, {15, -10, -6, 4, 6});
}

TEST(Conv, DepthwiseAndSeparableGiveKerasNumbers) {
  expect_values({x_of({1, 3, 3, 2}), w_of({2, 2, 2, 2})},
                [](const Values& in) { return depthwise_conv(in[0], in[1], {.padding = "same"}); },
                {1, 3, 3, 4},
                {13, -8, -14, -13, 0,  -2, 12, -2, -5, 2, 10,  -9, -15, -1,  -2, -13, 16, -6,
                 -9, 20, -3,  -2,  -8, 22, 9,  9,  -1, 1, -24, 7,  -4,  -14, 9,  -6,  0,  -8});
  expect_values({x_of({1, 4, 4, 2}), w_of({3, 3, 2, 1}), w_of({1, 1, 2, 2})},
                [](const Values& in) {
                  return separable_conv(in[0], in[1], in[2], {.strides = {2}, .padding = "same"});
                },
                {1, 2, 2, 2}, {-39, 94, -69, 36, -42, 28, 63, -30});
}

TEST(Conv, GeometryAndFlops) {
  Module m;
  const Value y = conv(m.input({f32, {8, 28, 28, 6}}), m.input({f32, {4, 3, 3, 32}}),
                       {.strides = {2, 1}, .groups = 2, .padding = "same"});
  const ConvGeometry g = conv_geometry(y.node());
  EXPECT_EQ(g.spatial, 2);
  EXPECT_EQ(g.axes[1].low, 1);
  EXPECT_EQ(g.axes[1].high, 1);
  EXPECT_EQ(g.output(), (Shape{8, 14, 28, 32}));
  EXPECT_EQ(conv_op.flops(y.node()), 2.0 * 8 * 14 * 28 * 32 * 4 * 3 * 3);
}

TEST(Conv, RefusesAGradientOfAnInputThatCannotBe) {
  expect_user_error(
      [] {
        parse(R"(module(%dy: f32[2,4,8,4], %f: f32[3,3,3,4]) {
                   %dx = conv_grad_input(%dy, %f)
                       {strides = [2, 1], padding = "same", sizes = [9223372036854775807, 8]}
                   return %dx
                 })");
      },
      {"conv_grad_input", "too many elements"});
}

TEST(Conv, RefusesWhatDoesNotFit) {
  Module m;
  const Value x = m.input({f32, {1, 5, 5, 4}}), w = m.input({f32, {3, 3, 4, 6}});
  const Value half = m.input({f16, {3, 3, 4, 6}}), ints = m.input({DType::i32, {1, 5, 5, 4}});
  expect_user_error(
      [&] {
        conv(x, m.input({f32, {3, 3, 3, 6}}));
      },
      {"conv", "3 channels", "has 4"});
  expect_user_error([&] { conv(x, half); }, {"conv", "one dtype", "f16"});
  expect_user_error([&] { conv(ints, w); }, {"conv", "floats", "i32"});
  expect_user_error([&] { conv(x, m.input({f32, {3, 4, 6}})); }, {"conv", "rank 4", "[3,4,6]"});
  expect_user_error([&] { conv(m.input({f32, {5, 4}}), w); }, {"conv", "spatial", "[5,4]"});
  expect_user_error([&] { conv(x, w, {.groups = 3}); }, {"conv", "3 groups"});
  expect_user_error([&] { conv(x, w, {.groups = 0}); }, {"conv", "groups", "0"});
  expect_user_error([&] { conv(x, w, {.strides = {0, 1}}); }, {"conv", "strides", "0"});
  expect_user_error([&] { conv(x, w, {.strides = {1, 2, 3}}); }, {"conv", "strides", "got 3"});
  expect_user_error([&] { conv(x, w, {.dilations = {int64_t{1} << 40}}); }, {"dilations", "2^31"});
  expect_user_error([&] { conv(x, w, {.dilations = {3}}); }, {"conv", "7", "does not fit", "5"});
  expect_user_error([&] { conv(x, w, {.padding = "full"}); }, {"conv", "padding", "'full'"});
  expect_user_error([&] { conv(x, w, {.padding = "causal"}); }, {"conv", "causal", "got 2"});
  expect_user_error([&] { conv(x, w, {.low = {1, 1}}); }, {"conv", "explicit", "'valid'"});
  expect_user_error([&] { conv(x, w, {}, "NCHW"); }, {"conv", "data format", "'NCHW'"});
  expect_user_error([&] { conv(x, m.input({f32, {0, 3, 4, 6}})); }, {"conv", "window", "got 0"});
  expect_user_error([&] { conv_grad_input(x, w, {.sizes = {5, 5}}); }, {"conv_grad_input"});
  expect_user_error([&] { conv_grad_filter(x, x, {.sizes = {3}}); }, {"conv_grad_filter", "sizes"});
  expect_user_error([&] { conv_transpose(x, w); }, {"conv_transpose", "6 channels", "has 4"});
  expect_user_error([&] { depthwise_conv(x, m.input({f32, {3, 4, 2}})); }, {"depthwise_conv"});
  const int64_t big = int64_t{1} << 20;
  expect_user_error(
      [&] {
        conv(m.input({f32, {big, big, 1}}), m.input({f32, {1, 1, big}}));
      },
      {"too many elements"});
}

}  // namespace
}  // namespace keratin::ops
