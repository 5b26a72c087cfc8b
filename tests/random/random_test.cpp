// Builds random functional models, and compares their outputs with those of clones and of reloaded
// models. KERATIN_RANDOM_MODELS sets their number, KERATIN_RANDOM_SEED the first seed.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <iostream>

#include "keratin/base/warning.h"
#include "keratin/layers/layers.h"
#include "keratin/model/clone.h"
#include "keratin/model/program.h"
#include "keratin/model/summary.h"
#include "keratin/ops/ops.h"
#include "tests/random/recipe_testing.h"

namespace keratin {
namespace {

using Cloner = std::function<Model(const Model&)>;

bool same(const RunResult& a, const RunResult& b) {
  const auto x = a.outputs.flat(), y = b.outputs.flat();
  if (a.outputs.outline() != b.outputs.outline()) return false;
  for (size_t i = 0; i < x.size(); ++i)
    if (!(x[i] == y[i]) || a.masks[i].has_value() != b.masks[i].has_value() ||
        (a.masks[i] && !(*a.masks[i] == *b.masks[i])))
      return false;
  return true;
}

bool close(const RunResult& a, const RunResult& b) {
  const auto x = a.outputs.flat(), y = b.outputs.flat();
  for (size_t i = 0; i < x.size(); ++i)
    for (int64_t k = 0; k < x[i].count(); ++k)
      // The mean of a fully masked row is NaN, as in Keras.
      if (!(std::abs(x[i].at(k) - y[i].at(k)) <= 1e-4 * (1 + std::abs(y[i].at(k)))) &&
          !(std::isnan(x[i].at(k)) && std::isnan(y[i].at(k))))
        return false;
  return true;
}

// A config without build shapes: a layer may have been built by a call outside of the model.
Json unbuilt(const Json& json) {
  if (json.is_array()) {
    Json out = Json::array();
    for (const Json& item : json.as_array()) out.push_back(unbuilt(item));
    return out;
  }
  if (!json.is_object()) return json;
  Json out = Json::object();
  for (const auto& [key, value] : json.as_object())
    if (key != "build_config") out[key] = unbuilt(value);
  return out;
}

// The first fault of a model of this recipe; "" if there is none.
std::string fault(const Recipe& recipe, const Cloner& cloner) {
  try {
    clear_session();
    const Model model = cook(recipe);
    const Tree<Tensor> data = data_for(model, recipe.seed);
    const std::string config = model.to_json();
    const RunResult expected = model.run(data);
    if (!close(expected, model.run(data, {.engine = {.backend = "reference"}})))
      return "the reference backend gives other numbers";
    const Model copy = cloner(model);
    for (const Variable& ours : copy.weights())
      for (const Variable& theirs : model.weights())
        if (ours == theirs) return "the clone shares weights";
    copy.layer()->set_weights(model.get_weights());
    if (!same(copy.run(data), expected)) return "the clone gives other numbers";
    if (model.to_json() != config) return "cloning changed the source";
    const Model loaded(layer_from_json(Json::parse(config), lambdas_of_recipes()));
    if (!(unbuilt(Json::parse(loaded.to_json())) == unbuilt(Json::parse(config))))
      return "the reloaded model has another config";
    loaded.layer()->set_weights(model.get_weights());
    if (!same(loaded.run(data), expected)) return "the reloaded model gives other numbers";
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

uint64_t setting(const char* name, uint64_t fallback) {
  const char* given = std::getenv(name);
  return given == nullptr ? fallback : std::strtoull(given, nullptr, 10);
}

class RandomModels : public ::testing::Test {
 protected:
  void SetUp() override { handler_ = set_warning_handler({}); }
  void TearDown() override { set_warning_handler(handler_); }

 private:
  WarningHandler handler_;
};

TEST_F(RandomModels, GiveTheSameOutputsClonedAndReloaded) {
  const uint64_t first = setting("KERATIN_RANDOM_SEED", 1);
  const uint64_t count = setting("KERATIN_RANDOM_MODELS", 2000);
  std::cout << "seeds " << first << " to " << first + count - 1 << '\n';
  const Cloner cloner = [](const Model& model) { return clone_model(model); };
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const std::string wrong = fault(random_recipe(seed), cloner);
    if (wrong.empty()) continue;
    const Recipe smallest =
        shrink(random_recipe(seed), [&](const Recipe& r) { return !fault(r, cloner).empty(); });
    ADD_FAILURE() << "seed " << seed << ": " << wrong << "\nthe smallest model that fails ("
                  << fault(smallest, cloner) << "):\n"
                  << summary_text(cook(smallest));
    return;
  }
}

// A cloner that loses masks must be detected, and the failing model shrunk to a few layers.
TEST_F(RandomModels, ShrinkAFailingModel) {
  const Cloner forgetful = [](const Model& model) {
    return clone_model(model, {.clone_function = [](const LayerPtr& layer) -> LayerPtr {
                         if (layer->class_name() == "Masking")
                           return Lambda([](Value x) { return x * 1.0; }, layer->name().c_str());
                         return layer->fresh_copy();
                       }});
  };
  for (uint64_t seed = 1; seed < 500; ++seed) {
    if (fault(random_recipe(seed), forgetful) != "the clone gives other numbers") continue;
    const Recipe smallest = shrink(random_recipe(seed), [&](const Recipe& r) {
      return fault(r, forgetful) == "the clone gives other numbers";
    });
    EXPECT_LE(smallest.steps.size(), 3u);
    return;
  }
  ADD_FAILURE() << "expected a random model to detect a lost mask";
}

}  // namespace
}  // namespace keratin
