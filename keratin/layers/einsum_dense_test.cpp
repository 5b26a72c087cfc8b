#include "keratin/layers/dense.h"

#include <cmath>

#include "keratin/graph/input.h"
#include "keratin/testing/check_layer.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::check_layer;
using testing::expect_user_error;

// The update of LoRA is float32 in any layer, too coarse for finite differences in double.
TEST(EinsumDense, BehavesAsInKeras) {
  check_layer("EinsumDense", {.no_gradient = {"lora", "lora, bias"}});
}

TEST(EinsumDense, ScalesByTheAxesOfTheEquation) {
  // One input axis of 4 and output axes of 2 · 8: the limit is √(6 / 20).
  set_random_seed(1);
  const auto layer = EinsumDense({.equation = "abc,cde->abde", .output_shape = {{}, 2, 8}});
  layer(Input({3, 4}));
  double largest = 0;
  const auto values = layer->weights()[0].value().to_vector();
  for (const double v : values) largest = std::max(largest, std::fabs(v));
  EXPECT_LT(largest, std::sqrt(6.0 / 20));
  EXPECT_GT(largest, 0.9 * std::sqrt(6.0 / 20));
}

TEST(EinsumDense, RefusesWhatDoesNotFit) {
  const auto make = [](const std::string& equation, const OpenDims& shape) {
    EinsumDense({.equation = equation, .output_shape = shape})(Input({4, 3}));
  };
  expect_user_error([&] { make("ab", {3}); }, {"Invalid einsum equation 'ab'"});
  expect_user_error([&] { make("abc,...cd->abd", {4, 3}); }, "Invalid einsum equation");
  expect_user_error([&] { make("ab,bc->ac", {3}); }, {"does not fit", "(None, 4, 3)"});
  expect_user_error(
      [&] {
        make("abc,cd->abd", {5, 3});
      },
      {"shared dimension 'b'", "Input shape is 4", "output shape is 5"});
  expect_user_error([&] { make("abc,cd->abde", {4, 3, 2}); }, {"'e'", "output 'abde'"});
  expect_user_error([&] { make("abc,cdx->abd", {4, 3}); }, {"Weight dimension 'x'"});
  expect_user_error([&] { make("abc,cd->abd", {{}}); }, "too short");
  expect_user_error(
      [] {
        EinsumDense({.equation = "ab,bc->ac", .output_shape = {3}, .bias_axes = "z"})(Input({4}));
      },
      {"Bias dimension 'z'", "'ac'"});
}

}  // namespace
}  // namespace keratin
