#include "keratin/graph/operation.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/graph/json_tensor.h"
#include "keratin/graph/named.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/promote.h"

namespace keratin {
namespace {

constexpr std::string_view module_prefix = "keras.src.ops.";

const OperationDef* find_operation(std::string_view class_name) {
  const auto all = all_operations();
  const auto found = std::find_if(all.begin(), all.end(), [&](const OperationDef& def) {
    return def.class_name == class_name;
  });
  return found == all.end() ? nullptr : &*found;
}

bool is_number(const Tree<Traced>& argument) {
  return argument.is_constant() &&
         (argument.constant().is_number() || argument.constant().is_bool());
}

}  // namespace

Json constant_json(const Tree<Traced>& argument) {
  if (argument.is_list()) {
    Json list = Json::array();
    for (const Tree<Traced>& item : argument.list()) list.push_back(constant_json(item));
    return list;
  }
  if (!argument.is_dict()) return argument.constant();
  Json dict = Json::object();
  for (const auto& [key, item] : argument.dict()) dict[key] = constant_json(item);
  return dict;
}

std::string OperationCall::who() const { return text("operation ", def_.class_name); }

Value OperationCall::as_tensor(const Tree<Traced>& argument) const {
  if (argument.is_leaf()) return argument.leaf().value;
  return ops::constant(block(), tensor_from_json(constant_json(argument)));
}

Value OperationCall::tensor(size_t i) const {
  require(!argument(i).is_none(), who(), ": argument ", i, " is missing");
  return as_tensor(argument(i));
}

Value OperationCall::tensor(size_t i, std::string_view name) const {
  const Tree<Traced>& given = argument(i).is_none() ? argument(name) : argument(i);
  return given.is_none() ? Value() : as_tensor(given);
}

Value OperationCall::float_tensor(size_t i) const {
  const Value x = tensor(i);
  return ops::cast(x, ops::promoted_to_float(x.dtype()));
}

Values OperationCall::operands(size_t first, size_t count, DType (*widen)(DType)) const {
  Values values(count);
  std::optional<DType> tensors;
  bool bools = true, whole = true;
  for (size_t i = 0; i < count; ++i) {
    const Tree<Traced>& given = argument(first + i);
    if (is_number(given)) {
      bools = bools && given.constant().is_bool();
      whole = whole && (given.constant().is_bool() || given.constant().is_int());
      continue;
    }
    values[i] = tensor(first + i);
    tensors = tensors ? ops::promoted(*tensors, values[i].dtype()) : values[i].dtype();
  }
  DType common = tensors.value_or(DType::boolean);
  if (!bools) common = ops::promoted_with_number(common, whole);
  if (widen != nullptr) common = widen(common);
  for (size_t i = 0; i < count; ++i)
    values[i] =
        values[i].defined()
            ? ops::cast(values[i], common)
            : ops::constant(block(), tensor_from_json(argument(first + i).constant(), common));
  return values;
}

Values OperationCall::tensors(size_t i) const {
  const Tree<Traced>& given = argument(i);
  Values values;
  if (given.is_list())
    for (const Tree<Traced>& item : given.list()) values.push_back(as_tensor(item));
  else if (!given.is_none())
    values.push_back(as_tensor(given));
  require(!values.empty(), who(), ": expected a list of tensors, got ", given.outline());
  return values;
}

Values OperationCall::list(size_t i) const { return ops::promote(tensors(i)); }

const Json& OperationCall::option(std::string_view key) const {
  static const Json none;
  const Json* found = options_.find(key);
  return found == nullptr ? none : *found;
}

std::optional<int64_t> OperationCall::integer(std::string_view key) const {
  const Json& value = option(key);
  return value.is_null() ? std::nullopt : std::optional(value.as_int());
}

Dims OperationCall::dims(std::string_view key) const {
  const Json& value = option(key);
  if (value.is_null()) return {};
  return Sizes::from_json(value).dims();
}

bool OperationCall::flag(std::string_view key) const {
  const Json& value = option(key);
  return !value.is_null() && value.as_bool();
}

double OperationCall::number(std::string_view key, double fallback) const {
  const Json& value = option(key);
  return value.is_null() ? fallback : value.as_double();
}

std::optional<DType> OperationCall::dtype() const {
  const Json& value = option("dtype");
  if (value.is_null()) return std::nullopt;
  return dtype_from_keras(value.as_string(), who());
}

OperationLayer::OperationLayer(const OperationDef& def, Json options, LayerOptions layer_options)
    : Layer(def.class_name, std::move(layer_options)),
      def_(def),
      module_(text(module_prefix, def.module)),
      options_(std::move(options)) {
  set_built();
}

Json OperationLayer::get_config() const {
  Json config = Json::Object{{"name", name()}};
  for (const auto& [key, value] : options_.as_object()) config[key] = value;
  return config;
}

LayerPtr OperationLayer::fresh_copy() const {
  return std::make_shared<OperationLayer>(def_, options_, options());
}

Results OperationLayer::call(const Call& c) const {
  try {
    return def_.run(OperationCall(def_, c, options_));
  } catch (const UserError& error) {
    fail(def_.class_name, " '", name(), "': ", error.what());
  }
}

bool is_operation(const Layer& layer) {
  return dynamic_cast<const OperationLayer*>(&layer) != nullptr;
}

bool is_operation_module(std::string_view module) {
  return module.starts_with(module_prefix) || module == "keras.ops";
}

LayerPtr operation_from_json(const Json& envelope) {
  const std::string& class_name = envelope.at("class_name").as_string();
  const OperationDef* def = find_operation(class_name);
  const Json& config = envelope.at("config");
  const Json* name = config.find("name");
  const std::string called = name != nullptr && name->is_string() ? name->as_string() : "";
  if (def == nullptr)
    fail("Could not find the operation '", class_name, "' of module '",
         envelope.at("module").as_string(), "' that '", called, "' is.");
  Json options = Json::object();
  for (const auto& [key, value] : config.as_object())
    if (key != "name") options[key] = value;
  return std::make_shared<OperationLayer>(*def, std::move(options), LayerOptions{called});
}

const OperationDef& operation_named(std::string_view class_name) {
  const OperationDef* def = find_operation(class_name);
  ensure(def != nullptr, "there is no operation ", class_name);
  return *def;
}

Symbols call_operation(std::string_view class_name, Arguments<SymbolicTensor> arguments,
                       Json options) {
  const auto layer = std::make_shared<OperationLayer>(operation_named(class_name),
                                                      std::move(options), LayerOptions{});
  return layer->call_symbolic(std::move(arguments));
}

SymbolicTensor operation_result(std::string_view class_name, std::vector<Symbols> arguments,
                                Json options) {
  return operation_result(class_name, Arguments<SymbolicTensor>{std::move(arguments), {}},
                          std::move(options));
}

SymbolicTensor operation_result(std::string_view class_name, Arguments<SymbolicTensor> arguments,
                                Json options) {
  return call_operation(class_name, std::move(arguments), std::move(options)).leaf();
}

Arguments<SymbolicTensor> with_named(const Symbols& x, const char* name, const Symbols& value) {
  Arguments<SymbolicTensor> arguments{{x}, {}};
  if (!value.is_none()) arguments.named.emplace(name, value);
  return arguments;
}

Json dtype_json(const std::optional<DType>& dtype) {
  return dtype ? Json(keras_name(*dtype)) : Json(nullptr);
}

}  // namespace keratin
