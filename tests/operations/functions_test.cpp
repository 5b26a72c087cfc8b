// What C++ calls operations by: for each one that a file may hold, the function on symbolic tensors
// makes the graph that Keras makes, and the function on values computes the same numbers. The cases
// are those of tests/golden/operations.json.
#include "tests/operations/defaults.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "keratin/base/text.h"
#include "keratin/engine/compile.h"
#include "keratin/graph/input.h"
#include "keratin/layers/registry.h"
#include "keratin/model/model.h"
#include "keratin/testing/expect_values.h"
#include "keratin/testing/golden.h"

namespace keratin::operations {
namespace {

const Function& function_of(const std::string& class_name) {
  for (const Function& function : functions)
    if (function.class_name == class_name) return function;
  fail("no function calls the operation ", class_name);
}

// The tensors of one of Keras's graphs, by the layers that give them.
template <class T>
using Outputs = std::map<std::string, std::vector<T>>;

template <class T>
T tensor_of(const Json& history, const Outputs<T>& outputs) {
  return outputs.at(history[0].as_string())[static_cast<size_t>(history[2].as_int())];
}

// An argument as a config has it.
template <class T>
Tree<T> argument_from(const Json& json, const Outputs<T>& outputs) {
  if (json.is_array()) {
    typename Tree<T>::List items;
    for (const Json& item : json.as_array()) items.push_back(argument_from(item, outputs));
    return items;
  }
  const Json* kind = json.is_object() ? json.find("class_name") : nullptr;
  if (kind == nullptr || *kind != Json("__keras_tensor__")) return json;
  return tensor_of(json.at("config").at("keras_history"), outputs);
}

// The operations of a graph in the order in which they were called: Keras numbers the names of a
// class, and lists operations in another order.
std::vector<Json> operations_in_order(const Json& graph) {
  const auto number = [](const Json& layer) {
    const std::string& name = layer.at("name").as_string();
    const size_t at = name.find_last_of('_');
    const bool numbered = at != std::string::npos && std::isdigit(name[at + 1]) != 0;
    return numbered ? std::stoi(name.substr(at + 1)) : 0;
  };
  std::vector<Json> operations;
  for (const Json& layer : graph.at("layers").as_array())
    if (layer.at("class_name") != Json("InputLayer")) operations.push_back(layer);
  std::map<std::string, std::vector<size_t>> indices;  // of the operations of a class
  for (size_t i = 0; i < operations.size(); ++i)
    indices[operations[i].at("class_name").as_string()].push_back(i);
  std::vector<Json> ordered = operations;
  for (const auto& item : indices) {
    std::vector<size_t> sorted = item.second;
    std::sort(sorted.begin(), sorted.end(),
              [&](size_t i, size_t j) { return number(operations[i]) < number(operations[j]); });
    for (size_t i = 0; i < sorted.size(); ++i) ordered[item.second[i]] = operations[sorted[i]];
  }
  return ordered;
}

// Calls the functions of a graph's operations. `call` is Function::on_symbols or on_values.
template <class T, class F>
std::vector<T> call_all(const Json& graph, Outputs<T> outputs, F Function::*call) {
  for (const Json& layer : operations_in_order(graph)) {
    const Json& node = layer.at("inbound_nodes")[0];
    Arguments<T> arguments;
    for (const Json& json : node.at("args").as_array())
      arguments.positional.push_back(argument_from(json, outputs));
    for (const auto& [name, json] : node.at("kwargs").as_object())
      arguments.named.emplace(name, argument_from(json, outputs));
    const Function& function = function_of(layer.at("class_name").as_string());
    outputs[layer.at("name").as_string()] =
        (function.*call)(Given<T>(std::move(arguments), layer.at("config"))).flat();
  }
  const Json& results = graph.at("output_layers");
  if (!results[0].is_array()) return {tensor_of(results, outputs)};
  std::vector<T> tensors;
  for (const Json& history : results.as_array()) tensors.push_back(tensor_of(history, outputs));
  return tensors;
}

// The one tensor of each input.
template <class T>
Named<T> by_name(const Outputs<T>& inputs) {
  Named<T> named;
  for (const auto& [name, tensors] : inputs) named.emplace(name, tensors[0]);
  return named;
}

// The layers of the model that f makes of the inputs of a graph.
template <class F>
Json layers_made(const Json& graph, const F& f) {
  clear_session();
  Outputs<SymbolicTensor> inputs;
  std::vector<SymbolicTensor> ordered;
  for (const Json& layer : graph.at("layers").as_array()) {
    if (layer.at("class_name") != Json("InputLayer")) continue;
    const auto made = std::dynamic_pointer_cast<InputLayer>(layer_from_json(layer));
    ordered.push_back(made->output());
    inputs[made->name()] = {made->output()};
  }
  const Model model({.inputs = ordered, .outputs = f(inputs)});
  return testing::without_null_arguments(model.get_config().at("layers"));
}

// What f computes of the inputs of a graph.
template <class F>
std::vector<Tensor> values_computed(const Json& graph, const std::vector<Tensor>& data,
                                    const F& f) {
  Module module;
  Outputs<Value> inputs;
  for (size_t i = 0; i < data.size(); ++i) {
    const Type type{data[i].dtype(), data[i].shape()};
    inputs[graph.at("input_layers")[i][0].as_string()] = {module.input(type)};
  }
  for (const Value value : f(inputs)) module.output(value);
  return compile(std::move(module), {})(data);
}

std::vector<Json> golden_cases() { return testing::read_golden("operations.json").as_array(); }

TEST(OperationFunctions, MakeTheGraphsOfKeras) {
  for (const Json& test : golden_cases()) {
    SCOPED_TRACE(test.at("name").as_string());
    const Json& graph = test.at("config").at("config");
    const auto called = [&](const auto& inputs) {
      return call_all(graph, inputs, &Function::on_symbols);
    };
    try {
      EXPECT_EQ(layers_made(graph, called), testing::without_null_arguments(graph.at("layers")));
    } catch (const UserError& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

bool is_index(DType dtype) { return dtype == DType::i32 || dtype == DType::i64; }

// Compares what f computes on values with what Keras did. Positions are i64 where Keras has int32.
template <class F>
void expect_numbers(const Json& test, const F& f) {
  const auto data = testing::golden_structure(test.at("inputs")).flat();
  const auto wanted = testing::golden_structure(test.at("outputs")).flat();
  const Json& graph = test.at("config").at("config");
  const auto got = values_computed(graph, data, [&](const auto& inputs) {
    Values values = f(inputs);
    for (size_t i = 0; i < std::min(values.size(), wanted.size()); ++i)
      if (is_index(values[i].dtype()) && is_index(wanted[i].dtype()))
        values[i] = ops::cast(values[i], wanted[i].dtype());
    return values;
  });
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i)
    testing::expect_close(got[i], wanted[i], 1e-5, text("output ", i));
}

bool is_float32(const Json& input) { return input.at("dtype") == Json("float32"); }

// Functions on values take no axes for all axes, so an empty list has no meaning.
bool lists_no_axes(const Json& graph) {
  for (const Json& layer : graph.at("layers").as_array())
    for (const auto& [key, value] : layer.at("config").as_object())
      if (key.starts_with("ax") && value.is_array() && value.size() == 0) return true;
  return false;
}

// Cases in which functions on values do not compute what operations do: those promote dtypes and
// broadcast where functions on values take what they get.
struct Different {
  std::string_view name, cause;
};
constexpr Different different[] = {
    {"ops.divide(n, i)", "integers are divided as integers"},
    {"n / 2", "integers are divided as integers"},
    {"ops.cbrt(l)", "made for floats"},
    {"ops.deg2rad(l)", "made for floats"},
    {"ops.rad2deg(l)", "made for floats"},
    {"ops.fmax(k, 2.5)", "the number becomes an integer here"},
    {"ops.sum(c)", "int8 is added up in int8"},
    {"ops.matmul(c, ops.transpose(c))", "int8 is added up in int8"},
    {"ops.einsum('ab,db->ad', c, c)", "int8 is added up in int8"},
    {"ops.argmax(z)", "0.0 and -0.0 are equal"},
    {"ops.argmin(z, axis=1)", "0.0 and -0.0 are equal"},
    {"ops.argmin(-z)", "0.0 and -0.0 are equal"},
    {"ops.take_along_axis(t, np.array([[0, -1]], 'int32'), axis=1)", "indices are not broadcast"},
};
bool is_different(std::string_view name) {
  return std::any_of(std::begin(different), std::end(different),
                     [&](const Different& one) { return one.name == name; });
}

// Functions on values take operands of one dtype, and some take floats alone. So they may refuse
// other dtypes than float32, but must not compute anything else than Keras does.
TEST(OperationFunctions, ComputeTheNumbersOfKeras) {
  std::set<std::string> computed;
  for (const Json& test : golden_cases()) {
    SCOPED_TRACE(test.at("name").as_string());
    const Json& graph = test.at("config").at("config");
    const std::string& name = test.at("name").as_string();
    if (lists_no_axes(graph) || is_different(name)) continue;
    try {
      expect_numbers(
          test, [&](const auto& inputs) { return call_all(graph, inputs, &Function::on_values); });
      for (const Json& layer : graph.at("layers").as_array())
        computed.insert(layer.at("class_name").as_string());
    } catch (const UserError& error) {
      const auto& inputs = test.at("inputs").as_array();
      EXPECT_FALSE(std::all_of(inputs.begin(), inputs.end(), is_float32)) << error.what();
    }
  }
  for (const OperationDef& def : all_operations())
    EXPECT_TRUE(computed.contains(std::string(def.class_name))) << def.class_name;
}

// The table of functions has a row for each operation, in the same order.
TEST(OperationFunctions, AreThereForEveryOperation) {
  std::vector<std::string_view> with_function, all;
  for (const Function& function : functions) with_function.push_back(function.class_name);
  for (const OperationDef& def : all_operations()) all.push_back(def.class_name);
  EXPECT_EQ(with_function, all);
}

TEST(OperationFunctions, HaveTheDefaultsOfKeras) {
  std::map<std::string_view, Json> cases;
  const auto golden = golden_cases();
  for (const Json& test : golden) cases.emplace(test.at("name").as_string(), test);
  for (const DefaultCall& call : default_calls) {
    SCOPED_TRACE(call.name);
    ASSERT_TRUE(cases.contains(call.name));
    const Json& test = cases.at(call.name);
    const Json& graph = test.at("config").at("config");
    try {
      EXPECT_EQ(layers_made(graph, [&](const auto& in) { return call.on_symbols(by_name(in)); }),
                testing::without_null_arguments(graph.at("layers")));
      expect_numbers(test, [&](const auto& in) { return call.on_values(by_name(in)).flat(); });
    } catch (const UserError& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

}  // namespace
}  // namespace keratin::operations
