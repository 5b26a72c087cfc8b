#include "keratin/layers/tf_operation.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/graph/functional.h"
#include "keratin/graph/named.h"
#include "keratin/graph/tracer.h"
#include "keratin/layers/lambda_operations.h"
#include "keratin/layers/tf_functions.h"

namespace keratin {

namespace {

// The value of an option, where TensorFlow writes it differently.
Json translate_option(std::string_view key, const Json& value) {
  if (key == "mode") return lower_case(value.as_string());
  if (key == "ord" && value == Json("euclidean")) return {};
  if (key == "indices_or_sections" && value.is_array()) {  // from sizes to ends
    Json ends = Json::array();
    int64_t end = 0;
    for (size_t i = 0; i + 1 < value.size(); ++i) ends.push_back(end += value[i].as_int());
    return ends;
  }
  return value;
}

// {"start", "stop", "step"} → Keras 3's envelope of a slice.
Json translate_index(const Json& spec) {
  if (spec.is_array()) {
    Json items = Json::array();
    for (const Json& item : spec.as_array()) items.push_back(translate_index(item));
    return items;
  }
  if (!spec.is_object() || spec.contains("class_name")) return spec;
  return Json::Object{{"class_name", "__slice__"}, {"config", spec}};
}

LayerPtr make(std::string_view class_name, const Json& config) {
  const std::string& symbol = config.at("function").as_string();
  const LayerOptions options = detail::read_options(config);
  const TfFunction* function = find_tf_function(symbol);
  require(function != nullptr, class_name, " '", options.name, "': the TensorFlow function tf.",
          symbol, " is not supported");
  return std::make_shared<TfOperationLayer>(class_name, *function, symbol, options);
}

}  // namespace

TfOperationLayer::TfOperationLayer(std::string_view class_name, const TfFunction& function,
                                   std::string symbol, LayerOptions options,
                                   std::optional<TfNode> node)
    : Layer(class_name, std::move(options)),
      class_name_(class_name),
      function_(function),
      symbol_(std::move(symbol)),
      node_(std::move(node)) {
  set_built();
}

LayerPtr TfOperationLayer::op_from_config(const Json& config, const ConfigContext&) {
  return make("TFOpLambda", config);
}
LayerPtr TfOperationLayer::slicing_from_config(const Json& config, const ConfigContext&) {
  return make("SlicingOpLambda", config);
}

// The layer's name has a prefix, which the name in the config has not.
LayerPtr TfOperationLayer::node_from_config(const Json& config, const ConfigContext&) {
  constexpr std::string_view class_name = "TensorFlowOpLayer", prefix = "tf_op_layer_";
  LayerOptions options = detail::read_options(config);
  if (!options.name.starts_with(prefix)) options.name = std::string(prefix) + options.name;
  try {
    const Json* constants = config.find("constants");
    TfNode node(config.at("node_def"), constants == nullptr ? Json() : *constants);
    const TfFunction* function = find_tf_function(node.symbol());
    ensure(function != nullptr, "there is no function tf.", node.symbol());
    std::string symbol(node.symbol());
    return std::make_shared<TfOperationLayer>(class_name, *function, std::move(symbol), options,
                                              std::move(node));
  } catch (const UserError& error) {
    fail(class_name, " '", options.name, "': ", error.what());
  }
}

LayerPtr TfOperationLayer::fresh_copy() const {
  return std::make_shared<TfOperationLayer>(class_name_, function_, symbol_, options(), node_);
}

namespace {

// A call of a TensorFlow function as a call of one of Keras's operations.
template <class T>
struct Translated {
  Arguments<T> arguments;
  Json options;
};

template <class T>
Json constant_of(const Tree<T>& argument) {
  const Tree<Traced> constant = argument.template map<Traced>(
      [](const T&) -> Traced { fail("expected a constant, got a tensor"); });
  return constant_json(constant);
}

template <class T>
const Tree<T>& named_argument(const Arguments<T>& given, std::string_view name) {
  static const Tree<T> none;
  const auto found = given.named.find(name);
  return found == given.named.end() ? none : found->second;
}

template <class T>
bool is_off(const Tree<T>& argument) {
  if (!argument.is_constant()) return false;
  const Json& value = argument.constant();
  return value.is_null() || value == Json(false) || value == Json(0);
}

// Translates a call: its first argument is positional, all others are named.
template <class T>
Translated<T> translate_call(const TfFunction& function, const Arguments<T>& given) {
  require(!given.positional.empty(), "expected an argument by position");
  Translated<T> out{{{given.positional[0]}, {}}, Json::parse(function.defaults)};
  for (const std::string_view operand : function.operands) {
    if (operand.empty()) continue;
    const Tree<T>& tree = named_argument(given, operand);
    const bool index = operand == "slice_spec";
    out.arguments.positional.push_back(index ? Tree<T>(translate_index(constant_of(tree))) : tree);
  }
  for (const auto& [name, tree] : given.named) {
    const auto option =
        std::find_if(function.options.begin(), function.options.end(),
                     [&name = name](const auto& names) { return names[0] == name; });
    const bool operand = std::find(function.operands.begin(), function.operands.end(), name) !=
                         function.operands.end();
    if (option != function.options.end()) {
      const Json value = constant_of(tree);
      if (!value.is_null())
        out.options[std::string((*option)[1])] = translate_option((*option)[1], value);
    } else if (name == "constant_values") {
      out.arguments.named.emplace(name, tree);
    } else if (!operand && name != "name") {
      require(is_off(tree), "argument '", name, "' of tf.", function.symbol, " is not supported");
    }
  }
  if (const Json* mode = out.options.find("mode"); mode != nullptr && *mode != Json("constant"))
    out.arguments.named.erase("constant_values");
  return out;
}

// Writes lists of numbers as arrays of this dtype, which Keras 3 does not make of them.
void write_arrays(std::vector<Symbols>& positional, DType dtype) {
  for (size_t i = 1; i < positional.size(); ++i) {
    if (positional[i].leaf_count() > 0) continue;
    const Json value = constant_of(positional[i]);
    if (!value.is_array()) continue;
    const Json array = Json::Object{{"value", value}, {"dtype", keras_name(dtype)}};
    positional[i] = Json(Json::Object{{"class_name", "__numpy__"}, {"config", array}});
  }
}

// The layer, called with all tensors of its arguments in one list.
class OfOneList final : public Layer {
 public:
  OfOneList(const TfOperationLayer& layer, Arguments<Type> like)
      : Layer("OfOneList", {layer.name()}), layer_(layer), like_(std::move(like)) {
    set_built();
  }
  std::string_view class_name() const override { return "OfOneList"; }
  Json own_config() const override { return Json::object(); }
  LayerPtr fresh_copy() const override { return std::make_shared<OfOneList>(layer_, like_); }
  bool supports_masking() const override { return true; }
  Masks compute_mask(const Call&, size_t outputs) const override { return Masks(outputs); }
  bool autocasts() const override { return false; }
  Results call(const Call& c) const override {
    std::vector<Traced> tensors;
    c.argument(0).each([&](const Traced& t) { tensors.push_back(t); });
    size_t next = 0;
    auto arguments = like_.map<Traced>([&](const Type&) { return tensors.at(next++); });
    return layer_.call(Call(c.tracer(), layer_, std::move(arguments), c.training()));
  }

 private:
  const TfOperationLayer& layer_;
  Arguments<Type> like_;
};

template <class T>
Tree<T> one_or_list(const std::vector<T>& tensors) {
  if (tensors.size() == 1) return tensors[0];
  typename Tree<T>::List list;
  for (const T& tensor : tensors) list.push_back(tensor);
  return list;
}

template <class T>
std::vector<T> leaves_of(const Arguments<T>& arguments) {
  std::vector<T> out;
  arguments.each([&](const T& leaf) { out.push_back(leaf); });
  return out;
}

}  // namespace

Results TfOperationLayer::call(const Call& c) const {
  if (c.tracer().warns) remember(c);
  try {
    Translated<Traced> now = translate_call(function_, of_function(c.arguments()));
    const OperationDef own{function_.symbol, "", function_.run};
    const OperationDef& def = function_.run != nullptr ? own : operation_named(function_.operation);
    const Call translated_call(c.tracer(), *this, std::move(now.arguments), c.training());
    return def.run(OperationCall(def, translated_call, now.options));
  } catch (const UserError& error) {
    fail(class_name_, " '", this->name(), "': ", error.what());
  }
}

void TfOperationLayer::remember(const Call& c) const {
  const auto call = c.arguments().map<Type>([](const Traced& t) {
    return Type{t.value.dtype(), t.value.shape()};
  });
  const std::lock_guard guard(lock_);
  calls_.push_back(call);
  settled_ = false;
}

std::shared_ptr<const Layer> TfOperationLayer::as_model(const Arguments<Type>& call) const {
  const std::vector<Type> types = leaves_of(call);
  require(!types.empty(), "it is called without tensors");
  if (function_.run != nullptr) {
    std::vector<TracedInput> inputs;
    for (const Type& type : types) inputs.push_back({type});
    return as_operations(OfOneList(*this, call), {one_or_list(inputs)});
  }
  std::vector<SymbolicTensor> inputs;
  for (const Type& type : types)
    inputs.push_back(
        InputLayer::make(type.shape, type.dtype, text(name(), "_input_", inputs.size()))->output());
  size_t next = 0;
  auto now = translate_call(
      function_,
      of_function(call.map<SymbolicTensor>([&](const Type&) { return inputs[next++]; })));
  if (function_.operation == "Add") write_arrays(now.arguments.positional, types[0].dtype);
  const OperationDef& def = operation_named(function_.operation);
  const auto operation =
      std::make_shared<OperationLayer>(def, now.options, LayerOptions{snake_case(def.class_name)});
  return FunctionalLayer::make(one_or_list(inputs),
                               operation->call_symbolic(std::move(now.arguments)), {name()});
}

std::shared_ptr<const Layer> TfOperationLayer::saved_form() const {
  const std::lock_guard guard(lock_);
  if (settled_) return form_;
  settled_ = true;
  form_ = nullptr;
  try {
    require(!calls_.empty(), "it was never called");
    form_ = as_model(calls_[0]);
    for (size_t i = 1; i < calls_.size(); ++i)
      require(
          without_shapes(as_model(calls_[i])->get_config()) == without_shapes(form_->get_config()),
          "it does different things in its calls");
  } catch (const UserError& error) {
    form_ = nullptr;
    warn(text(class_name_, " '", name(),
              "' is saved as such, which Keras 3 cannot open: ", error.what()));
  }
  return form_;
}

Arguments<SymbolicTensor> TfOperationLayer::saved_arguments(
    const Arguments<SymbolicTensor>& given) const {
  return {{one_or_list(leaves_of(given))}, {}};
}

}  // namespace keratin
