// Activations, initializers, regularizers and constraints against what Keras answers.
#include <cmath>
#include <functional>

#include "keratin/base/text.h"
#include "keratin/engine/compile.h"
#include "keratin/graph/activation.h"
#include "keratin/graph/constraint.h"
#include "keratin/graph/initializer.h"
#include "keratin/graph/named.h"
#include "keratin/graph/regularizer.h"
#include "keratin/ops/activations.h"
#include "keratin/testing/check_op.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/expect_values.h"
#include "keratin/testing/golden.h"

namespace keratin {
namespace {

using testing::expect_close;
using testing::expect_user_error;
using testing::golden_tensor;
using testing::read_golden;

Tensor run(const std::function<Value(Value)>& f, const Tensor& x) {
  Module module;
  module.output(f(module.input({x.dtype(), x.shape()})));
  return compile(std::move(module), {})({x})[0];
}

// An activation with the arguments of a case.
Value activate(const std::string& name, const Json& kwargs, Value x) {
  const auto number = [&](const char* key, double fallback) {
    const Json* value = kwargs.find(key);
    return value == nullptr ? fallback : value->as_double();
  };
  const auto axis = static_cast<int64_t>(number("axis", -1));
  if (kwargs.size() == 0) return Activation(name)(x);
  if (name == "relu") {
    const Json* most = kwargs.find("max_value");
    return ops::relu(x, number("negative_slope", 0),
                     most == nullptr ? std::nullopt : std::optional(most->as_double()),
                     number("threshold", 0));
  }
  if (name == "celu") return ops::celu(x, number("alpha", 1));
  if (name == "elu") return ops::elu(x, number("alpha", 1));
  if (name == "gelu") return ops::gelu(x, kwargs.at("approximate").as_bool());
  if (name == "glu") return ops::glu(x, axis);
  if (name == "hard_shrink") return ops::hard_shrink(x, number("threshold", 0.5));
  if (name == "soft_shrink") return ops::soft_shrink(x, number("threshold", 0.5));
  if (name == "leaky_relu") return ops::leaky_relu(x, number("negative_slope", 0.2));
  if (name == "log_softmax") return ops::log_softmax(x, axis);
  if (name == "softmax") return ops::softmax(x, axis);
  if (name == "squareplus") return ops::squareplus(x, number("b", 4));
  if (name == "threshold")
    return ops::threshold(x, number("threshold", 0), number("default_value", 0));
  fail("no arguments known for ", name);
}

TEST(KerasFunctions, Activations) {
  const Json cases = read_golden("activations.json");
  ASSERT_GE(cases.size(), 90u);
  for (const Json& test : cases.as_array()) {
    const std::string& name = test.at("name").as_string();
    if (name == "sparsemax") continue;  // Keras 3.15 computes another, see ops/activations.h
    SCOPED_TRACE(name + test.at("kwargs").dump());
    const Tensor y = run([&](Value x) { return activate(name, test.at("kwargs"), x); },
                         golden_tensor(test.at("input")));
    expect_close(y, golden_tensor(test.at("output")), 1e-5, name);
    if (name == "threshold") continue;
    EXPECT_EQ(Activation(name).to_json(), test.at("config"));
  }
}

TEST(KerasFunctions, Regularizers) {
  const Json cases = read_golden("regularizers.json");
  ASSERT_GE(cases.size(), 10u);
  for (const Json& test : cases.as_array()) {
    SCOPED_TRACE(test.at("config"));
    const auto regularizer = Regularizer::from_json(test.at("config"));
    EXPECT_EQ(regularizer.to_json(), test.at("config"));
    expect_close(run([&](Value x) { return regularizer(x); }, golden_tensor(test.at("input"))),
                 golden_tensor(test.at("output")), 1e-5, "penalty");
  }
}

TEST(KerasFunctions, Constraints) {
  const Json cases = read_golden("constraints.json");
  ASSERT_GE(cases.size(), 10u);
  for (const Json& test : cases.as_array()) {
    SCOPED_TRACE(test.at("config"));
    const auto constraint = Constraint::from_json(test.at("config"));
    EXPECT_EQ(constraint.to_json(), test.at("config"));
    expect_close(run([&](Value x) { return constraint(x); }, golden_tensor(test.at("input"))),
                 golden_tensor(test.at("output")), 1e-5, "weight");
  }
}

struct Facts {
  double mean = 0, std = 0, min = 0, max = 0;
};
Facts facts_of(const std::vector<double>& values) {
  Facts f{.min = values[0], .max = values[0]};
  const auto n = static_cast<double>(values.size());
  for (const double v : values) {
    f.mean += v / n;
    f.min = std::min(f.min, v);
    f.max = std::max(f.max, v);
  }
  for (const double v : values) f.std += (v - f.mean) * (v - f.mean) / n;
  f.std = std::sqrt(f.std);
  return f;
}

// Rows (or columns) of a matrix: of equal length and at right angles.
void expect_orthogonal(const Tensor& x, bool rows, double gain) {
  const int64_t cols = x.shape().back(), height = x.count() / cols;
  const std::vector<double> m = x.to_vector();
  const int64_t count = rows ? height : cols, length = rows ? cols : height;
  for (int64_t a = 0; a < count; ++a)
    for (int64_t b = 0; b <= a; ++b) {
      double dot = 0;
      for (int64_t k = 0; k < length; ++k)
        dot += rows ? m[static_cast<size_t>(a * cols + k)] * m[static_cast<size_t>(b * cols + k)]
                    : m[static_cast<size_t>(k * cols + a)] * m[static_cast<size_t>(k * cols + b)];
      ASSERT_NEAR(dot, a == b ? gain * gain : 0, 1e-5);
    }
}

void compare_facts(const Json& test, const Tensor& value) {
  const Json& facts = test.at("facts");
  const Facts mine = facts_of(value.to_vector());
  const auto number = [&](const char* key) { return facts.at(key).as_double(); };
  const double spread = number("std");
  if (facts.contains("orthogonal")) {
    EXPECT_NEAR(mine.std, spread, 0.02 * spread);
    expect_orthogonal(value, facts.at("orthogonal") == Json("rows"),
                      test.at("config").at("config").at("gain").as_double());
    return;
  }
  EXPECT_NEAR(mine.mean, number("mean"), 0.1 * spread);
  EXPECT_NEAR(mine.std, spread, 0.04 * spread);
  // Where the distribution ends, so must both; tails of normal numbers are a matter of luck.
  const double span = (number("max") - number("min")) / spread;
  const double slack = (span > 5 ? 1.5 : 0.1) * spread;
  EXPECT_NEAR(mine.min, number("min"), slack);
  EXPECT_NEAR(mine.max, number("max"), slack);
}

TEST(KerasFunctions, Initializers) {
  const Json cases = read_golden("initializers.json");
  ASSERT_GE(cases.size(), 60u);
  for (const Json& test : cases.as_array()) {
    SCOPED_TRACE(test.at("config").dump() + test.at("shape").dump());
    const Json& envelope = test.at("config");
    EXPECT_EQ(Initializer(envelope).to_json(), envelope);
    Named named = Named::from_json(envelope);
    if (const Json* lost = test.find("lost"))
      for (const auto& [key, value] : lost->as_object()) named.config[key] = value;
    Dims dims;
    for (const Json& size : test.at("shape").as_array()) dims.push_back(size.as_int());
    // Keras's STFT gives one input channel whatever was requested.
    if (test.at("name") == Json("STFT")) dims[1] = 1;
    const Tensor value = Initializer(named)(Shape(dims), DType::f32, 5);
    if (const Json* exact = test.find("value"))
      expect_close(value, golden_tensor(*exact), 1e-5, "value");
    else
      compare_facts(test, value);
  }
}

TEST(KerasFunctions, InitializersFollowTheSeed) {
  const Initializer free = "glorot_uniform", fixed = initializers::GlorotUniform(7);
  EXPECT_EQ(free({4, 3}, DType::f32, 1), free({4, 3}, DType::f32, 1));
  EXPECT_FALSE(free({4, 3}, DType::f32, 1) == free({4, 3}, DType::f32, 2));
  EXPECT_EQ(fixed({4, 3}, DType::f32, 1), fixed({4, 3}, DType::f32, 2));
}

TEST(KerasFunctions, RefuseUnknownNames) {
  expect_user_error([] { Initializer("gloomy_uniform"); }, "gloomy_uniform");
  expect_user_error([] { Regularizer("l3"); }, "l3");
  expect_user_error([] { Constraint("small_norm"); }, "small_norm");
  expect_user_error([] { Activation("reload"); }, "reload");
  expect_user_error(
      [] {
        Initializer(Named{"Constant", Json::Object{{"value", Json::Array{1, 2}}}})({3}, DType::f32,
                                                                                   0);
      },
      {"Constant", "[2]", "[3]"});
}

}  // namespace
}  // namespace keratin
