#include "keratin/testing/check_optimizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "keratin/base/text.h"
#include "keratin/graph/dtype_policy.h"
#include "keratin/graph/tracer.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/pointwise.h"
#include "keratin/testing/backends.h"
#include "keratin/testing/golden.h"

namespace keratin::testing {
namespace {

constexpr size_t constrained = 2, made_infinite = 1;  // indices of variables, as in the maker

// The values of one step, from those of all steps.
Tensor at_step(const Tensor& all, int64_t step, const Variable& v) {
  Tensor one(all.dtype(), v.shape());
  std::memcpy(one.raw(),
              static_cast<const char*>(all.raw()) + static_cast<size_t>(step) * one.bytes(),
              one.bytes());
  return one.cast(v.dtype()).clone();
}

std::vector<Variable> golden_variables(const Json& steps, const OptimizerRunOptions& options) {
  std::vector<Variable> variables;
  for (const Json& json : steps.at("variables").as_array()) {
    const std::string& path = json.at("path").as_string();
    VariableSpec spec{.name = path.substr(path.find('/') + 1), .dtype = options.dtype};
    const Tensor value = golden_tensor(json);
    spec.shape = value.shape();
    if (variables.size() == constrained && !options.constraint.empty())
      spec.constraint = Constraint(options.constraint.c_str());
    Variable& v = variables.emplace_back(spec);
    v.set_path(path);
    v.assign(value);
  }
  return variables;
}

// In 16 bits, Keras rounds after each op, and fused loops do not; in f64, Keras rounds constants
// such as 1 - 0.999 to f32.
double tolerance_of(DType dtype) {
  if (dtype == DType::bf16) return 3e-2;
  if (dtype == DType::f16) return 4e-3;
  return dtype == DType::f64 ? 5e-5 : 3e-6;
}

// One recorded case on one backend, in its own dtype or another.
class CaseRun {
 public:
  CaseRun(const Json& golden, const OptimizerRunOptions& options)
      : golden_(golden),
        tolerance_(tolerance_of(options.dtype)),
        scale_(size_of(options.dtype) == 2 ? 1 : 0),
        optimizer_(Optimizer::from_json(golden.at("config"))) {
    if (const Json* names = golden.find("exclude")) {
      std::vector<std::string> patterns;
      for (const Json& name : names->as_array()) patterns.push_back(name.as_string());
      optimizer_->exclude_from_weight_decay(patterns);
    }
    run_.emplace(optimizer_, options);
  }

  void check() {
    for (int step = 1; step <= 20; ++step) {
      check_rate(step);
      const Json* broken = golden_.find("not_finite");
      const auto is_this = [&](const Json& n) { return n == Json(step); };
      run_->step(broken == nullptr ||
                 std::none_of(broken->as_array().begin(), broken->as_array().end(), is_this));
      if (const Json* weights = golden_.at("weights").find(text(step)))
        check_weights(*weights, text("after step ", step));
    }
    check_variables();
    EXPECT_EQ(optimizer_->iterations(), golden_.at("iterations").as_int());
    if (const Json* weights = golden_.find("finalized")) {
      optimizer_->finalize();
      check_weights(*weights, "finalized");
    }
  }

 private:
  void check_rate(int step) {
    if (const Json* rates = golden_.find("set_rates"))
      if (const Json* rate = rates->find(text(step)))
        optimizer_->set_learning_rate(rate->as_double());
    const Json& rates = golden_.at("rates");
    if (rates.size() == 0) return;  // a MultiOptimizer has none
    const double expected = rates[step - 1].as_double();
    EXPECT_NEAR(optimizer_->learning_rate(), expected, 1e-6 * std::abs(expected))
        << "step " << step;
  }

  void check_weights(const Json& golden, const std::string& when) const {
    for (size_t i = 0; i < run_->variables().size(); ++i)
      expect_near(run_->variables()[i].value(), golden_tensor(golden[i]), tolerance_,
                  text(run_->variables()[i].path(), ' ', when), scale_);
  }

  void check_variables() const {
    const auto& golden = golden_.at("variables").as_array();
    const std::vector<Variable> variables = optimizer_->variables();
    ASSERT_EQ(variables.size(), golden.size());
    for (size_t i = 0; i < golden.size(); ++i) {
      EXPECT_EQ(variables[i].path(), golden[i].at("path").as_string()) << "variable " << i;
      EXPECT_EQ(variables[i].name(), golden[i].at("name").as_string()) << "variable " << i;
      expect_near(variables[i].value(), golden_tensor(golden[i]), tolerance_, variables[i].path());
    }
  }

  const Json& golden_;
  double tolerance_;
  double
      scale_;  // of the first weights: rounding errors of 16 bits stay when weights pass through 0
  Optimizer optimizer_;
  std::optional<OptimizerRun> run_;
};

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> found;
  for (const auto& [key, value] : object.as_object()) found.push_back(key);
  return found;
}

void check_config(const Json& golden) {
  const Json written = Optimizer::from_json(golden).to_json();
  EXPECT_EQ(written, golden);
  EXPECT_EQ(keys(written), keys(golden));
  EXPECT_EQ(keys(written.at("config")), keys(golden.at("config")));
}

}  // namespace

OptimizerRun::OptimizerRun(Optimizer optimizer, const OptimizerRunOptions& options)
    : optimizer_(std::move(optimizer)) {
  const Json steps = read_golden("optimizers/steps.json");
  variables_ = golden_variables(steps, options);
  for (const Json& json : steps.at("gradients").as_array())
    gradients_.push_back(golden_tensor(json));
  missing_.resize(variables_.size());
  for (const size_t i : options.missing) missing_[i] = true;
  optimizer_->build(variables_);

  Module module;
  Tracer tracer(module, true);
  Values gradients;
  for (size_t i = 0; i < variables_.size(); ++i)
    gradients.push_back(missing_[i] ? Value()
                                    : module.input({options.dtype, variables_[i].shape()}));
  const Value one = ops::constant(module.block(), Tensor::scalar(DType::f32, 1));
  const Value scale = ops::cast(optimizer_->scale_loss(tracer, one), options.dtype);
  for (Value& g : gradients)
    if (g.defined()) g = g * scale;
  optimizer_->apply(tracer, gradients);
  tracer.finish();
  state_ = tracer.variables();
  program_.emplace(
      compile(std::move(module), {.backend = options.backend, .threads = 1, .tf32 = false}));
}

void OptimizerRun::step(bool finite) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < variables_.size(); ++i) {
    if (missing_[i]) continue;
    inputs.push_back(at_step(gradients_[i], made_, variables_[i]));
    if (!finite && i == made_infinite)
      inputs.back().set(0, std::numeric_limits<double>::infinity());
  }
  for (const Variable& v : state_) inputs.push_back(v.value());
  (*program_)(inputs);
  ++made_;
}

void expect_near(const Tensor& actual, const Tensor& expected, double tolerance,
                 const std::string& what, double scale) {
  ASSERT_EQ(actual.shape(), expected.shape()) << what;
  double largest = scale, difference = 0;
  int64_t where = 0;
  for (int64_t i = 0; i < expected.count(); ++i) {
    const double a = actual.at(i), b = expected.at(i);
    if (std::isnan(a) && std::isnan(b)) continue;
    largest = std::max(largest, std::abs(b));
    const double d = std::isnan(a - b) ? std::numeric_limits<double>::infinity() : std::abs(a - b);
    if (d > difference) difference = d, where = i;
  }
  EXPECT_LE(difference, tolerance * largest)
      << what << ": element " << where << " is " << actual.at(where) << ", expected "
      << expected.at(where);
}

void check_optimizer(const std::string& class_name) {
  const Json cases = read_golden("optimizers/" + class_name + ".json");
  for (const Json& golden : cases.as_array()) {
    SCOPED_TRACE(text(class_name, ' ', golden.at("name").as_string()));
    check_config(golden.at("config"));
    OptimizerRunOptions options;
    if (const Json* dtype = golden.find("dtype"))
      options.dtype = dtype_from_keras(dtype->as_string(), "golden");
    if (const Json* constraint = golden.find("constraint"))
      options.constraint = constraint->as_string();
    if (const Json* missing = golden.find("missing"))
      for (const Json& i : missing->as_array())
        options.missing.push_back(static_cast<size_t>(i.as_int()));
    for (const std::string& backend : backends()) {
      SCOPED_TRACE(text("on ", backend, " in ", options.dtype));
      options.backend = backend;
      CaseRun(golden, options).check();
    }
    if (options.dtype != DType::f32) continue;
    SCOPED_TRACE("in f64");
    options.dtype = DType::f64;
    CaseRun(golden, options).check();
  }
}

}  // namespace keratin::testing
