#include "keratin/layers/merging.h"

#include "keratin/graph/input.h"
#include "keratin/testing/check_layer.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::check_layer;
using testing::expect_user_error;

using enum DType;

TEST(Average, BehavesAsInKeras) {
  // TensorFlow divides integers in float64; JAX, and so Keratin, in float32.
  check_layer("Average", {.skip = {"int"}});
}

MaskedTensor steps(const std::vector<double>& values, const std::vector<int>& mask = {}) {
  const auto count = static_cast<int64_t>(values.size());
  MaskedTensor x{Tensor::of(f32, {1, count, 1}, values)};
  if (!mask.empty()) x.mask = Tensor::of(boolean, {1, count}, mask);
  return x;
}

RunResult run(Layer& layer, const std::vector<MaskedTensor>& inputs, Dialect dialect) {
  return run_layer(layer, {{Tree<MaskedTensor>(inputs)}, {}}, {.dialect = dialect});
}

TEST(Merge, MasksByDialect) {
  const MaskedTensor a = steps({1, 2, 3, 4}, {1, 1, 0, 0}), b = steps({5, 6, 7, 8}, {1, 0, 1, 0}),
                     open = steps({1, 1, 1, 1});
  const Tensor either = Tensor::of<int>(boolean, {1, 4}, {1, 1, 1, 0});
  const Tensor both = Tensor::of<int>(boolean, {1, 4}, {1, 0, 0, 0});
  const LayerPtr all[] = {Add(), Subtract(), Multiply(), Average(), Maximum(), Minimum()};
  for (const LayerPtr& layer : all) {
    SCOPED_TRACE(layer->class_name());
    EXPECT_EQ(*run(*layer, {a, b}, Dialect::keras3).masks[0], either);
    EXPECT_EQ(*run(*layer, {a, b}, Dialect::keras2).masks[0], both);
    EXPECT_FALSE(run(*layer, {a, open}, Dialect::keras3).masks[0].has_value());
    EXPECT_EQ(*run(*layer, {a, open}, Dialect::keras2).masks[0], *a.mask);
    EXPECT_FALSE(run(*layer, {open, open}, Dialect::keras2).masks[0].has_value());
  }
}

TEST(Merge, Keras2MergesMaskedElements) {
  const MaskedTensor a = steps({1, 2, 3, 4}, {1, 1, 0, 0}), b = steps({5, 6, 7, 8}, {1, 0, 1, 0});
  const auto values = [&](const LayerPtr& layer, Dialect dialect) {
    return run(*layer, {a, b}, dialect).outputs.leaf().to_vector();
  };
  EXPECT_EQ(values(Multiply(), Dialect::keras2), (std::vector<double>{5, 12, 21, 32}));
  EXPECT_EQ(values(Multiply(), Dialect::keras3), (std::vector<double>{5, 2, 7, 0}));
  EXPECT_EQ(values(Maximum(), Dialect::keras2), (std::vector<double>{5, 6, 7, 8}));
  EXPECT_EQ(values(Maximum(), Dialect::keras3), (std::vector<double>{5, 2, 7, 4}));
}

TEST(Concatenate, MasksByDialect) {
  const MaskedTensor a = steps({1, 2}, {1, 0}), b = steps({5, 6}, {1, 1}), open = steps({1, 1});
  const auto mask = [](int x, int y) { return Tensor::of<int>(boolean, {1, 2}, {x, y}); };
  EXPECT_EQ(*run(*Concatenate(), {a, b}, Dialect::keras3).masks[0], mask(1, 1));
  EXPECT_EQ(*run(*Concatenate(), {a, b}, Dialect::keras2).masks[0], mask(1, 0));
  EXPECT_EQ(*run(*Concatenate(), {a, open}, Dialect::keras2).masks[0], mask(1, 0));
  const auto time = Concatenate({.axis = 1});
  for (const Dialect dialect : {Dialect::keras2, Dialect::keras3})
    EXPECT_EQ(*run(*time, {open, a}, dialect).masks[0],
              Tensor::of<int>(boolean, {1, 4}, {1, 1, 1, 0}));
}

TEST(Merge, PromotesDtypes) {
  const MaskedTensor whole{Tensor::of<int>(DType::i32, {1, 2}, {1, 2})},
      half{Tensor::of<double>(f32, {1, 2}, {0.5, 0.5})};
  EXPECT_EQ(run(*Add(), {whole, half}, Dialect::keras3).outputs.leaf(),
            Tensor::of<double>(f32, {1, 2}, {1.5, 2.5}));
  EXPECT_EQ(run(*Add(), {whole, whole}, Dialect::keras3).outputs.leaf().dtype(), DType::i32);
  EXPECT_EQ(run(*Average(), {whole, whole}, Dialect::keras3).outputs.leaf().dtype(), f32);
  EXPECT_EQ(run(*Concatenate(), {whole, half}, Dialect::keras3).outputs.leaf().dtype(), f32);
}

TEST(Merge, RefusesWhatDoesNotFit) {
  const auto a = Input({3}), b = Input({4});
  expect_user_error([&] { Add()({a, b}); }, {"incompatible shapes", "(3,)", "(4,)"});
  expect_user_error([&] { Add()(a); }, "should be called on a list of inputs");
  expect_user_error(
      [&] {
        Subtract()({a, a, a});
      },
      {"Subtract", "exactly 2 inputs", "[(None, 3), (None, 3), (None, 3)]"});
  const auto two = Input({.shape = {3}, .batch_size = 2}),
             four = Input({.shape = {3}, .batch_size = 4});
  expect_user_error([&] { Add()({two, four}); }, {"different batch sizes", "[(2, 3), (4, 3)]"});
}

TEST(Concatenate, RefusesWhatDoesNotFit) {
  const auto a = Input({3, 2}), b = Input({4, 2});
  expect_user_error(
      [&] {
        Concatenate()({a, b});
      },
      {"matching shapes", "[(None, 3, 2), (None, 4, 2)]"});
  expect_user_error([&] { Concatenate({.axis = 5})({a, b}); }, "axis 5");
  expect_user_error([&] { Concatenate()(a); }, "list of inputs");
}

TEST(Dot, RefusesWhatDoesNotFit) {
  const auto a = Input({3, 2}), b = Input({4, 2});
  expect_user_error(
      [&] {
        Dot({.axes = 1})({a, b});
      },
      {"Incompatible input shapes", "3 (at axis 1) != 4 (at axis 1)"});
  expect_user_error([&] { Dot({.axes = 0})({a, a}); }, "axis 0");
  expect_user_error([&] { Dot({.axes = {1, 1, 1}}); }, {"two elements", "[1, 1, 1]"});
  expect_user_error([&] { Dot()({a, a, a}); }, "2 inputs");
}

TEST(Merge, FunctionsCallNewLayers) {
  const auto a = Input({4, 3}), b = Input({4, 3});
  EXPECT_EQ(layers::add({a, b}, {.name = "sum"}).layer()->name(), "sum");
  EXPECT_EQ(layers::subtract({a, b}).layer()->class_name(), "Subtract");
  EXPECT_EQ(layers::multiply({a, b}).layer()->class_name(), "Multiply");
  EXPECT_EQ(layers::average({a, b}).layer()->class_name(), "Average");
  EXPECT_EQ(layers::maximum({a, b}).layer()->class_name(), "Maximum");
  EXPECT_EQ(layers::minimum({a, b}).layer()->class_name(), "Minimum");
  EXPECT_EQ(layers::concatenate({a, b}, 1).shape(), Shape({unknown, 8, 3}));
  EXPECT_EQ(layers::dot({a, b}, {.axes = 2}).shape(), Shape({unknown, 4, 4}));
}

// Only the first call's inputs are checked when the layer is built.
TEST(Merge, ChecksLaterCalls) {
  const auto a = Input({3}), b = Input({3});
  const Subtract minus;
  minus({a, b});
  expect_user_error([&] { minus({a, b, a}); }, "exactly 2 inputs");
  const Dot dot({.axes = 1});
  dot({a, b});
  expect_user_error([&] { dot({a, b, a}); }, "a list of 2 inputs");
}

}  // namespace
}  // namespace keratin
