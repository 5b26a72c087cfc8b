#include "keratin/layers/conv.h"

#include "keratin/base/warning.h"
#include "keratin/graph/input.h"
#include "keratin/testing/check_layer.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::check_layer;
using testing::expect_user_error;

// The update of LoRA is float32 in any layer, too coarse for finite differences in double.
const testing::LayerChecks conv_checks{
    .no_gradient = {"lora", "lora, alpha", "lora, causal", "lora, channels_first",
                    "lora, dilation, same", "lora, float64", "lora, groups", "lora, mixed_float16",
                    "lora, regularizer, no bias", "lora, strides"}};

TEST(Conv1D, BehavesAsInKeras) { check_layer("Conv1D", conv_checks); }
TEST(Conv2D, BehavesAsInKeras) { check_layer("Conv2D", conv_checks); }
TEST(Conv3D, BehavesAsInKeras) { check_layer("Conv3D", conv_checks); }

TEST(Conv, WritesOneSizeForEachAxis) {
  const Json config =
      Conv2D({.filters = 4, .kernel_size = 3, .strides = 2, .padding = "SAME"})->get_config();
  EXPECT_EQ(config.at("kernel_size"), Json::parse("[3, 3]"));
  EXPECT_EQ(config.at("strides"), Json::parse("[2, 2]"));
  EXPECT_EQ(config.at("padding"), Json("same"));
}

TEST(Conv, LeavesUnknownSizesUnknown) {
  const auto conv = Conv2D({.filters = 4, .kernel_size = 3, .strides = 2});
  const SymbolicTensor y = conv(Input({unknown, 9, 2}));
  EXPECT_EQ(y.shape(), Shape({unknown, unknown, 4, 4}));
}

TEST(Conv, ConvertsIntegers) {
  const auto conv = Conv1D({.filters = 1, .kernel_size = 2, .kernel_initializer = "ones"});
  const auto result =
      run_layer(*conv, {{MaskedTensor{Tensor::of<int32_t>(DType::i32, {1, 3, 1}, {1, 2, 4})}}, {}});
  EXPECT_EQ(Tensor(result.outputs), Tensor::of<float>(DType::f32, {1, 2, 1}, {3, 6}));
}

// Also where the last axis is as long as there are channels.
TEST(Conv, AddsItsBiasToChannelsFirst) {
  const auto conv = Conv1D({.filters = 2, .kernel_size = 1, .data_format = "channels_first"});
  conv->ensure_built({Shape{1, 1, 2}});
  conv->set_weights(
      {Tensor::zeros(DType::f32, {1, 1, 2}), Tensor::of<float>(DType::f32, {2}, {3, 5})});
  const auto result = run_layer(*conv, {{MaskedTensor{Tensor::zeros(DType::f32, {1, 1, 2})}}, {}});
  EXPECT_EQ(Tensor(result.outputs), Tensor::of<float>(DType::f32, {1, 2, 2}, {3, 3, 5, 5}));
}

TEST(Conv, RefusesBadArguments) {
  expect_user_error([] { Conv1D({.filters = 0, .kernel_size = 1}); }, {"filters", "0"});
  expect_user_error([] { Conv2D({.filters = 2}); }, {"kernel_size", "(0, 0)", "> 0"});
  expect_user_error([] { Conv2D({.filters = 2, .kernel_size = {3}}); },
                    {"`kernel_size` argument must be a tuple of 2 integers", "(3,)"});
  expect_user_error([] { Conv1D({.filters = 3, .kernel_size = 1, .groups = 2}); },
                    {"evenly divisible", "groups=2", "filters=3"});
  expect_user_error([] { Conv1D({.filters = 3, .kernel_size = 1, .groups = 0}); }, "groups=0");
  expect_user_error([] { Conv2D({.filters = 2, .kernel_size = 2, .padding = "causal"}); },
                    {"padding", "causal"});
  expect_user_error([] { Conv2D({.filters = 2, .kernel_size = 2, .data_format = "NHWC"}); },
                    {"data_format", "nhwc"});
  expect_user_error(
      [] {
        Conv2D({.filters = 2, .kernel_size = 2, .strides = 2, .dilation_rate = {1, 2}});
      },
      {"`strides > 1` not supported", "(2, 2)", "(1, 2)"});
}

TEST(Conv, RefusesWrongInputs) {
  expect_user_error([] { Conv1D({.filters = 2, .kernel_size = 3})(Input({4})); },
                    {"expected min_ndim=3", "found ndim=2"});
  expect_user_error(
      [] {
        Conv1D({.filters = 2, .kernel_size = 3})(Input({4, 4, 4}));
      },
      {"1 spatial dimensions", "(None, 4, 4, 4)"});
  expect_user_error(
      [] {
        Conv1D({.filters = 2, .kernel_size = 3})(Input({4, unknown}));
      },
      "channel dimension");
  expect_user_error(
      [] {
        Conv1D({.filters = 2, .kernel_size = 3})(Input({2, 4}));
      },
      {"zero or negative", "(None, 2, 4)", "(3,)"});
  expect_user_error(
      [] {
        Conv1D({.filters = 4, .kernel_size = 3, .groups = 2})(Input({8, 3}));
      },
      {"number of input channels", "groups=2", "3 channels"});
  const auto conv = Conv1D({.filters = 2, .kernel_size = 3, .data_format = "channels_first"}, "c");
  conv(Input({4, 8}));
  expect_user_error([&] { conv(Input({5, 8})); }, {"layer 'c'", "axis 1", "4", "5"});
}

// A convolution mixes timesteps, so it drops masks.
TEST(Conv, DropsMasks) {
  const auto conv = Conv1D({.filters = 2, .kernel_size = 2}, "c");
  const Arguments<MaskedTensor> arguments{
      {MaskedTensor{Tensor::zeros(DType::f32, {1, 3, 2}), Tensor::zeros(DType::boolean, {1, 3})}},
      {}};
  for (const Dialect dialect : {Dialect::keras3, Dialect::keras2})
    EXPECT_FALSE(run_layer(*conv, arguments, {.dialect = dialect}).masks[0].has_value());
}

}  // namespace
}  // namespace keratin
