#include <filesystem>
#include <random>

#include "keratin/keratin.h"
#include "keratin/testing/check_layer.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/warnings.h"

namespace keratin {
namespace {

using testing::expect_user_error;

Tensor between_ones(const Shape& shape, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> values(-1, 1);
  std::vector<float> all(static_cast<size_t>(shape.count()));
  for (float& value : all) value = values(random);
  return Tensor::of(DType::f32, shape, all);
}

// With equal kernels at all positions it is a convolution.
TEST(LocallyConnected, WithEqualKernelsIsAConvolution) {
  for (const std::string layout : {"channels_last", "channels_first"}) {
    const auto x = layout == "channels_last" ? Input({5, 6, 3}) : Input({3, 5, 6});
    const LocallyConnected2D local(
        {.filters = 2, .kernel_size = {2, 3}, .strides = {1, 2}, .data_format = layout});
    const Conv2D conv(
        {.filters = 2, .kernel_size = {2, 3}, .strides = {1, 2}, .data_format = layout});
    const Model model({.inputs = x, .outputs = {local(x), conv(x)}});
    const Tensor kernel = between_ones({2, 3, 3, 2}, 1);
    conv->weights()[0].assign(kernel);
    Tensor rows = Tensor::zeros(DType::f32, {8, 18, 2});
    for (int64_t o = 0; o < 8; ++o)
      for (int64_t tap = 0; tap < 6; ++tap)
        for (int64_t c = 0; c < 3; ++c)
          for (int64_t f = 0; f < 2; ++f) {
            const int64_t row = layout == "channels_last" ? tap * 3 + c : c * 6 + tap;
            rows.set((o * 18 + row) * 2 + f, kernel.at((tap * 3 + c) * 2 + f));
          }
    local->weights()[0].assign(rows);
    const auto results = model.predict(
        between_ones(layout == "channels_last" ? Shape{2, 5, 6, 3} : Shape{2, 3, 5, 6}, 2));
    const Tensor ours = Tensor(results[0]), theirs = Tensor(results[1]);
    ASSERT_EQ(ours.shape(), theirs.shape());
    for (int64_t i = 0; i < ours.count(); ++i) EXPECT_NEAR(ours.at(i), theirs.at(i), 1e-5);
  }
}

TEST(LocallyConnected, TrainsWithEachImplementation) {
  for (int64_t implementation = 1; implementation <= 3; ++implementation) {
    set_random_seed(6);
    const auto x = Input({6, 2});
    const LocallyConnected1D local(
        {.filters = 2, .kernel_size = 3, .strides = 2, .implementation = implementation});
    Model model({.inputs = x, .outputs = Dense({.units = 1})(Flatten()(local(x)))});
    model.compile({.optimizer = Adam({.learning_rate = 0.05}), .loss = "mse"});
    const auto losses =
        model.fit(between_ones({8, 6, 2}, 3), between_ones({8, 1}, 4), {.epochs = 80, .verbose = 0})
            .history.at("loss");
    EXPECT_LT(losses.back(), 0.1 * losses.front()) << implementation;
  }
}

TEST(LocallyConnected, IsSavedWithAWarning) {
  const auto x = Input({6, 2});
  const LocallyConnected1D local({.filters = 2, .kernel_size = 3}, "local");
  const Model model({.inputs = x, .outputs = local(x)});
  for (const std::string suffix : {".keras", ".h5"}) {
    const std::string path =
        (std::filesystem::temp_directory_path() / ("keratin_local" + suffix)).string();
    const testing::Warnings warnings;
    model.save(path, {.overwrite = true});
    ASSERT_EQ(warnings.messages.size(), 1U);
    EXPECT_NE(warnings.messages[0].find("Keras 3 has no LocallyConnected1D"), std::string::npos)
        << warnings.messages[0];
    const Tensor data = between_ones({3, 6, 2}, 5);
    EXPECT_EQ(Tensor(load_model(path).predict(data)), Tensor(model.predict(data)));
  }
}

TEST(LocallyConnected, RefusesBadArgumentsAndInputs) {
  expect_user_error([] { LocallyConnected1D({.filters = 1, .kernel_size = 2, .padding = "same"}); },
                    {"Invalid border mode for LocallyConnected1D", "implementation is 1", "same"});
  expect_user_error(
      [] { LocallyConnected2D({.filters = 1, .kernel_size = 2, .implementation = 4}); },
      "Unrecognized implementation mode: 4");
  const LocallyConnected2D local({.filters = 1, .kernel_size = 2}, "local");
  expect_user_error(
      [&] {
        local(Input({unknown, 4, 1}));
      },
      {"should be fully-defined", "(None, None, 4, 1)"});
  expect_user_error(
      [&] {
        local(Input({1, 4, 1}));
      },
      {"One of the dimensions in the output is <= 0", "local", "(None, 1, 4, 1)"});
  expect_user_error([&] { local(Input({4, 4})); }, {"expected ndim=4", "found ndim=3"});
  const int64_t many = int64_t{1} << 20;
  expect_user_error(
      [&] {
        LocallyConnected1D({.filters = many, .kernel_size = 1, .implementation = 2})(
            Input({many, 1}));
      },
      "pairs of inputs and outputs");
}

}  // namespace
}  // namespace keratin
