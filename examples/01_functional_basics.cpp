// Lesson 1: models are graphs of layers. Tensors without data flow through layers; what lies
// between inputs and outputs is a model, and a model is a layer again.
#include <keratin/keratin.h>

#include <iostream>

#include "example.h"

using namespace keratin;

int main() {
  // A small branch, used twice: both calls share its weights.
  const auto side = Input({.shape = {4}, .name = "side"});
  const Model branch({.inputs = side,
                      .outputs = Dense({.units = 3, .activation = "relu"}, "encode")(side),
                      .name = "branch"});

  const auto left = Input({.shape = {4}, .name = "left"}),
             right = Input({.shape = {4}, .name = "right"});
  const SymbolicTensor a = branch(left), b = branch(right);

  // Arithmetic and any C++ function are layers too. This function gives two tensors.
  const Lambda both([](Value x) -> Values { return {x * x, ops::tanh(x)}; });
  const auto [squares, bends] = both(a - b).unpack<2>();
  const SymbolicTensor joined = Concatenate()({squares, bends});
  const Model model({.inputs = {left, right},
                     .outputs = Symbols::Dict{{"score", Dense({.units = 1}, "score")(joined)},
                                              {"joined", joined}},
                     .name = "pair"});
  summary(model);

  // Data go in by position or by name, and come out in the structure of the outputs.
  const Tensor x = Tensor::full(DType::f32, {2, 4}, 1), z = Tensor::zeros(DType::f32, {2, 4});
  const Tree<Tensor> out = model.predict(Tree<Tensor>::Dict{{"left", x}, {"right", z}});
  std::cout << "score " << out["score"].leaf() << '\n';

  // The same branch on both sides: where they agree, the difference is nothing.
  const Tensor pairs = model.predict({x, x})["joined"].leaf();
  for (int64_t i = 0; i < pairs.count(); ++i)
    require(pairs.at(i) == 0, "shared layers must give the same");
}
