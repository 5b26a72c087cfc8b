#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "keratin/layers/registry.h"
#include "keratin/model/model.h"

namespace keratin {

// A random functional model, as data: each step adds a layer to what is there. A step picks by its
// numbers among what is possible when its turn comes, so any steps can be left out and what remains
// is a model still. That is how a failing one is shrunk.
struct Step {
  uint64_t kind = 0, first = 0, second = 0, size = 0;
};
struct Recipe {
  uint64_t seed = 0;
  std::vector<Step> steps;
  uint64_t ends = 0;  // decides the inputs' and outputs' structure
};

Recipe random_recipe(uint64_t seed);
Model cook(const Recipe& recipe);
// Data for the model's inputs: sequences are padded with zeros, so that masks matter.
Tree<Tensor> data_for(const Model& model, uint64_t seed);
// What reading such a model's config needs: the functions of its Lambdas.
CustomLayers lambdas_of_recipes();

// The smallest recipe found, by leaving out steps, for which `fails` still holds.
template <class Fails>
Recipe shrink(Recipe recipe, const Fails& fails) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (size_t i = 0; i < recipe.steps.size(); ++i) {
      Recipe without = recipe;
      without.steps.erase(without.steps.begin() + static_cast<int64_t>(i));
      if (without.steps.empty() || !fails(without)) continue;
      recipe = without;
      smaller = true;
      break;
    }
  }
  return recipe;
}

}  // namespace keratin
