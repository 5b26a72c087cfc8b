#include "keratin/layers/lambda.h"

#include <map>

#include "keratin/graph/input.h"
#include "keratin/model/model.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/slicing.h"
#include "keratin/testing/check_layer.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::check_layer;
using testing::expect_user_error;

Value first_half(Value x) { return ops::slice_axis(x, 1, 0, x.shape()[1] / 2); }

Value zero_masked(const Call& c) {
  const Value x = c.input();
  if (!c.mask()) return x;
  return x * ops::expand_dims(ops::cast(*c.mask(), x.dtype()), -1);
}

// The functions of tests/golden/maker/spec.py, in C++.
const std::map<std::string, LambdaFunction>& functions() {
  static const std::map<std::string, LambdaFunction> all = {
      {"square", lambda_function([](Value x) { return x * x; })},
      {"twice", lambda_function([](Value x) {
         return Values{x, x};
       })},
      {"plus_one_and_same", lambda_function([](Value x) {
         return Values{x + 1, x};
       })},
      {"plus_and_minus", lambda_function([](Value x) {
         return Values{x + 1, x - 1};
       })},
      {"sum_and_product", lambda_function([](const Values& xs) {
         return Values{xs[0] + xs[1], xs[0] * xs[1]};
       })},
      {"first_half", lambda_function(first_half)},
      {"scale", lambda_function([](const Call& c) {
         return c.input() * c.argument("by").constant().as_double();
       })},
      {"add_in_training",
       lambda_function([](const Call& c) { return c.training() ? c.input() + 1.0 : c.input(); })},
      {"zero_masked", lambda_function(zero_masked)},
  };
  return all;
}

// A mask function that gives one mask marks the first output only.
Masks for_first(const Call& c, std::optional<Value> mask) {
  Masks masks(c.input_count() == 1 ? 1 : 2);
  masks[0] = mask;
  return masks;
}

const std::map<std::string, LambdaMask>& mask_functions() {
  static const std::map<std::string, LambdaMask> all = {
      {"mask_as_it_is", [](const Call& c) { return for_first(c, c.mask()); }},
      {"mask_reversed",
       [](const Call& c) {
         return for_first(c, c.mask() ? std::optional(ops::flip(*c.mask(), {1})) : std::nullopt);
       }},
      {"mask_positive",
       [](const Call& c) {
         const Value x = c.input();
         const Value first = ops::squeeze(ops::slice_axis(x, -1, 0, 1), -1);
         return for_first(c, first > 0);
       }},
      {"masks_for_both",
       [](const Call& c) {
         return c.mask() ? Masks{*c.mask(), !*c.mask()} : Masks(2);
       }},
      {"mask_of_first", [](const Call& c) { return for_first(c, c.masks()[0]); }},
  };
  return all;
}

void bind(const Json& test, Layer& layer) {
  LambdaMask mask;
  if (const Json* name = test.find("mask_lambda"); name != nullptr && !name->is_null())
    mask = mask_functions().at(name->as_string());
  const std::string& function = test.at("lambda").as_string();
  // These give two outputs of one input, and their mask functions one mask.
  if (mask && function == "plus_and_minus" && test.at("mask_lambda") == Json("mask_as_it_is"))
    mask = [](const Call& c) { return Masks{c.mask(), std::nullopt}; };
  static_cast<LambdaLayer&>(layer).bind(functions().at(function), mask);
}

TEST(Lambda, BehavesAsInKeras) { check_layer("Lambda", {.prepare = bind}); }

TEST(Lambda, FromAFileNeedsAFunction) {
  const LayerPtr layer = layer_from_json(Json::parse(
      R"({"class_name": "Lambda", "config": {"name": "lam", "trainable": true,
          "function": {"class_name": "__lambda__", "config": {"code": "AAAA"}}}})"));
  expect_user_error([&] { (*layer)(Input({3})); }, {"Lambda 'lam'", "no function", "never run"});
  EXPECT_EQ(layer->get_config().at("function").at("config").at("code"), Json("AAAA"));
}

TEST(Lambda, NeedsOneMaskPerOutput) {
  const Lambda lambda(
      [](Value x) {
        return Values{x, x};
      },
      {.mask = [](const Call& c) { return Masks{c.mask()}; }, .name = "two"});
  expect_user_error([&] { lambda(Input({3})); }, {"Lambda 'two'", "one mask per output (2)", "1"});
}

TEST(Lambda, CallArgumentsOverrideBoundOnes) {
  const auto x = Input({1});
  const auto scale = [](const Call& c) {
    return c.input() * c.argument("by").constant().as_double();
  };
  const Lambda layer(scale, LambdaOptions{.arguments = Json::Object{{"by", 2.0}}});
  const Model model({.inputs = x, .outputs = {layer(x), layer(x, {{"by", 3.0}})}});
  const auto out = model.predict(Tensor::full(DType::f32, {1, 1}, 1)).flat();
  EXPECT_EQ(out[0].at(0), 2);
  EXPECT_EQ(out[1].at(0), 3);
}

}  // namespace
}  // namespace keratin
