#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "keratin/graph/config.h"
#include "keratin/optimizers/schedule.h"

#pragma GCC visibility push(default)

namespace keratin {

// What every optimizer can be given beside its own config.
struct OptimizerOptions {
  std::string name = {};
  std::optional<double> weight_decay = {};
  std::optional<double> clipnorm = {};         // of each gradient
  std::optional<double> clipvalue = {};        // of each element
  std::optional<double> global_clipnorm = {};  // of all gradients together
  bool use_ema = false;                        // keeps moving averages of the weights
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  std::optional<double> loss_scale_factor = {};
  std::optional<int64_t> gradient_accumulation_steps = {};

  static constexpr auto fields = std::tuple{
      field("name", &OptimizerOptions::name),
      field("weight_decay", &OptimizerOptions::weight_decay),
      field("clipnorm", &OptimizerOptions::clipnorm),
      field("global_clipnorm", &OptimizerOptions::global_clipnorm),
      field("clipvalue", &OptimizerOptions::clipvalue),
      field("use_ema", &OptimizerOptions::use_ema),
      field("ema_momentum", &OptimizerOptions::ema_momentum),
      field("ema_overwrite_frequency", &OptimizerOptions::ema_overwrite_frequency),
      field("loss_scale_factor", &OptimizerOptions::loss_scale_factor),
      field("gradient_accumulation_steps", &OptimizerOptions::gradient_accumulation_steps)};
};

// How weights follow their gradients. Its own state are variables, so one program can read and
// update everything.
class OptimizerState {
 public:
  virtual ~OptimizerState() = default;
  OptimizerState(const OptimizerState&) = delete;
  OptimizerState& operator=(const OptimizerState&) = delete;

  virtual std::string_view class_name() const = 0;
  virtual Json own_config() const = 0;
  Json get_config() const;
  const OptimizerOptions& options() const { return options_; }
  const std::string& name() const { return options_.name; }

  // Makes the state for these variables; once.
  void build(const std::vector<Variable>& variables);
  bool built() const { return built_; }
  // Iteration, learning rate, then the slots: the order in which files keep them.
  const std::vector<Variable>& variables() const { return variables_; }

  // The loss that gradients are taken of.
  virtual Value scale_loss(Tracer& tracer, Value loss);
  // Writes one step of all variables the optimizer was built with. An undefined gradient is none.
  virtual void apply(Tracer& tracer, Values gradients);

  double learning_rate() const;         // now
  void set_learning_rate(double rate);  // an error when it follows a schedule
  int64_t iterations() const;
  // Gives the weights their averages, where these are kept; fit ends with it.
  void finalize();
  void exclude_from_weight_decay(std::vector<std::string> parts_of_names);
  const std::vector<Variable>& averages() const { return averages_; }
  const std::vector<Variable>& trained() const { return trained_; }

 protected:
  OptimizerState(std::string_view class_name, LearningRate rate, OptimizerOptions options);

  // What one step of one variable sees.
  struct Step {
    Tracer& tracer;
    size_t index;  // of the variable: its slots are at the same place
    const Variable& variable;
    Value gradient;  // in the variable's dtype
    Value rate;      // in the variable's dtype
    Value count;     // this step's number from 1, in the variable's dtype

    Value read(const Variable& v) const { return tracer.read(v); }
    // Assigns, and gives what was assigned.
    Value assign(const Variable& v, Value value) const {
      tracer.update(v, value);
      return tracer.read(v);
    }
  };
  // Makes slots with add_slots.
  virtual void make_slots(const std::vector<Variable>& variables) { (void)variables; }
  // Once per step, before the variables' own.
  virtual void begin(Tracer& tracer) { (void)tracer; }
  virtual void update(const Step& step) = 0;

  Variable add_variable(const std::string& name, const Shape& shape, DType dtype,
                        const Initializer& initializer = "zeros");
  Variable add_slot(const Variable& like, const std::string& name,
                    const Initializer& initializer = "zeros");
  std::vector<Variable> add_slots(const std::vector<Variable>& variables, const std::string& name,
                                  const Initializer& initializer = "zeros");
  const Variable& iteration() const { return iteration_; }
  // What `write` does to variables happens only where the condition, a bool scalar, holds.
  void only_if(Tracer& tracer, Value condition, const std::function<void()>& write);
  bool decays(const Variable& variable) const;

  LearningRate rate_;
  OptimizerOptions options_;

 private:
  Value current_rate(Tracer& tracer) const;
  Values clipped(Values gradients) const;
  void step_all(Tracer& tracer, const Values& gradients);
  void average(Tracer& tracer);

  bool built_ = false;
  Variable iteration_, learning_rate_;
  std::vector<Variable> variables_, trained_, averages_, accumulators_;
  std::vector<std::string> undecayed_;
};

template <class Derived, class Config, class Base = OptimizerState>
class OptimizerOf : public Base {
 public:
  using ConfigType = Config;
  std::string_view class_name() const override { return Config::keras_name; }
  const Config& config() const { return cfg; }
  Json own_config() const override {
    Json json = Json::object();
    for_each_field(
        cfg, [&](std::string_view key, const auto& value) { json[key] = config::write(value); });
    return json;
  }

 protected:
  OptimizerOf(Config config, OptimizerOptions options)
      : Base(Config::keras_name, config.learning_rate, std::move(options)),
        cfg(std::move(config)) {}
  Config cfg;
};

// An optimizer as users name it: "adam", or one of the types in optimizers.h. Copies are the same
// optimizer.
class Optimizer {
 public:
  Optimizer() : Optimizer("rmsprop") {}
  Optimizer(const char* name) : Optimizer(std::string(name)) {}  // NOLINT
  Optimizer(const std::string& name);                            // NOLINT
  Optimizer(std::shared_ptr<OptimizerState> state)               // NOLINT
      : state_(std::move(state)) {}

  OptimizerState* operator->() const { return state_.get(); }
  OptimizerState& operator*() const { return *state_; }
  const std::shared_ptr<OptimizerState>& ptr() const { return state_; }

  Json to_json() const;
  static Optimizer from_json(const Json& json);

 private:
  std::shared_ptr<OptimizerState> state_;
};

// The optimizer a user holds: Adam({.learning_rate = 1e-3}, {.clipnorm = 1}).
template <class O>
class SharedOptimizer : public Optimizer {
 public:
  using Config = typename O::ConfigType;
  SharedOptimizer() : SharedOptimizer(Config{}) {}
  SharedOptimizer(Config config, OptimizerOptions options = {})  // NOLINT
      : Optimizer(std::make_shared<O>(std::move(config), std::move(options))) {}
};

}  // namespace keratin

#pragma GCC visibility pop
