#include "keratin/testing/layer_models.h"

#include <algorithm>

#include "keratin/base/warning.h"
#include "keratin/graph/bind_arguments.h"
#include "keratin/graph/input.h"
#include "keratin/layers/preprocessing.h"
#include "keratin/layers/registry.h"
#include "keratin/layers/rnn.h"
#include "keratin/layers/wrappers.h"
#include "keratin/testing/check_op.h"
#include "keratin/testing/golden.h"
#include "keratin/testing/golden_layers.h"

namespace keratin::testing {
namespace {

// Puts a mask on a tensor: both are inputs of the model.
class WithMask final : public Layer {
 public:
  explicit WithMask(LayerOptions options) : Layer("WithMask", std::move(options)) {}
  std::string_view class_name() const override { return "WithMask"; }
  std::string_view module() const override { return "builtins"; }
  std::string_view registered_name() const override { return "golden>WithMask"; }
  LayerPtr fresh_copy() const override { return std::make_shared<WithMask>(options()); }
  static LayerPtr from_config(const Json& config, const ConfigContext&) {
    return std::make_shared<WithMask>(detail::read_options(config));
  }
  Results call(const Call& c) const override { return c.input(); }
  Masks compute_mask(const Call& c, size_t) const override { return {c.tensor(1, "by")}; }
  bool supports_masking() const override { return true; }
  bool autocasts() const override { return false; }
  std::vector<std::string_view> argument_names() const override { return {"x", "by"}; }
};

Tree<MaskedTensor> with_masks(const Json& values, const Json* masks) {
  const Tree<Tensor> tensors = golden_structure(values);
  if (masks == nullptr || masks->is_null())
    return tensors.map<MaskedTensor>([](const Tensor& t) { return MaskedTensor{t}; });
  if (tensors.is_leaf()) return MaskedTensor{tensors.leaf(), golden_tensor(*masks)};
  if (tensors.is_list()) {
    Tree<MaskedTensor>::List items;
    for (size_t i = 0; i < values.size(); ++i) items.push_back(with_masks(values[i], &(*masks)[i]));
    return items;
  }
  Tree<MaskedTensor>::Dict items;
  for (const auto& [key, value] : values.as_object())
    items.emplace(key, with_masks(value, masks->find(key)));
  return items;
}

// Classes without golden cases, which Keras 3 lacks or has under another name: config and inputs.
struct Example {
  std::string class_name, config;
  std::vector<Shape> inputs;
};
const std::vector<Example>& examples() {
  static const std::vector<Example> all = {
      {"AddLoss", R"({"unconditional": false})", {{4, 3}, {4}}},
      {"AddMetric", R"({"aggregation": "mean", "metric_name": "m"})", {{4, 3}}},
      {"BatchNormalizationV1", R"({"axis": [-1]})", {{4, 3}}},
      {"BatchNormalizationV2", R"({"axis": [-1]})", {{4, 3}}},
      {"CuDNNGRU", R"({"units": 2})", {{4, 3, 2}}},
      {"CuDNNLSTM", R"({"units": 2})", {{4, 3, 2}}},
      {"GroupedQueryAttention",
       R"({"head_dim": 2, "num_query_heads": 4, "num_key_value_heads": 2})",
       {{4, 3, 2}, {4, 5, 2}}},
      {"InstanceMethod", R"({"attr_name": "to_tensor"})", {{4, 3}}},
      {"LocallyConnected1D", R"({"filters": 2, "kernel_size": [2]})", {{4, 5, 3}}},
      {"LocallyConnected2D", R"({"filters": 2, "kernel_size": [2, 3]})", {{4, 4, 5, 3}}},
      {"RandomHeight", R"({"factor": 0.2})", {{4, 4, 5, 3}}},
      {"RandomWidth", R"({"factor": 0.2})", {{4, 4, 5, 3}}},
      {"SyncBatchNormalization", R"({"axis": [-1]})", {{4, 3}}},
      {"TFDConcat", R"({"axis": 1})", {{4, 3}, {4, 2}}},
      {"TFDIdentity", "{}", {{4, 3}}},
      {"ThresholdedReLU", R"({"theta": 0.5})", {{4, 3}}},
  };
  return all;
}

LayerCase case_of(const Example& example) {
  Json config = Json::parse(example.config);
  config["name"] = "example";
  LayerCase made{example.class_name,
                 "example",
                 Json::Object{{"class_name", example.class_name}, {"config", config}},
                 {}};
  // These take a list of tensors, the others each as an argument.
  Tree<MaskedTensor>::List tensors;
  for (const Shape& shape : example.inputs)
    tensors.emplace_back(
        MaskedTensor{random_tensor({DType::f32, shape}, -1, 1, 3 + tensors.size())});
  if (example.class_name == "AddLoss" || example.class_name == "TFDConcat")
    made.arguments.positional = {Tree<MaskedTensor>(tensors)};
  else
    made.arguments.positional = tensors;
  return made;
}

// What builds a model on the tensors of a case.
struct ModelInputs {
  bool fixed_batch = false;
  Symbols::List symbols;
  Tree<Tensor>::List data;

  SymbolicTensor add(const Tensor& t) {
    Dims dims = t.shape().dims();
    if (!fixed_batch && !dims.empty()) dims[0] = unknown;
    const SymbolicTensor made = InputLayer::make(dims, t.dtype(), "")->output();
    symbols.emplace_back(made);
    data.emplace_back(t);
    return made;
  }
  SymbolicTensor add(const MaskedTensor& t) {
    const SymbolicTensor x = add(t.value);
    if (!t.mask) return x;
    const auto layer = std::make_shared<WithMask>(LayerOptions{});
    return layer->call_symbolic({{x, add(*t.mask)}, {}});
  }
};

std::vector<Variable> states_of(const Layer& layer) {
  if (const auto* both = dynamic_cast<const BidirectionalLayer*>(&layer)) return both->states();
  const auto* recurrent = dynamic_cast<const RecurrentLayer*>(&layer);
  return recurrent == nullptr ? std::vector<Variable>() : recurrent->states();
}

void set_recorded_weights(const Json& record, Layer& layer) {
  const Json* recorded = record.is_null() ? nullptr : record.find("weights");
  if (recorded == nullptr) return;
  std::vector<Tensor> weights;
  for (const Json& weight : recorded->as_array()) weights.push_back(golden_tensor(weight));
  layer.set_weights(weights);
}

}  // namespace

Arguments<MaskedTensor> golden_arguments(const Json& test) {
  Arguments<MaskedTensor> arguments;
  arguments.positional.push_back(with_masks(test.at("inputs"), test.find("input_masks")));
  if (const Json* more = test.find("more"))
    for (const Json& value : more->as_array())
      arguments.positional.push_back(with_masks(value, nullptr));
  const Json* kwargs = test.find("kwargs");
  const Json* masks = test.find("kwarg_masks");
  if (kwargs != nullptr && kwargs->is_object())
    for (const auto& [key, value] : kwargs->as_object())
      arguments.named.emplace(
          key,
          with_masks(value, masks == nullptr || masks->is_null() ? nullptr : masks->find(key)));
  return arguments;
}

void build_for(Layer& layer, const Arguments<MaskedTensor>& arguments) {
  if (arguments.positional.empty()) return;
  Shapes shapes;
  for (const auto& tree : bind_arguments(layer, arguments).positional)
    tree.each([&](const MaskedTensor& t) { shapes.push_back(t.value.shape()); });
  layer.ensure_built(shapes);
  // As in Keras, a layer that is an activation is built by its first call.
  for (const Layer::Sublayer& sub : layer.sublayers())
    if (sub.attribute.ends_with("activation") && !sub.layer->built()) run_layer(layer, arguments);
}

// Other layers have what they learned in their weights or configs.
void adapt_as_recorded(const Json& test, Layer& layer) {
  const Json* data = test.is_null() ? nullptr : test.find("adapt");
  if (data == nullptr) return;
  if (auto* lookup = dynamic_cast<LookupLayer*>(&layer)) lookup->adapt(golden_tensor(*data));
  if (auto* text = dynamic_cast<TextVectorizationLayer*>(&layer)) text->adapt(golden_tensor(*data));
}

bool is_stateful(const Json& config) {
  if (config.is_array())
    return std::any_of(config.as_array().begin(), config.as_array().end(), is_stateful);
  if (!config.is_object()) return false;
  const Json* flag = config.find("stateful");
  if (flag != nullptr && flag->is_bool() && flag->as_bool()) return true;
  return std::any_of(config.as_object().begin(), config.as_object().end(),
                     [](const auto& member) { return is_stateful(member.second); });
}

const std::vector<LeftOut>& not_in_models() {
  static const std::vector<LeftOut> all = {
      {"Lambda", "one mask, two outputs", "Keras takes one mask for both outputs"},
      {"Lambda", "masks of a list", "Keras takes one mask for both outputs"},
  };
  return all;
}

const std::map<std::string, std::string>& uncalled_layers() {
  static const std::map<std::string, std::string> all = {
      {"ClassMethod", "takes a list of arguments, with tests of its own"},
      {"Functional", "is a model: the zoo has many"},
      {"IndexLookup", "is IntegerLookup or StringLookup, with tests of its own"},
      {"InputLayer", "is an input, not called: every model has one"},
      {"InstanceProperty", "is of ragged tensors, and refused"},
      {"Model", "is a model: the zoo has many"},
      {"Sequential", "is a model: the zoo has many"},
      {"SlicingOpLambda", "is an operation, with golden models of its own"},
      {"TFOpLambda", "is an operation, with golden models of its own"},
      {"TensorFlowOpLayer", "is an operation, with tests of its own"},
      {"Wrapper", "has no call of its own"},
  };
  return all;
}

std::vector<LayerCase> layer_cases(const std::string& class_name) {
  std::vector<LayerCase> cases;
  if (uncalled_layers().contains(class_name)) return cases;
  for (const Example& example : examples())
    if (example.class_name == class_name) cases.push_back(case_of(example));
  if (!cases.empty()) return cases;
  const Json tests = read_golden("layers/" + class_name + ".json");
  for (const Json& test : tests.as_array())
    cases.push_back(
        {class_name, test.at("name").as_string(), test.at("config"), golden_arguments(test), test});
  return cases;
}

CustomObjects custom_layers(const LayerCase& layer_case) {
  Json lambdas = Json::object();
  if (const Json* function =
          layer_case.record.is_null() ? nullptr : layer_case.record.find("lambda")) {
    Json functions = Json::Object{{"function", *function}};
    const Json* mask = layer_case.record.find("mask_lambda");
    if (mask != nullptr && !mask->is_null()) functions["mask"] = *mask;
    lambdas[layer_case.config.at("config").at("name").as_string()] = functions;
  }
  CustomObjects custom = golden_layers(lambdas);
  custom["WithMask"] = WithMask::from_config;
  return custom;
}

LayerModel layer_model(const LayerCase& layer_case) {
  clear_session();
  const LayerPtr layer = layer_from_json(layer_case.config, custom_layers(layer_case));
  adapt_as_recorded(layer_case.record, *layer);
  ModelInputs inputs{.fixed_batch = is_stateful(layer_case.config)};
  const auto arguments = layer_case.arguments.map<SymbolicTensor>(
      [&](const MaskedTensor& t) { return inputs.add(t); });
  const Symbols outputs = layer->call_symbolic(arguments);
  LayerModel made{Model({.inputs = inputs.symbols, .outputs = outputs}), inputs.data};
  set_recorded_weights(layer_case.record, *layer);
  return made;
}

SavedState::SavedState(const Model& model) {
  std::vector<Variable> all = model.layer()->variables();
  for (const LayerPtr& layer : model.layers())
    if (is_stateful(layer->get_config()))
      for (const Variable& state : states_of(*layer)) all.push_back(state);
  for (const Variable& v : all) values_.emplace_back(v, v.value().clone());
}
void SavedState::restore() const {
  for (const auto& [variable, value] : values_) variable.assign(value.clone());
}

const LeftOut* find_left_out(const std::vector<LeftOut>& all, const LayerCase& layer_case) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const LeftOut& one) {
    return one.class_name == layer_case.class_name && one.name == layer_case.name;
  });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace keratin::testing
