#include "keratin/graph/bind_arguments.h"

#include <gtest/gtest.h>

#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

// A layer that is called with (inputs, state, mask, training, flag).
class Listing : public Layer {
 public:
  Listing() : Layer("Listing", {"it"}) {}
  std::string_view class_name() const override { return "Listing"; }
  LayerPtr fresh_copy() const override { return std::make_shared<Listing>(); }
  Results call(const Call& c) const override { return c.input(); }
  std::vector<std::string_view> call_arguments() const override {
    return {"inputs", "state", "mask", "training", "flag"};
  }
};

class Recurrent final : public Listing, public TakesStates {};

using Args = Arguments<Tensor>;

Tensor number(double value) { return Tensor::scalar(DType::f32, value); }
double at(const Args& bound, size_t position) { return bound.positional[position].leaf().at(0); }

TEST(BindArguments, TensorsGoByPositionAndOthersByName) {
  const Listing layer;
  const Args bound =
      bind_arguments(layer, Args{{number(1), number(2), number(3), Tree<Tensor>(true)}, {}});
  ASSERT_EQ(bound.positional.size(), 2U);
  EXPECT_EQ(at(bound, 0), 1);
  EXPECT_EQ(at(bound, 1), 2);
  EXPECT_EQ(bound.named.at("mask").leaf().at(0), 3);
  EXPECT_TRUE(bound.named.at("training").constant().as_bool());
}

TEST(BindArguments, TensorsMayBeGivenByName) {
  const Listing layer;
  const Args bound =
      bind_arguments(layer, Args{{number(1)}, {{"state", number(2)}, {"flag", Tree<Tensor>(1)}}});
  ASSERT_EQ(bound.positional.size(), 2U);
  EXPECT_EQ(at(bound, 1), 2);
  EXPECT_EQ(bound.named.size(), 1U);
}

TEST(BindArguments, RefusesWhatTheLayerDoesNotTake) {
  const Listing layer;
  const auto refused = [&](Args given, const char* message) {
    testing::expect_user_error([&] { bind_arguments(layer, std::move(given)); },
                               {"Listing 'it': its call takes (inputs, state, mask", message});
  };
  const Tensor x = number(1);
  refused({{x}, {{"colour", x}}}, "got an unexpected argument 'colour'");
  refused({{x}, {{"inputs", x}}}, "got multiple values for 'inputs'");
  refused({{x, x, x}, {{"mask", x}}}, "got multiple values for 'mask'");
  refused({{x, x, x, x, x, x}, {}}, "got 6 positional arguments");
}

TEST(BindArguments, OnlyRecurrentLayersTakeStatesFromAList) {
  const Args given{{Tree<Tensor>({number(1), number(2), number(3)})}, {}};
  EXPECT_EQ(bind_arguments(Listing(), given).positional.size(), 1U);
  const Args bound = bind_arguments(Recurrent(), given);
  ASSERT_EQ(bound.positional.size(), 2U);
  EXPECT_EQ(at(bound, 0), 1);
  EXPECT_EQ(bound.positional[1].list().size(), 2U);
}

}  // namespace
}  // namespace keratin
