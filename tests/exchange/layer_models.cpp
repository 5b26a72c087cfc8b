// Models of one class of layers each, from the cases of tests/golden/layers: all cases of a class
// side by side, and one case that is trained, with a Dense behind it.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "keratin/base/text.h"
#include "keratin/ir/node.h"
#include "keratin/keratin.h"
#include "keratin/layers/registry.h"
#include "keratin/testing/golden.h"
#include "tests/exchange/models.h"

namespace keratin {
namespace {

using testing::golden_structure;

// The cases of left_out.json, which keras_models.py reads, too.
bool is_left_out(const std::string& class_name, const std::string& name) {
  static const Json list = testing::read_golden("../exchange/left_out.json");
  for (const Json& entry : list.as_array())
    if (const Json* cases = entry.at("cases").find(class_name))
      for (const Json& left_out : cases->as_array())
        if (left_out.as_string() == name) return true;
  return false;
}

const std::set<std::string> no_classes = {
    // Every model has one; cannot be called; has a function that Python lacks.
    "InputLayer", "Wrapper", "Lambda",
    // Keras gives the input tensor itself as output, and so finds a cycle; `pipeline` has one.
    "Equalization"};

// The symbolic inputs of a model with their data.
struct Inputs {
  Symbols::List symbols;
  Tree<Tensor>::List data;

  Symbols add(const Tree<Tensor>& tree) {
    return tree.map<SymbolicTensor>([&](const Tensor& t) {
      const Dims dims = t.shape().dims();
      const SymbolicTensor input =
          Input({.shape = Shape(Dims(dims.begin() + 1, dims.end())), .dtype = t.dtype()});
      symbols.emplace_back(input);
      data.emplace_back(t);
      return input;
    });
  }
};

bool has_word(const Json& json, const std::string& word) {
  return json.dump().find('"' + word + '"') != std::string::npos;
}

// On a CPU, TensorFlow runs convolutions of this layout only if XLA compiles them.
bool needs_compiling(const Json& test) {
  return has_word(test.at("config"), "channels_first") &&
         (has_word(test.at("config"), "kernel_size") ||
          has_word(test.at("config"), "frame_length"));
}

const Json* found(const Json& test, const char* key) {
  const Json* value = test.find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

bool has_learned(const Json& test) { return found(test, "adapt") != nullptr; }

// The batch size of all tensors of a case; none if they differ.
std::optional<int64_t> rows_of(const Json& test) {
  std::set<int64_t> rows;
  const auto add = [&](const Tensor& t) { rows.insert(t.shape().rank() == 0 ? 0 : t.shape()[0]); };
  golden_structure(test.at("inputs")).each(add);
  if (const Json* named = found(test, "kwargs"))
    for (const auto& [key, value] : named->as_object()) golden_structure(value).each(add);
  if (rows.size() != 1 || *rows.begin() == 0) return std::nullopt;
  return *rows.begin();
}

// True for a case that a functional model can have: without masks, functions and states, and with
// a batch.
bool usable(const std::string& class_name, const Json& test) {
  for (const char* key : {"input_masks", "kwarg_masks", "lambda", "more", "again"})
    if (const Json* value = found(test, key); value != nullptr && value->size() > 0) return false;
  if (!test.contains("outputs") || !rows_of(test)) return false;
  const std::string& name = test.at("name").as_string();
  if (is_left_out(class_name, name) || name.find("one image") != name.npos) return false;
  const Json* stateful = test.at("config").at("config").find("stateful");
  return stateful == nullptr || *stateful == Json(false);
}

void adapt(Layer& layer, const Tensor& data) {
  if (auto* lookup = dynamic_cast<LookupLayer*>(&layer)) lookup->adapt(data);
  if (auto* text = dynamic_cast<TextVectorizationLayer*>(&layer)) text->adapt(data);
}

bool has_seeds(const Layer& layer) { return layer.variables().size() > layer.weights().size(); }

// The rates of all dropouts in a config.
void add_dropouts(const Json& config, std::vector<double>& rates) {
  if (config.is_array())
    for (const Json& item : config.as_array()) add_dropouts(item, rates);
  if (!config.is_object()) return;
  for (const auto& [key, value] : config.as_object())
    if (key == "dropout" || key == "recurrent_dropout")
      rates.push_back(value.as_double());
    else
      add_dropouts(value, rates);
}

// Recurrent and attention layers have seeds that they use for their dropouts alone.
bool is_random(const Layer& layer) {
  std::vector<double> rates;
  add_dropouts(layer.get_config(), rates);
  const bool drops = rates.empty() ||
                     std::any_of(rates.begin(), rates.end(), [](double rate) { return rate > 0; });
  return has_seeds(layer) && drops;
}

// Calls the layer of a case with its golden weights. A layer that augments by default gets
// `training` = false; a trained one gets no flag, because Keras's fit overrides it.
Symbols called(const Json& test, const std::string& name, Inputs& inputs, bool trained) {
  Json envelope = test.at("config");
  envelope["config"]["name"] = name;
  const LayerPtr layer = layer_from_json(envelope);
  if (const Json* data = found(test, "adapt")) adapt(*layer, testing::golden_tensor(*data));
  Keywords named;
  if (const Json* given = found(test, "kwargs"))
    for (const auto& [key, value] : given->as_object())
      if (key != "training" || !trained) named.emplace(key, inputs.add(golden_structure(value)));
  if (has_seeds(*layer) && !trained) named.emplace("training", false);
  Symbols out = (*layer)(inputs.add(golden_structure(test.at("inputs"))), named);
  std::vector<Tensor> weights;
  for (const Json& weight : test.at("weights").as_array())
    weights.push_back(testing::golden_tensor(weight));
  if (weights.size() == layer->weights().size()) layer->set_weights(weights);
  return out;
}

// What the cases of one model have in common. Keras would pass the flag `training` of one layer on
// to those after it.
std::string group_of(const Json& test) {
  const bool half = has_word(test, "mixed_float16") || has_word(test, "mixed_bfloat16") ||
                    has_word(test, "float16") || has_word(test, "bfloat16");
  const Json* named = found(test, "kwargs");
  const Json* training = named == nullptr ? nullptr : found(*named, "training");
  return text(*rows_of(test), half ? "_half" : "", needs_compiling(test) ? "_compiled" : "",
              training == nullptr       ? ""
              : *training == Json(true) ? "_training"
                                        : "_inference");
}

ExchangeModel all_cases(const std::string& name, const std::vector<Json>& tests) {
  Inputs inputs;
  Symbols::Dict outputs;
  for (const Json& test : tests) {
    const std::string& at = test.at("name").as_string();
    outputs.emplace(at, called(test, text("layer_", outputs.size()), inputs, false));
  }
  const Model model({.inputs = inputs.symbols, .outputs = outputs, .name = name});
  return {.name = name,
          .make = [model] { return model; },
          .inputs = inputs.data,
          .training = group_of(tests.front()).ends_with("_training"),
          .compiled = needs_compiling(tests.front()),
          .legacy = std::none_of(tests.begin(), tests.end(), has_learned)};
}

// Numbers from -1 to 1, so that training does not diverge, as a matrix.
SymbolicTensor as_features(const SymbolicTensor& t, double largest) {
  const SymbolicTensor scaled = ops::cast(t, DType::f32) * (1 / (largest + 1e-3));
  if (t.rank() == 1) return ops::expand_dims(scaled, 1);
  const Dims dims = t.shape().dims();
  const bool known = std::find(dims.begin() + 1, dims.end(), unknown) == dims.end();
  if (known) return Flatten()(scaled);
  Dims axes;
  for (int64_t axis = 1; axis < t.rank(); ++axis) axes.push_back(axis);
  return ops::expand_dims(ops::mean(scaled, Sizes(axes)), 1);
}

// Has no model if there is nothing to train with: random numbers, or strings.
std::optional<ExchangeModel> trained_case(const std::string& name, const Json& test) {
  Inputs inputs;
  const Symbols out = called(test, "layer", inputs, true);
  Model body({.inputs = inputs.symbols, .outputs = out});
  if (is_random(*body.layer())) return std::nullopt;
  const auto values = body.predict(inputs.data).flat();
  Symbols::List features;
  const auto symbols = out.flat();
  for (size_t i = 0; i < symbols.size(); ++i) {
    if (symbols[i].dtype() == DType::string || symbols[i].rank() == 0) continue;
    double largest = 0;
    for (int64_t k = 0; k < values[i].count(); ++k)
      largest = std::max(largest, std::fabs(values[i].at(k)));
    features.emplace_back(as_features(symbols[i], largest));
  }
  if (features.empty()) return std::nullopt;
  const Symbols joined = features.size() == 1 ? features[0] : Symbols(Concatenate()(features));
  Model model(
      {.inputs = inputs.symbols, .outputs = Dense({.units = 2}, "head")(joined), .name = name});
  model.compile({.optimizer = SGD({.learning_rate = 0.05}), .loss = "mse"});
  return ExchangeModel{.name = name,
                       .make = [model] { return model; },
                       .trained = true,
                       .inputs = inputs.data,
                       .legacy = !has_learned(test)};
}

void add_class(const std::string& class_name, std::vector<ExchangeModel>& models) {
  std::map<std::string, std::vector<Json>> groups;  // what can be in one model
  std::optional<ExchangeModel> trained;
  for (const Json& test : testing::read_golden("layers/" + class_name + ".json").as_array()) {
    if (!usable(class_name, test)) continue;
    const std::string group = group_of(test);
    groups[group].push_back(test);
    const bool plain = group.find("half") == group.npos && group.find("compiled") == group.npos;
    if (!trained && plain) trained = trained_case("trained_" + class_name, test);
  }
  for (const auto& [key, tests] : groups)
    models.push_back(all_cases(text("layer_", class_name, '_', key), tests));
  if (trained) models.push_back(*trained);
}

}  // namespace

std::vector<ExchangeModel> layer_models() {
  std::vector<ExchangeModel> models;
  for (const std::string& name : testing::golden_classes("layers"))
    if (!no_classes.contains(name)) try {
        add_class(name, models);
      } catch (const std::exception& error) {
        fail(name, ": ", error.what());
      }
  return models;
}

}  // namespace keratin
