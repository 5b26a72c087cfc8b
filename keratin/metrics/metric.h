#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "keratin/graph/config.h"
#include "keratin/losses/loss.h"

#pragma GCC visibility push(default)

namespace keratin {

struct MetricOptions {
  std::string name = {};  // "" is the class's, in snake case
  DType dtype = DType::f32;
};

// What a metric sees of one batch. Plain means look at `y_pred` alone.
struct Sample {
  Value y_true;
  Value y_pred;
  std::optional<Value> weight = {};
  std::optional<Value> mask = {};  // that of the prediction
};

// A number about a model, gathered over batches in variables of its own. Both its methods write
// programs: `update` adds a batch, `result` says what all of them give.
class MetricState {
 public:
  virtual ~MetricState() = default;
  MetricState(const MetricState&) = delete;
  MetricState& operator=(const MetricState&) = delete;

  virtual std::string_view class_name() const = 0;
  virtual Json own_config() const { return Json::object(); }
  virtual std::shared_ptr<MetricState> fresh_copy() const = 0;

  const std::string& name() const { return options_.name; }
  void set_name(std::string name) { options_.name = std::move(name); }
  DType dtype() const { return options_.dtype; }
  const MetricOptions& options() const { return options_; }

  // Called before the first update; where the variables follow from the data, it makes them.
  virtual void build(const Shape& y_true, const Shape& y_pred) { (void)y_true, (void)y_pred; }
  virtual void update(Tracer& tracer, const Sample& sample) = 0;
  virtual Value result(Tracer& tracer) = 0;
  // Is less better, as for losses? Callbacks ask.
  virtual bool falls() const { return false; }

  const std::vector<Variable>& variables() const { return variables_; }
  virtual void reset();  // every variable to where it began

 protected:
  MetricState(std::string_view class_name, MetricOptions options);
  Variable add_variable(const std::string& name, const Shape& shape,
                        const Initializer& initializer = "zeros");
  void add(Tracer& tracer, const Variable& variable, Value value) const;

  MetricOptions options_;

 private:
  std::vector<Variable> variables_;
};

// A metric whose own config is a struct with a field list and Keras's name.
template <class Derived, class Config, class Base = MetricState>
class MetricOf : public Base {
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
  std::shared_ptr<MetricState> fresh_copy() const override {
    return std::make_shared<Derived>(cfg, this->options());
  }

 protected:
  MetricOf(Config config, MetricOptions options)
      : Base(Config::keras_name, std::move(options)), cfg(std::move(config)) {}
  Config cfg;
};

// total / count
class MeanState : public MetricState {
 public:
  Value result(Tracer& tracer) override;

 protected:
  MeanState(std::string_view class_name, MetricOptions options);
  void add_values(Tracer& tracer, Value values, std::optional<Value> weight);

 private:
  Variable total_, count_;
};

// The mean of a function of each sample. A config has `Value call(Value y_true, Value y_pred)
// const` or, where a loss has the same name, `LossTerms call` of that.
template <class Config>
class MeanOf final : public MetricOf<MeanOf<Config>, Config, MeanState> {
 public:
  MeanOf(Config config, MetricOptions options)
      : MetricOf<MeanOf<Config>, Config, MeanState>(std::move(config), std::move(options)) {}
  void update(Tracer& tracer, const Sample& sample) override {
    const LossTerms terms = this->cfg.call(sample.y_true, sample.y_pred);
    this->add_values(tracer, terms.values,
                     masked_weight(sample.weight, sample.mask, this->dtype(), false));
  }
  bool falls() const override {
    if constexpr (requires { Config::falls; }) return Config::falls;
    return false;
  }
};

// A metric as users name it: by Keras's name ("accuracy", "AUC"), from one of the types in
// metrics.h, or from a callable whose mean is wanted. Copies share the state.
class Metric {
 public:
  using Function = std::function<Value(Value y_true, Value y_pred)>;

  Metric(const char* name) : Metric(std::string(name)) {}  // NOLINT(google-explicit-constructor)
  Metric(const std::string& name);                         // NOLINT(google-explicit-constructor)
  Metric(std::shared_ptr<MetricState> state)               // NOLINT(google-explicit-constructor)
      : state_(std::move(state)) {}
  template <class F>
  requires std::is_invocable_r_v<Value, F, Value, Value> Metric(
      F function, MetricOptions options = {.name = "metric"})  // NOLINT
      : Metric(of_function(Function(function), std::move(options))) {}

  const std::string& name() const { return state_->name(); }
  MetricState& state() const { return *state_; }
  const std::shared_ptr<MetricState>& ptr() const { return state_; }

  Json to_json() const;
  static Metric from_json(const Json& json);

 private:
  static Metric of_function(Function function, MetricOptions options);
  std::shared_ptr<MetricState> state_;
};

// The metric a user holds: AUC({.num_thresholds = 100}).
template <class M>
class SharedMetric : public Metric {
 public:
  using Config = typename M::ConfigType;
  SharedMetric() : SharedMetric(Config{}) {}
  SharedMetric(Config config, MetricOptions options = {})  // NOLINT(google-explicit-constructor)
      : Metric(std::make_shared<M>(std::move(config), std::move(options))) {}
};

}  // namespace keratin

#pragma GCC visibility pop
