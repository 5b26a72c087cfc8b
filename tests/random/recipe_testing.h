#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "keratin/layers/registry.h"
#include "keratin/model/model.h"

namespace keratin {

// A random functional model as data. Each step adds a layer, chosen by the step's numbers among the
// possible ones. Any steps can be left out and the others still make a model, so that a failing
// model can be shrunk.
struct Step {
  uint64_t kind = 0, first = 0, second = 0, size = 0;
};
struct Recipe {
  uint64_t seed = 0;
  std::vector<Step> steps;
  uint64_t ends = 0;  // chooses the structure of inputs and outputs
};

Recipe random_recipe(uint64_t seed);
Model cook(const Recipe& recipe);
// Data for the model's inputs: sequences are padded with zeros, so that masks matter.
Tree<Tensor> data_for(const Model& model, uint64_t seed);
// The functions of Lambdas, which are needed to read such a model's config.
CustomObjects lambdas_of_recipes();

// Leaves out steps while `fails` holds. Returns the smallest recipe found.
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
