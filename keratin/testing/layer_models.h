#pragma once

#include <map>
#include <string>
#include <vector>

#include "keratin/layers/registry.h"
#include "keratin/model/model.h"
#include "keratin/model/program.h"

// Every class of layers that a config may name, in a model: what a suite must hold for all layers
// is one test over these, and a new layer with golden cases needs no line.
namespace keratin::testing {

// One call of a layer: a golden case, or for classes that Keras 3 lacks an example of our own.
struct LayerCase {
  std::string class_name, name;
  Json config;  // of the layer, in its envelope
  Arguments<MaskedTensor> arguments;
  Json record = {};  // the golden case; null for an example
};

// All cases of a class; none if it cannot be called alone, for the reason that `uncalled_layers`
// has.
std::vector<LayerCase> layer_cases(const std::string& class_name);
const std::map<std::string, std::string>& uncalled_layers();

// The arguments of the call that a golden case records.
Arguments<MaskedTensor> golden_arguments(const Json& test);
// Builds a layer for a call with these arguments.
void build_for(Layer& layer, const Arguments<MaskedTensor>& arguments);
// Lets a layer learn from the data of a golden case, if it has some.
void adapt_as_recorded(const Json& test, Layer& layer);

struct LayerModel {
  Model model;  // with Keras's weights, and an input for each tensor and each mask
  Tree<Tensor> inputs;
};
LayerModel layer_model(const LayerCase& layer_case);
// What layers of a case have that configs do not name: the functions of Lambdas, and the layer that
// puts a mask on a tensor.
CustomObjects custom_layers(const LayerCase& layer_case);

// The values of all variables of a model, its seeds and the states of its layers too, to run it
// again from there.
class SavedState {
 public:
  explicit SavedState(const Model& model);
  void restore() const;

 private:
  std::vector<std::pair<Variable, Tensor>> values_;
};

// A case that a suite leaves out, and why.
struct LeftOut {
  std::string class_name, name, reason;
};
const LeftOut* find_left_out(const std::vector<LeftOut>& all, const LayerCase& layer_case);

// Cases that no model can have, though Keras calls the layer alone.
const std::vector<LeftOut>& not_in_models();

// True if a layer or one inside it keeps states from call to call: then the batch must be known.
bool is_stateful(const Json& config);

}  // namespace keratin::testing
