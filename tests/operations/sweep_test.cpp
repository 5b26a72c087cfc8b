// Replays the cases of tests/golden/sweep: one operation each, with its config and arguments as a
// file has them, and the results of Keras on two backends.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <regex>
#include <set>
#include <span>

#include "keratin/base/text.h"
#include "keratin/files/zip.h"
#include "keratin/graph/dtype_policy.h"
#include "keratin/graph/functional.h"
#include "keratin/graph/operation.h"
#include "keratin/layers/registry.h"
#include "keratin/model/model.h"
#include "keratin/testing/golden.h"
#include "tests/operations/known.h"

namespace keratin {
namespace {

constexpr int64_t batch = 2;  // samples where the batch size is unknown

struct Input {
  std::string dtype;
  Json shape;
  Tensor data;
};

struct Output {
  DType dtype;
  Shape shape;
  Json declared;  // the shape that Keras infers
  Tensor data;
  bool any_zero;  // Keras's backends give zeros of different signs
};

struct Case {
  std::string name;
  Json json;
  std::vector<Input> inputs;
  std::vector<Output> outputs;  // none if Keras refuses the case

  bool refused() const { return json.contains("refused"); }
};

Tensor from_pool(const Json& pools, const Json& input, size_t k) {
  const std::string dtype = input[0].as_string();
  const DType type = dtype_from_keras(dtype, "sweep");
  const Json& pool = pools.at(input[2].as_string());
  const Json* values = &pool.at(is_float(type) ? "float" : "whole");
  if (values->is_null()) values = &pools.at("whole").at(dtype);
  Dims dims;
  for (const Json& size : input[1].as_array())
    dims.push_back(size.is_null() ? batch : size.as_int());
  const auto count = static_cast<size_t>(Shape(dims).count());
  std::vector<double> floats;
  std::vector<int64_t> ints;
  for (size_t i = 0; i < count; ++i) {
    const Json& value = (*values)[(i + 3 * k) % values->size()];
    if (is_float(type))
      floats.push_back(value.as_double());
    else if (type == DType::u8 || type == DType::boolean)
      ints.push_back(std::abs(value.as_int()));
    else
      ints.push_back(value.as_int());
  }
  return is_float(type) ? Tensor::of(type, dims, floats) : Tensor::of(type, dims, ints);
}

Case read_case(const Json& pools, const Json& json) {
  Case test{json.at("code").as_string(), json, {}, {}};
  const Json& inputs = json.at("inputs");
  for (size_t k = 0; k < inputs.size(); ++k) {
    const Json& input = inputs[k];
    test.inputs.push_back({input[0].as_string(), input[1], from_pool(pools, input, k)});
    test.name += text("  ", static_cast<char>('a' + k), ": ", input[0].as_string(), input[1].dump(),
                      " ", input[2].as_string());
  }
  if (test.refused()) return test;
  for (const Json& output : json.at("outputs").as_array()) {
    const Tensor data = testing::golden_tensor(output);
    const Json* declared = output.find("declared");
    test.outputs.push_back({data.dtype(), data.shape(),
                            declared == nullptr ? output.at("shape") : *declared, data,
                            json.contains("zeros")});
  }
  return test;
}

std::vector<Case> read_cases(const std::string& family) {
  const files::ZipReader zip(files::map_file(testing::golden_path(text("sweep/", family, ".zip"))));
  const auto read = [&](std::string_view name) {
    const files::FileView view = zip.read(name);
    return Json::parse({reinterpret_cast<const char*>(view.bytes().data()), view.size()});
  };
  const Json pools = read("pools.json"), cases = read("cases.json");
  std::vector<Case> tests;
  for (const Json& json : cases.as_array()) tests.push_back(read_case(pools, json));
  return tests;
}

Json tensor_json(const std::string& layer, const Input& input) {
  return Json::Object{{"class_name", "__keras_tensor__"},
                      {"config", Json::Object{{"shape", input.shape},
                                              {"dtype", input.dtype},
                                              {"keras_history", Json::Array{layer, 0, 0}}}}};
}

// The arguments, with the tensor of input i in place of {"$": i}.
Json filled(const Json& json, const Case& test, const std::string& prefix) {
  if (json.is_array()) {
    Json list = Json::array();
    for (const Json& item : json.as_array()) list.push_back(filled(item, test, prefix));
    return list;
  }
  if (!json.is_object()) return json;
  if (const Json* at = json.find("$")) {
    const int64_t k = at->as_int();
    return tensor_json(text(prefix, "_", k), test.inputs[static_cast<size_t>(k)]);
  }
  Json object = Json::object();
  for (const auto& [key, item] : json.as_object()) object[key] = filled(item, test, prefix);
  return object;
}

Json input_json(const std::string& name, const Input& input) {
  return Json::Object{{"module", "keras.layers"},
                      {"class_name", "InputLayer"},
                      {"config", Json::Object{{"batch_shape", input.shape},
                                              {"dtype", input.dtype},
                                              {"sparse", false},
                                              {"ragged", false},
                                              {"name", name},
                                              {"optional", false}}},
                      {"registered_name", nullptr},
                      {"name", name},
                      {"inbound_nodes", Json::array()}};
}

Json operation_json(const std::string& name, const Case& test) {
  Json config = Json::Object{{"name", name}};
  for (const auto& [key, value] : test.json.at("options").as_object()) config[key] = value;
  const Json& class_name = test.json.at("class");
  const Json node = Json::Object{{"args", filled(test.json.at("args"), test, name)},
                                 {"kwargs", filled(test.json.at("kwargs"), test, name)}};
  return Json::Object{{"module", text("keras.src.ops.", test.json.at("module").as_string())},
                      {"class_name", class_name},
                      {"config", config},
                      {"registered_name", class_name},
                      {"name", name},
                      {"inbound_nodes", Json::Array{node}}};
}

using Cases = std::span<const Case>;

// A model with one operation for each case, as Keras writes it.
Json model_json(Cases cases) {
  Json layers = Json::array(), inputs = Json::array(), outputs = Json::array();
  for (size_t i = 0; i < cases.size(); ++i) {
    const std::string name = text("op", i);
    for (size_t k = 0; k < cases[i].inputs.size(); ++k) {
      const std::string input = text(name, "_", k);
      layers.push_back(input_json(input, cases[i].inputs[k]));
      inputs.push_back(Json::Array{input, 0, 0});
    }
    layers.push_back(operation_json(name, cases[i]));
    for (size_t k = 0; k < std::max<size_t>(cases[i].outputs.size(), 1); ++k)
      outputs.push_back(Json::Array{name, 0, static_cast<int64_t>(k)});
  }
  return Json::Object{{"module", "keras.src.models.functional"},
                      {"class_name", "Functional"},
                      {"config", Json::Object{{"name", "operations"},
                                              {"trainable", true},
                                              {"layers", layers},
                                              {"input_layers", inputs},
                                              {"output_layers", outputs}}},
                      {"registered_name", "Functional"}};
}

double tolerance(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return 2e-3;
    case DType::bf16:
      return 1.6e-2;
    case DType::f64:
      return 1e-10;
    default:
      return 1e-5;
  }
}

bool equal_numbers(double a, double b, double near, bool any_zero) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return any_zero || a != 0 || std::signbit(a) == std::signbit(b);
  if (std::isinf(a) || std::isinf(b)) return false;
  return std::abs(a - b) <= near * (std::abs(b) + 0.1);
}

bool equal_tensors(const Tensor& got, const Tensor& wanted, bool any_zero) {
  if (!is_float(wanted.dtype())) return got == wanted;
  for (int64_t i = 0; i < got.count(); ++i)
    if (!equal_numbers(got.at(i), wanted.at(i), tolerance(wanted.dtype()), any_zero)) return false;
  return true;
}

bool has_shape(const Shape& shape, const Json& wanted) {
  if (shape.rank() != static_cast<int64_t>(wanted.size())) return false;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    const Json& size = wanted[static_cast<size_t>(i)];
    if (shape[i] != (size.is_null() ? unknown : size.as_int())) return false;
  }
  return true;
}

// How an output differs, or nothing.
std::string difference(const Output& wanted, const SymbolicTensor& symbol, const Tensor& got) {
  if (symbol.dtype() != wanted.dtype || got.dtype() != wanted.dtype)
    return text("dtype: expected ", wanted.dtype, ", inferred ", symbol.dtype(), ", got ",
                got.dtype());
  if (got.shape() != wanted.shape)
    return text("shape: expected ", wanted.shape, ", got ", got.shape());
  if (!wanted.declared.is_null() && !has_shape(symbol.shape(), wanted.declared))
    return text("inferred: expected ", wanted.declared.dump(), ", got ", symbol.shape());
  if (!equal_tensors(got, wanted.data, true))
    return text("numbers: expected ", wanted.data, ", got ", got);
  if (!equal_tensors(got, wanted.data, wanted.any_zero))
    return text("zeros: expected ", wanted.data, ", got ", got);
  return {};
}

std::vector<std::string> check(Cases cases) {
  const Json json = model_json(cases);
  const Model model(layer_from_json(json));
  const Json layers = model.get_config().at("layers");
  std::vector<Tree<Tensor>> inputs;
  for (const Case& test : cases)
    for (const Input& input : test.inputs) inputs.emplace_back(input.data);
  const auto got = model.predict_on_batch(Tree<Tensor>(inputs)).flat();
  const auto symbols = model.outputs();
  std::vector<std::string> found;
  size_t at = 0;
  for (size_t i = 0; i < cases.size(); ++i) {
    std::string wrong;
    for (const Output& wanted : cases[i].outputs) {
      if (wrong.empty()) wrong = difference(wanted, symbols[at], got[at]);
      ++at;
    }
    found.push_back(wrong);
  }
  const Json& theirs = json.at("config").at("layers");
  size_t layer = 0;
  for (size_t i = 0; i < cases.size(); ++i)
    for (size_t k = 0; k <= cases[i].inputs.size(); ++k, ++layer) {
      Json ours;
      for (const Json& one : layers.as_array())
        if (one.at("name") == theirs[layer].at("name")) ours = one;
      if (found[i].empty() && ours.dump() != theirs[layer].dump())
        found[i] = text("config: expected ", theirs[layer].dump(), ", got ", ours.dump());
    }
  return found;
}

// How one case differs, or why it is refused.
std::string check_one(const Case& test) {
  try {
    return check({&test, 1})[0];
  } catch (const UserError& error) {
    return text("refused: ", error.what());
  }
}

std::vector<std::string> check_all(Cases cases) {
  try {
    return check(cases);
  } catch (const UserError&) {
    std::vector<std::string> found;
    for (const Case& test : cases) found.push_back(check_one(test));
    return found;
  }
}

const Known* cause_of(const Case& test, const std::string& difference) {
  for (const Known& one : known)
    if (difference.starts_with(one.kind) &&
        std::regex_search(test.name, std::regex(one.cases), std::regex_constants::match_continuous))
      return &one;
  return nullptr;
}

struct Difference {
  Case test;
  std::string what;
};

// The cases where Keratin differs from Keras, whether the cause is known or not.
std::vector<Difference> find_differences(const std::string& family) {
  std::vector<Case> computed, refused;
  for (Case& test : read_cases(family))
    (test.refused() ? refused : computed).push_back(std::move(test));
  std::vector<Difference> found;
  constexpr size_t together = 40;
  for (size_t i = 0; i < computed.size(); i += together) {
    const Cases part = Cases(computed).subspan(i, std::min(together, computed.size() - i));
    const auto wrong = check_all(part);
    for (size_t k = 0; k < part.size(); ++k)
      if (!wrong[k].empty()) found.push_back({part[k], wrong[k]});
  }
  for (const Case& test : refused) {
    const std::string& why = test.json.at("refused").as_string();
    // Keratin may compute what Keras can build but its backends have no kernel for.
    if (!check_one(test).starts_with("refused") && why.starts_with("symbolic"))
      found.push_back({test, text("accepted: ", why)});
  }
  return found;
}

const std::vector<Difference>& differences(const std::string& family) {
  static std::map<std::string, std::vector<Difference>> found;  // it takes seconds
  if (!found.contains(family)) found[family] = find_differences(family);
  return found[family];
}

class Sweep : public ::testing::TestWithParam<const char*> {};

TEST_P(Sweep, ComputesWhatKerasDoes) {
  for (const auto& [test, difference] : differences(GetParam()))
    if (cause_of(test, difference) == nullptr) ADD_FAILURE() << test.name << "\n  " << difference;
}

constexpr const char* families[] = {"unary",     "binary",   "reductions",
                                    "movements", "products", "operators"};

TEST(SweepTable, CoversEveryOperation) {
  std::set<std::string> seen;
  for (const char* family : families)
    for (const Case& test : read_cases(family))
      if (!test.refused()) seen.insert(test.json.at("class").as_string());
  for (const OperationDef& def : all_operations())
    EXPECT_TRUE(seen.contains(std::string(def.class_name))) << def.class_name << " has no case";
}

// A known difference that no longer occurs is to be removed from the list.
TEST(SweepTable, EveryKnownDifferenceOccurs) {
  std::set<const Known*> needed;
  for (const char* family : families)
    for (const auto& [test, difference] : differences(family))
      needed.insert(cause_of(test, difference));
  for (const Known& one : known) EXPECT_TRUE(needed.contains(&one)) << one.cases << ' ' << one.kind;
}

INSTANTIATE_TEST_SUITE_P(Operation, Sweep, ::testing::ValuesIn(families),
                         [](const auto& family) { return std::string(family.param); });

}  // namespace
}  // namespace keratin
