// A layer that a model uses several times is one layer in the clone too.
#include <gtest/gtest.h>

#include "keratin/graph/input.h"
#include "keratin/layers/layers.h"
#include "keratin/model/clone.h"
#include "keratin/ops/ops.h"

namespace keratin {
namespace {

// A model that calls a layer twice and a nested model twice.
Model with_ties() {
  const auto i = Input({.shape = {3}, .name = "i"});
  const Model inner({.inputs = i, .outputs = Dense({.units = 3}, "inside")(i), .name = "inner"});
  const auto x = Input({.shape = {3}, .name = "x"});
  const Dense twice({.units = 3}, "twice");
  return Model({.inputs = x, .outputs = twice(inner(twice(inner(x))))});
}

TEST(Ties, CallCloneFunctionOncePerLayer) {
  std::vector<std::string> seen;
  const Model copy = clone_model(with_ties(), {.clone_function = [&](const LayerPtr& layer) {
                                   seen.push_back(layer->name());
                                   return layer->fresh_copy();
                                 }});
  EXPECT_EQ(seen, (std::vector<std::string>{"inner", "twice"}));
  EXPECT_EQ(copy.weights().size(), 4u);
}

TEST(Ties, AreKeptWithANestedSequential) {
  const Dense shared({.units = 3}, "shared");
  const Sequential inner({shared}, "inner");
  const auto x = Input({3});
  const Model model({.inputs = x, .outputs = shared(inner(x))});
  size_t calls = 0;
  const auto count = [&](const LayerPtr& layer) { return ++calls, layer->fresh_copy(); };
  const Model copy = clone_model(model, {.clone_function = count, .recursive = true});
  EXPECT_EQ(calls, 1u);
  EXPECT_EQ(copy.weights().size(), 2u);
}

TEST(Ties, AreKeptForNestedModels) {
  for (const bool recursive : {false, true}) {
    const Model copy = clone_model(with_ties(), {.recursive = recursive});
    EXPECT_EQ(copy.layers().size(), 3u) << recursive;
    EXPECT_EQ(copy.weights().size(), 4u) << recursive;
  }
}

TEST(Ties, AreKeptByFreshCopies) {
  const auto x = Input({3});
  const Dense twice({.units = 3}, "twice");
  const Model model({.inputs = x, .outputs = twice(twice(x))});
  EXPECT_EQ(model.layer()->fresh_copy()->weights().size(), 2u);
}

// Keras does not keep this one: the wrapper gets a layer of its own.
TEST(Ties, AreKeptForTheLayerOfAWrapper) {
  const auto x = Input({4, 3});
  const Dense dense({.units = 3}, "dense");
  const Symbols steps = TimeDistributed({.layer = dense}, "each")(x);
  const Model model({.inputs = x, .outputs = dense(steps)});
  const Model copy = clone_model(model, {.copy_weights = true});
  EXPECT_EQ(copy.weights().size(), 2u);
  const Tensor ones = Tensor::full(DType::f32, {1, 4, 3}, 1);
  EXPECT_EQ(Tensor(copy.predict(ones)), Tensor(model.predict(ones)));
}

TEST(Ties, AreKeptWhenWeightsAreCopied) {
  const Dense dense({.units = 2});
  dense(Input({3}));
  const Model copy = clone_model(Model(dense), {.copy_weights = true});
  ASSERT_EQ(copy.weights().size(), 2u);
  EXPECT_EQ(copy.weights()[0].value(), dense->weights()[0].value());
  EXPECT_FALSE(copy.weights()[0] == dense->weights()[0]);
}

}  // namespace
}  // namespace keratin
