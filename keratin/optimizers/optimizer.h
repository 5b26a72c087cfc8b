#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "keratin/base/export.h"
#include "keratin/graph/config_fields.h"
#include "keratin/optimizers/schedule.h"

namespace keratin {

// The options of every optimizer.
struct KERATIN_API OptimizerOptions {
  std::string name = {};
  std::optional<double> weight_decay = {};
  std::optional<double> clipnorm = {};         // of each gradient
  std::optional<double> clipvalue = {};        // of each element
  std::optional<double> global_clipnorm = {};  // of all gradients together
  bool use_ema = false;                        // keep moving averages of the weights
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  std::optional<double> loss_scale_factor = {};
  std::optional<int64_t> gradient_accumulation_steps = {};

  static constexpr auto fields = field_list(
      field("name", &OptimizerOptions::name),
      field("weight_decay", &OptimizerOptions::weight_decay),
      field("clipnorm", &OptimizerOptions::clipnorm),
      field("global_clipnorm", &OptimizerOptions::global_clipnorm),
      field("clipvalue", &OptimizerOptions::clipvalue),
      field("use_ema", &OptimizerOptions::use_ema),
      field("ema_momentum", &OptimizerOptions::ema_momentum),
      field("ema_overwrite_frequency", &OptimizerOptions::ema_overwrite_frequency),
      field("loss_scale_factor", &OptimizerOptions::loss_scale_factor),
      field("gradient_accumulation_steps", &OptimizerOptions::gradient_accumulation_steps));
};

// The inputs of one step of one variable.
struct KERATIN_API OptimizerStep {
  Tracer& tracer;
  size_t index;  // of the variable, and of its slots
  const Variable& variable;
  Value gradient;  // this and the next two in the variable's dtype
  Value rate;
  Value count;  // this step's number, from 1

  Value read(const Variable& v) const;
  Value weight() const;
  // Assigns a value and returns it.
  Value assign(const Variable& v, Value value) const;
  // variable -= change
  void descend(Value change) const;
  // slot += (target - slot)·(1 - beta): an average that moves towards the target.
  Value approach(const Variable& slot, Value target, double beta) const;
  // A number in the variable's dtype, and its power by the step's number.
  Value number(double value) const;
  Value power(double base) const;
};

// An optimizer: how gradients update weights. Its state is in variables, so one program can read
// and update all.
class KERATIN_API OptimizerState {
 public:
  virtual ~OptimizerState() = default;
  OptimizerState(const OptimizerState&) = delete;
  OptimizerState& operator=(const OptimizerState&) = delete;

  virtual std::string_view class_name() const = 0;
  virtual Json own_config() const = 0;
  virtual Json get_config() const;
  // A new optimizer of the same config, before its first step; null if the class cannot make one.
  virtual std::shared_ptr<OptimizerState> fresh_copy() const { return nullptr; }
  const OptimizerOptions& options() const { return options_; }
  const std::string& name() const { return options_.name; }
  // The envelope of the file that it is from, which files have again; null if there is none.
  const Json& saved() const { return saved_; }
  void set_saved(Json envelope) { saved_ = std::move(envelope); }

  // Makes the state for these variables, once. After a call that ran out of memory, the next one
  // continues.
  void build(const std::vector<Variable>& variables);
  bool built() const { return built_; }
  // Iteration, learning rate, then the slots: the order in which files keep them.
  virtual std::vector<Variable> variables() const { return variables_; }
  const std::vector<Variable>& trained() const { return trained_; }
  // Optimizers inside this one, by Keras's names of the members that hold them.
  struct Inner {
    std::string attribute;
    std::shared_ptr<OptimizerState> optimizer;
  };
  virtual std::vector<Inner> inner_optimizers() const { return {}; }

  // The loss whose gradients are computed.
  virtual Value scale_loss(Tracer& tracer, Value loss);
  // Writes one step of all variables of `build`. A variable with an undefined gradient stays.
  virtual void apply(Tracer& tracer, Values gradients);

  virtual double learning_rate() const;         // now
  virtual void set_learning_rate(double rate);  // an error if there is a schedule
  virtual int64_t iterations() const;
  // Sets the weights to their averages if these are kept; called at the end of fit.
  virtual void finalize();
  virtual const std::vector<Variable>& averages() const { return averages_; }
  virtual void set_loss_scale_factor(std::optional<double> factor);
  // By regular expressions that match in their names, or one by one; before `build`.
  void exclude_from_weight_decay(std::vector<std::string> names);
  void exclude_from_weight_decay(std::vector<Variable> variables,
                                 std::vector<std::string> names = {});

 protected:
  using Step = OptimizerStep;
  OptimizerState(std::string_view class_name, LearningRate rate, OptimizerOptions options);

  // Makes the slots, with add_slots.
  virtual void make_slots(const std::vector<Variable>& variables) { (void)variables; }
  // Called once per step, before the updates of variables; the count is an integer.
  virtual void begin(Tracer& tracer, Value count) { (void)tracer, (void)count; }
  virtual void update(const Step& step) = 0;
  virtual std::optional<double> weight_decay_of(const Variable&) const {
    return options_.weight_decay;
  }

  Variable add_variable(const std::string& name, const Shape& shape, DType dtype,
                        const Initializer& initializer = "zeros");
  Variable add_slot(const Variable& like, const std::string& name,
                    const Initializer& initializer = "zeros");
  std::vector<Variable> add_slots(const std::vector<Variable>& variables, const std::string& name,
                                  const Initializer& initializer = "zeros");
  // The two slots of each variable are neighbours in `variables`.
  using Slots = std::vector<Variable>;
  std::pair<Slots, Slots> add_slot_pairs(const std::vector<Variable>& variables,
                                         const std::string& first, const std::string& second);
  // Makes the state of an optimizer inside this one.
  static void make_inner(OptimizerState& inner, const std::vector<Variable>& variables) {
    inner.make(variables);
  }
  const Variable& iteration() const { return iteration_; }
  // The updates that `write` makes happen only if the condition, a bool scalar, is true.
  void only_if(Tracer& tracer, Value condition, const std::function<void()>& write);

  // For optimizers that wrap others: an error if an option other than these is set.
  void refuse_options(std::initializer_list<std::string_view> but, std::string_view hint) const;

  LearningRate rate_;
  OptimizerOptions options_;

 private:
  void make(const std::vector<Variable>& variables);  // allocates no memory
  void place_slots();
  std::optional<int64_t> accumulation() const;
  bool decays(const Variable& variable) const;
  Value current_rate(Tracer& tracer) const;
  Value steps_made(Tracer& tracer) const;
  Values clipped(Values gradients) const;
  void accumulate(Tracer& tracer, Values gradients);
  void step_all(Tracer& tracer, const Values& gradients);
  void average(Tracer& tracer);

  bool built_ = false;
  Json saved_ = {};
  Variable iteration_, learning_rate_;
  std::vector<Variable> variables_, trained_, averages_, accumulators_;
  // Slots of sharded or mirrored variables, with these, until they are placed like them.
  std::vector<std::pair<Variable, Variable>> unplaced_slots_;
  std::vector<Variable> undecayed_;
  std::vector<std::string> undecayed_names_;
};

// An optimizer whose own config is a struct with a field list and Keras's name. Where Keras gives
// it a default weight decay, the config has that field; the option of that name goes before it.
template <class Derived, class Config, class Base = OptimizerState>
class KERATIN_API OptimizerOf : public Base {
 public:
  using ConfigType = Config;
  std::string_view class_name() const override { return Config::keras_name; }
  const Config& config() const { return cfg; }
  Json own_config() const override { return config::write_fields(cfg); }
  std::shared_ptr<OptimizerState> fresh_copy() const override {
    Config copy = config::fresh_fields(cfg);
    if constexpr (requires { copy.learning_rate.is_number(); })
      if (copy.learning_rate.is_number()) copy.learning_rate = this->learning_rate();
    return std::make_shared<Derived>(std::move(copy), this->options());
  }

 protected:
  OptimizerOf(Config config, OptimizerOptions options)
      : Base(Config::keras_name, rate_of(config), settled(config, std::move(options))),
        cfg(std::move(config)) {}
  Config cfg;

 private:
  static LearningRate rate_of(const Config& config) {
    if constexpr (requires { config.learning_rate; }) return config.learning_rate;
    return 0.0;
  }
  static OptimizerOptions settled(Config& config, OptimizerOptions options) {
    if constexpr (requires { config.weight_decay; }) {
      if (!options.weight_decay) options.weight_decay = config.weight_decay;
      config.weight_decay = options.weight_decay;
    }
    return options;
  }
};

// An optimizer as users name it: "adam", or one of the types in optimizers.h. Copies are the same
// optimizer.
class KERATIN_API Optimizer {
 public:
  using CustomKind = Optimizer;

  Optimizer() : Optimizer("rmsprop") {}
  Optimizer(const char* name) : Optimizer(std::string(name)) {}  // NOLINT
  Optimizer(const std::string& name);                            // NOLINT
  explicit Optimizer(std::nullptr_t) {}                          // none
  Optimizer(std::shared_ptr<OptimizerState> state)               // NOLINT
      : state_(std::move(state)) {}

  explicit operator bool() const { return state_ != nullptr; }
  bool operator==(const Optimizer&) const = default;  // the same one
  OptimizerState* operator->() const { return state_.get(); }
  OptimizerState& operator*() const { return *state_; }
  const std::shared_ptr<OptimizerState>& ptr() const { return state_; }
  // A new optimizer of the same config; an error if the class cannot make one.
  Optimizer fresh_copy() const;

  Json to_json() const;
  // The same optimizer, written to files with this envelope instead of its own.
  Optimizer saved_as(Json envelope) const;
  static Optimizer from_json(const Json& json);

 private:
  std::shared_ptr<OptimizerState> state_;
};

namespace detail {

// True for keys that Keras 2 wrote in addition.
KERATIN_API bool only_in_keras2(const std::string& key, const Json& value);

template <class O>
requires std::derived_from<O, OptimizerState>
struct CustomClass<O> {
  using Config = typename O::ConfigType;
  static constexpr std::string_view name = Config::keras_name;
  static Optimizer from_config(const Json& config) {
    Config own;
    OptimizerOptions options;
    config::read_fields(config, name, {}, only_in_keras2, own, options);
    return Optimizer(std::make_shared<O>(std::move(own), std::move(options)));
  }
};

}  // namespace detail

// The optimizer a user holds: Adam({.learning_rate = 1e-3}, {.clipnorm = 1}).
template <class O>
class KERATIN_API SharedOptimizer : public Optimizer {
 public:
  using State = O;
  using Config = typename O::ConfigType;
  SharedOptimizer() : SharedOptimizer(Config{}) {}
  SharedOptimizer(Config config, OptimizerOptions options = {})  // NOLINT
      : Optimizer(std::make_shared<O>(std::move(config), std::move(options))) {}
};

}  // namespace keratin
