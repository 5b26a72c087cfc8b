// What every layer tells about itself and its calls.
#include "keratin/graph/layer.h"

#include <gtest/gtest.h>

#include "keratin/graph/input.h"
#include "keratin/layers/layers.h"
#include "keratin/model/model.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;

TEST(Layer, KnowsTheTensorsOfItsFirstCall) {
  const auto a = Input({.shape = {3}, .name = "a"}), b = Input({.shape = {3}, .name = "b"});
  const Add add({}, "add");
  expect_user_error([&] { add->input(); },
                    "The layer add has never been called and thus has no defined input.");
  expect_user_error([&] { add->output(); },
                    "The layer add has never been called and thus has no defined output.");
  const SymbolicTensor sum = add(Symbols::List{a, b});
  const SymbolicTensor other = add(Symbols::List{sum, b});
  ASSERT_EQ(add->input().flat().size(), 2U);
  EXPECT_EQ(add->input()[1].leaf(), b);
  EXPECT_EQ(add->output().leaf(), sum);
  const Dense dense({.units = 2}, "dense");
  const SymbolicTensor y = dense(other);
  EXPECT_EQ(dense->input().leaf(), other);
  const Model model({.inputs = {a, b}, .outputs = y});
  EXPECT_EQ(model.layer()->output().leaf(), y);
  EXPECT_EQ(model.layer()->input().flat().size(), 2U);
}

TEST(Layer, ComputesTheShapesOfOutputs) {
  const Dense dense({.units = 5}, "dense");
  EXPECT_EQ(dense->compute_output_shape({{unknown, 7}}), Shapes({{unknown, 5}}));
  EXPECT_FALSE(dense->built()) << "asking builds nothing";
  const Add add({}, "add");
  EXPECT_EQ(add->compute_output_shape({{2, 1}, {2, 3}}), Shapes({{2, 3}}));
  const LSTM lstm({.units = 4, .return_state = true}, "lstm");
  EXPECT_EQ(lstm->compute_output_shape({{2, 6, 3}}), Shapes({{2, 4}, {2, 4}, {2, 4}}));
  dense->ensure_built({{unknown, 7}});
  EXPECT_EQ(dense->compute_output_shape({{3, 7}}), Shapes({{3, 5}}));
  EXPECT_EQ(dense->call_count(), 0U);
  expect_user_error([&] { dense->compute_output_shape({{3, 8}}); }, "dense");
}

// As in Keras: the layers in whose `build` it is built come first.
TEST(Layer, HasAPath) {
  const Dense dense({.units = 2}, "dense");
  EXPECT_EQ(dense->path(), "");
  dense(Input({3}));
  EXPECT_EQ(dense->path(), "dense");
  const Dense inner({.units = 2}, "inner");
  const TimeDistributed outer({.layer = inner}, "outer");
  outer(Input({4, 3}));
  EXPECT_EQ(inner->path(), "outer/inner");
  EXPECT_EQ(inner->weights()[0].path(), "outer/inner/kernel");
}

}  // namespace
}  // namespace keratin
