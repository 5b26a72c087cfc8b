#pragma once

#include <functional>
#include <string>
#include <vector>

#include "keratin/layers/layers.h"
#include "keratin/layers/registry.h"
#include "keratin/model/model.h"

// The mistakes of tests/golden/errors.json in C++.
namespace keratin::errors {

// What happens in C++. A message is Keras's own, whole; the beginning of Keras's, up to where it
// prints Python's values; or ours, which has these parts.
enum class Says { all, beginning, parts };
struct Case {
  const char* name;  // in errors.json
  std::function<void()> code;
  Says says = Says::all;
  std::vector<std::string> parts = {};
};

// A tensor of fixed sizes: what Keras's cases pass as data.
inline SymbolicTensor ones(const Dims& dims) {
  return Input({.shape = Shape(Dims(dims.begin() + 1, dims.end())), .batch_size = dims[0]});
}
inline Tensor data(const Shape& shape) {
  return Tensor::of(DType::f32, shape, std::vector<double>(static_cast<size_t>(shape.count()), 1));
}
inline SymbolicTensor named(const char* name) { return Input({.shape = {3}, .name = name}); }

// The models that the cases speak of.
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

// A layer as a config names it; the only way in which C++ can get a value of a wrong type.
inline LayerPtr from_json(const char* class_name, const Json& config) {
  return layer_from_json(Json::Object{{"class_name", class_name}, {"config", config}});
}
using O = Json::Object;

std::vector<Case> graph_errors();  // of graphs, models, clones, configs and masks
std::vector<Case> layer_errors();  // of layers, weights and what they are made of

}  // namespace keratin::errors
