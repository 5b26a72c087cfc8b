#pragma once

#include <functional>
#include <string>
#include <vector>

#include "keratin/graph/input.h"
#include "keratin/layers/layers.h"
#include "keratin/layers/registry.h"
#include "keratin/model/model.h"

// The mistakes of tests/golden/errors.json in C++.
namespace keratin::errors {

// How a message is compared: with the whole of Keras's; with its beginning, before it prints Python
// values; or, where the message is Keratin's own, by substrings.
enum class Match { all, beginning, substrings };
struct Case {
  const char* name;  // in errors.json
  std::function<void()> code;
  Match match = Match::all;
  std::vector<std::string> substrings = {};
};

// A tensor of fixed sizes, where Keras's cases pass data.
inline SymbolicTensor ones(const Dims& dims) {
  return Input({.shape = Shape(Dims(dims.begin() + 1, dims.end())), .batch_size = dims[0]});
}
inline Tensor data(const Shape& shape) {
  return Tensor::of(DType::f32, shape, std::vector<double>(static_cast<size_t>(shape.count()), 1));
}
inline SymbolicTensor named(const char* name) { return Input({.shape = {3}, .name = name}); }

// The models of the cases.
inline Model chain() {
  const auto x = named("x");
  const Symbols y = Dense({.units = 2}, "out")(Dense({.units = 4}, "hidden")(x));
  return Model({.inputs = x, .outputs = y, .name = "chain"});
}
inline Model two_inputs() {
  const auto a = named("a"), b = named("b");
  return Model({.inputs = {a, b}, .outputs = Add({}, "add")({a, b}), .name = "two"});
}
inline Sequential stack() {
  return Sequential({named("x").layer(), Dense({.units = 2}, "dense")}, "stack");
}

// A layer from its config, the only way to pass values of a wrong type in C++.
inline LayerPtr from_json(const char* class_name, const Json& config) {
  return layer_from_json(Json::Object{{"class_name", class_name}, {"config", config}});
}
using O = Json::Object;

std::vector<Case> graph_errors();  // of graphs, models, clones, configs and masks
std::vector<Case> layer_errors();  // of layers, weights, initializers and the like

}  // namespace keratin::errors
