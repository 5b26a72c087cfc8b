#include "keratin/layers/tf_operation.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/graph/functional.h"
#include "keratin/graph/named.h"
#include "keratin/graph/operation_rules.h"
#include "keratin/graph/tracer.h"
#include "keratin/layers/lambda_operations.h"

namespace keratin {

using rules::C;

// A function of TensorFlow in terms of one of Keras's operations.
struct TfFunction {
  std::string_view symbol;          // behind "tf.", and behind "compat.v1."
  std::string_view operation = {};  // by its class, or
  Results (*run)(const C&) = nullptr;
  std::array<std::string_view, 2> operands = {};  // arguments behind the first that are tensors
  // Arguments that are options of the operation there: their names here and there.
  std::array<std::array<std::string_view, 2>, 3> options = {};
  const char* defaults = "{}";  // options where TensorFlow does not say, or differs
};

namespace {

Results squared_difference(const C& c) {
  const Values in = c.operands(0, 2);
  return ops::square(in[0] - in[1]);
}
// Zero wherever the second factor is, even for what is not finite.
Results multiply_no_nan(const C& c) {
  const Values in = c.operands(0, 2);
  const Value zero = ops::scalar_like(in[1], 0);
  return ops::where(ops::equal(in[1], zero), zero, in[0] * in[1]);
}
// Integers are divided as float64.
Results true_divide(const C& c) {
  const Values in = c.operands(0, 2);
  if (is_float(in[0].dtype())) return in[0] / in[1];
  return ops::cast(in[0], DType::f64) / ops::cast(in[1], DType::f64);
}
Results add_n(const C& c) {
  const Values in = c.list(0);
  Value sum = in[0];
  for (size_t i = 1; i < in.size(); ++i) sum = sum + in[i];
  return sum;
}
Results tf_matmul(const C& c) {
  const Values in = c.operands(0, 2);
  return ops::matmul(in[0], in[1],
                     {.transpose_a = c.flag("transpose_a"), .transpose_b = c.flag("transpose_b")});
}
template <Value (*f)(Value, int64_t, bool)>
Results tf_position(const C& c) {  // i64, along the first axis unless it is said
  return f(c.tensor(0), c.integer("axis").value_or(0), /*keepdims=*/false);
}
Results euclidean_norm(const C& c) {
  const rules::Reduction r = rules::reduction(c, ops::square(c.tensor(0)));
  return ops::sqrt(ops::sum(r.x, r.axes, r.keepdims));
}
// A matrix without what lies more than so many diagonals below or above the main one.
Results band_part(const C& c) {
  Value x = c.tensor(0);
  const Value zero = ops::scalar_like(x, 0);
  const Value row = ops::expand_dims(ops::positions(x, -2), 1), column = ops::positions(x, -1);
  const auto cut = [&](const char* key, Value distance) {
    const int64_t kept = c.option(key).as_int();
    if (kept >= 0) x = ops::where(distance > static_cast<double>(kept), zero, x);
  };
  cut("num_lower", row - column);
  cut("num_upper", column - row);
  return x;
}

using Names = std::array<std::array<std::string_view, 2>, 3>;
constexpr Names axis_only = {{{"axis", "axis"}}};
constexpr Names axis_and_keepdims = {{{"axis", "axis"}, {"keepdims", "keepdims"}}};

constexpr TfFunction functions[] = {
    {"__operators__.add", "Add", nullptr, {"y"}},
    {"__operators__.getitem", "GetItem", nullptr, {"slice_spec"}},
    {"argsort", "Argsort", nullptr, {}, axis_only, R"({"axis": -1})"},
    {"broadcast_to", "BroadcastTo", nullptr, {}, {{{"shape", "shape"}}}},
    {"cast", "Cast", nullptr, {}, {{{"dtype", "dtype"}}}},
    {"clip_by_value",
     "Clip",
     nullptr,
     {},
     {{{"clip_value_min", "x_min"}, {"clip_value_max", "x_max"}}}},
    {"concat", "Concatenate", nullptr, {}, axis_only},
    {"expand_dims", "ExpandDims", nullptr, {}, axis_only},
    {"floor_div", "FloorDivide", nullptr, {"y"}},
    {"gather", "Take", nullptr, {"indices"}, axis_only, R"({"axis": 0})"},
    {"identity", "Copy"},
    {"linalg.band_part",
     {},
     band_part,
     {},
     {{{"num_lower", "num_lower"}, {"num_upper", "num_upper"}}}},
    {"linalg.diag_part",
     "Diagonal",
     nullptr,
     {},
     {{{"k", "offset"}}},
     R"({"axis1": -2, "axis2": -1})"},
    {"linalg.matmul",
     {},
     tf_matmul,
     {"b"},
     {{{"transpose_a", "transpose_a"}, {"transpose_b", "transpose_b"}}}},
    {"linalg.trace", "Trace", nullptr, {}, {}, R"({"axis1": -2, "axis2": -1})"},
    {"math.abs", "Absolute"},
    {"math.acos", "Arccos"},
    {"math.acosh", "Arccosh"},
    {"math.add", "Add", nullptr, {"y"}},
    {"math.add_n", {}, add_n},
    {"math.argmax", {}, tf_position<ops::argmax>, {}, axis_only},
    {"math.argmin", {}, tf_position<ops::argmin>, {}, axis_only},
    {"math.asin", "Arcsin"},
    {"math.asinh", "Arcsinh"},
    {"math.atan", "Arctan"},
    {"math.atan2", "Arctan2", nullptr, {"x"}},
    {"math.atanh", "Arctanh"},
    {"math.ceil", "Ceil"},
    {"math.cos", "Cos"},
    {"math.cosh", "Cosh"},
    {"math.cumprod", "Cumprod", nullptr, {}, axis_only, R"({"axis": 0})"},
    {"math.cumsum", "Cumsum", nullptr, {}, axis_only, R"({"axis": 0})"},
    {"math.divide_no_nan", "DivideNoNan", nullptr, {"y"}},
    {"math.equal", "Equal", nullptr, {"y"}},
    {"math.erf", "Erf"},
    {"math.erfinv", "Erfinv"},
    {"math.exp", "Exp"},
    {"math.expm1", "Expm1"},
    {"math.floor", "Floor"},
    {"math.floormod", "Mod", nullptr, {"y"}},
    {"math.greater", "Greater", nullptr, {"y"}},
    {"math.greater_equal", "GreaterEqual", nullptr, {"y"}},
    {"math.is_finite", "Isfinite"},
    {"math.is_inf", "Isinf"},
    {"math.is_nan", "Isnan"},
    {"math.l2_normalize",
     "Normalize",
     nullptr,
     {},
     axis_only,
     R"({"axis": null, "epsilon": 1e-6})"},
    {"math.less", "Less", nullptr, {"y"}},
    {"math.less_equal", "LessEqual", nullptr, {"y"}},
    {"math.log", "Log"},
    {"math.log1p", "Log1p"},
    {"math.logical_and", "LogicalAnd", nullptr, {"y"}},
    {"math.logical_not", "LogicalNot"},
    {"math.logical_or", "LogicalOr", nullptr, {"y"}},
    {"math.maximum", "Maximum", nullptr, {"y"}},
    {"math.minimum", "Minimum", nullptr, {"y"}},
    {"math.multiply", "Multiply", nullptr, {"y"}},
    {"math.multiply_no_nan", {}, multiply_no_nan, {"y"}},
    {"math.negative", "Negative"},
    {"math.not_equal", "NotEqual", nullptr, {"y"}},
    {"math.pow", "Power", nullptr, {"y"}},
    {"math.reciprocal", "Reciprocal"},
    {"math.reduce_all", "All", nullptr, {}, axis_and_keepdims},
    {"math.reduce_any", "Any", nullptr, {}, axis_and_keepdims},
    {"math.reduce_euclidean_norm", {}, euclidean_norm, {}, axis_and_keepdims},
    {"math.reduce_logsumexp", "Logsumexp", nullptr, {}, axis_and_keepdims},
    {"math.reduce_max", "Max", nullptr, {}, axis_and_keepdims},
    {"math.reduce_mean", "Mean", nullptr, {}, axis_and_keepdims},
    {"math.reduce_min", "Min", nullptr, {}, axis_and_keepdims},
    {"math.reduce_prod", "Prod", nullptr, {}, axis_and_keepdims},
    {"math.reduce_std", "Std", nullptr, {}, axis_and_keepdims},
    {"math.reduce_sum", "Sum", nullptr, {}, axis_and_keepdims},
    {"math.reduce_variance", "Var", nullptr, {}, axis_and_keepdims},
    {"math.round", "Round"},
    {"math.rsqrt", "Rsqrt"},
    {"math.scalar_mul", "Multiply", nullptr, {"x"}},
    {"math.sigmoid", "Sigmoid"},
    {"math.sign", "Sign"},
    {"math.sin", "Sin"},
    {"math.sinh", "Sinh"},
    {"math.softplus", "Softplus"},
    {"math.sqrt", "Sqrt"},
    {"math.square", "Square"},
    {"math.squared_difference", {}, squared_difference, {"y"}},
    {"math.subtract", "Subtract", nullptr, {"y"}},
    {"math.tan", "Tan"},
    {"math.tanh", "Tanh"},
    {"math.top_k", "TopK", nullptr, {}, {{{"k", "k"}}}, R"({"k": 1, "sorted": true})"},
    {"math.truediv", {}, true_divide, {"y"}},
    {"nn.bias_add", "Add", nullptr, {"bias"}},
    {"nn.elu", "Elu"},
    {"nn.gelu",
     "Gelu",
     nullptr,
     {},
     {{{"approximate", "approximate"}}},
     R"({"approximate": false})"},
    {"nn.leaky_relu", "LeakyRelu", nullptr, {}, {{{"alpha", "negative_slope"}}}},
    {"nn.log_softmax", "LogSoftmax", nullptr, {}, axis_only, R"({"axis": -1})"},
    {"nn.relu", "Relu"},
    {"nn.relu6", "Relu6"},
    {"nn.selu", "Selu"},
    {"nn.silu", "Silu"},
    {"nn.softmax", "Softmax", nullptr, {}, axis_only, R"({"axis": -1})"},
    {"nn.softsign", "Softsign"},
    {"norm", "Norm", nullptr, {}, {{{"ord", "ord"}, {"axis", "axis"}, {"keepdims", "keepdims"}}}},
    {"one_hot",
     "OneHot",
     nullptr,
     {},
     {{{"depth", "num_classes"}, {"axis", "axis"}, {"dtype", "dtype"}}}},
    {"ones_like", "OnesLike", nullptr, {}, {{{"dtype", "dtype"}}}},
    {"pad",
     "Pad",
     nullptr,
     {},
     {{{"paddings", "pad_width"}, {"mode", "mode"}}},
     R"({"mode": "constant"})"},
    {"repeat", "Repeat", nullptr, {}, {{{"repeats", "repeats"}, {"axis", "axis"}}}},
    {"reshape", "Reshape", nullptr, {}, {{{"shape", "newshape"}}}},
    {"reverse", "Flip", nullptr, {}, axis_only},
    {"roll", "Roll", nullptr, {}, {{{"shift", "shift"}, {"axis", "axis"}}}},
    {"sort", "Sort", nullptr, {}, axis_only, R"({"axis": -1})"},
    {"split",
     "Split",
     nullptr,
     {},
     {{{"num_or_size_splits", "indices_or_sections"}, {"axis", "axis"}}}},
    {"squeeze", "Squeeze", nullptr, {}, axis_only},
    {"stack", "Stack", nullptr, {}, axis_only},
    {"stop_gradient", "StopGradient"},
    {"tensordot", "Tensordot", nullptr, {"b"}, {{{"axes", "axes"}}}},
    {"tile", "Tile", nullptr, {}, {{{"multiples", "repeats"}}}},
    {"transpose", "Transpose", nullptr, {}, {{{"perm", "axes"}}}},
    {"unstack", "Unstack", nullptr, {}, {{{"num", "num"}, {"axis", "axis"}}}},
    {"where", "Where", nullptr, {"x", "y"}},
    {"zeros_like", "ZerosLike", nullptr, {}, {{{"dtype", "dtype"}}}},
};

const TfFunction* find_function(std::string_view symbol) {
  constexpr std::string_view old = "compat.v1.";
  if (symbol.starts_with(old)) symbol.remove_prefix(old.size());
  const auto found = std::find_if(std::begin(functions), std::end(functions),
                                  [&](const TfFunction& f) { return f.symbol == symbol; });
  return found == std::end(functions) ? nullptr : found;
}

// Options that TensorFlow writes in another way.
Json translated(std::string_view key, const Json& value) {
  if (key == "mode") {
    std::string lower = value.as_string();
    for (char& letter : lower) letter = static_cast<char>(std::tolower(letter));
    return lower;
  }
  if (key == "ord" && value == Json("euclidean")) return {};
  if (key == "indices_or_sections" && value.is_array()) {  // sizes; there they are ends
    Json ends = Json::array();
    int64_t end = 0;
    for (size_t i = 0; i + 1 < value.size(); ++i) ends.push_back(end += value[i].as_int());
    return ends;
  }
  return value;
}

// {"start", "stop", "step"} → Keras 3's envelope of a slice.
Json translated_index(const Json& spec) {
  if (spec.is_array()) {
    Json items = Json::array();
    for (const Json& item : spec.as_array()) items.push_back(translated_index(item));
    return items;
  }
  if (!spec.is_object() || spec.contains("class_name")) return spec;
  return Json::Object{{"class_name", "__slice__"}, {"config", spec}};
}

LayerPtr make(std::string_view class_name, const Json& config) {
  const std::string& symbol = config.at("function").as_string();
  const LayerOptions options = read_options(config);
  const TfFunction* function = find_function(symbol);
  require(function != nullptr, class_name, " '", options.name, "': the TensorFlow function tf.",
          symbol, " is not supported");
  return std::make_shared<TfOperationLayer>(class_name, *function, symbol, options);
}

}  // namespace

TfOperationLayer::TfOperationLayer(std::string_view class_name, const TfFunction& function,
                                   std::string symbol, LayerOptions options)
    : Layer(class_name, std::move(options)),
      class_name_(class_name),
      function_(function),
      symbol_(std::move(symbol)) {
  set_built();
}

LayerPtr TfOperationLayer::op_from_config(const Json& config, const ConfigContext&) {
  return make("TFOpLambda", config);
}
LayerPtr TfOperationLayer::slicing_from_config(const Json& config, const ConfigContext&) {
  return make("SlicingOpLambda", config);
}

std::vector<std::string_view> tf_function_names() {
  std::vector<std::string_view> names;
  for (const TfFunction& function : functions) names.push_back(function.symbol);
  return names;
}

LayerPtr TfOperationLayer::fresh_copy() const {
  return std::make_shared<TfOperationLayer>(class_name_, function_, symbol_, options());
}

namespace {
// A call in the words of an operation of Keras.
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

// The first argument comes by position, all others by name.
template <class T>
Translated<T> translated(const TfFunction& function, const Arguments<T>& given) {
  require(!given.positional.empty(), "expected an argument by position");
  Translated<T> out{{{given.positional[0]}, {}}, Json::parse(function.defaults)};
  for (const std::string_view operand : function.operands) {
    if (operand.empty()) continue;
    const Tree<T>& tree = named_argument(given, operand);
    const bool index = operand == "slice_spec";
    out.arguments.positional.push_back(index ? Tree<T>(translated_index(constant_of(tree))) : tree);
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
        out.options[std::string((*option)[1])] = translated((*option)[1], value);
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

// Lists of numbers beside a tensor are arrays of its dtype, which Keras 3 does not make of them.
void write_arrays(std::vector<Symbols>& positional, DType dtype) {
  for (size_t i = 1; i < positional.size(); ++i) {
    if (positional[i].leaf_count() > 0) continue;
    const Json value = constant_of(positional[i]);
    if (!value.is_array()) continue;
    const Json array = Json::Object{{"value", value}, {"dtype", keras_name(dtype)}};
    positional[i] = Json(Json::Object{{"class_name", "__numpy__"}, {"config", array}});
  }
}

// The layer with all tensors of its arguments in one list.
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
    Translated<Traced> now = translated(function_, c.arguments());
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
  auto now =
      translated(function_, call.map<SymbolicTensor>([&](const Type&) { return inputs[next++]; }));
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
