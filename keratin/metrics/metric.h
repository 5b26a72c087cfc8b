#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "keratin/base/export.h"
#include "keratin/losses/loss.h"

namespace keratin {

struct MetricOptions {
  std::string name = {};            // default: Keras's name of the class
  std::optional<DType> dtype = {};  // default: Keras's for the class, f32 except for IoU
};

// A batch, as values of a program. Mean and Sum use `y_pred` only.
struct Sample {
  Value y_true;
  Value y_pred;
  std::optional<Value> weight = {};
  std::optional<Value> mask = {};  // the prediction's mask
  Dialect dialect = Dialect::keras3;
};

// A batch, as data.
struct SampleData {
  std::optional<Tensor> y_true;
  Tensor y_pred;
  std::optional<Tensor> weight = {};
  std::optional<Tensor> mask = {};
};

// Whether a metric gets better upwards or downwards, if that is known; for callbacks.
enum class Direction : uint8_t { none, up, down };

// One number or several about a model, accumulated over batches in variables. Two methods write
// programs: `update` adds a batch, `result` computes the result of all batches so far.
class KERATIN_API MetricState {
 public:
  virtual ~MetricState();
  MetricState(const MetricState&) = delete;
  MetricState& operator=(const MetricState&) = delete;

  virtual std::string_view class_name() const = 0;
  virtual Json own_config() const { return Json::object(); }
  virtual std::shared_ptr<MetricState> fresh_copy() const = 0;

  const std::string& name() const { return options_.name; }
  void set_name(std::string name);
  // The name in logs alone. Variables keep their paths: those of "mae" are of
  // "mean_absolute_error".
  void set_reported_name(std::string name) { options_.name = std::move(name); }
  DType dtype() const { return *options_.dtype; }
  const MetricOptions& options() const { return options_; }

  // Called before the first update: makes the variables whose shapes depend on the data, once.
  void build(const Shape& y_true, const Shape& y_pred);
  virtual void update(Tracer& tracer, const Sample& sample) = 0;
  virtual Value result(Tracer& tracer) = 0;
  virtual Direction direction() const { return Direction::none; }
  virtual bool lower_is_better() const { return direction() == Direction::down; }

  const std::vector<Variable>& variables() const { return variables_; }
  virtual void reset();  // sets all variables to their first values

  // `update` and `result` on data: their programs are compiled once for each set of shapes.
  void update_with(const SampleData& data, const EngineOptions& options = {});
  Tensor current(const EngineOptions& options = {});

 protected:
  MetricState(std::string_view class_name, MetricOptions options);
  virtual void make_variables(const Shape& y_true, const Shape& y_pred) {
    (void)y_true, (void)y_pred;
  }
  Variable add_variable(const std::string& name, const Shape& shape) {
    return add_variable(name, shape, dtype());
  }
  Variable add_variable(const std::string& name, const Shape& shape, DType dtype);
  // What `update` and `result` do with a variable: read it, set it, add to it.
  static Value read(Tracer& tracer, const Variable& variable);
  static void assign(Tracer& tracer, const Variable& variable, Value value);
  void add(Tracer& tracer, const Variable& variable, Value value) const;
  // An error if there was no update yet.
  void require_built() const;

  MetricOptions options_;

 private:
  struct Program;
  struct Programs;
  template <class Write>
  std::shared_ptr<Program> program(const std::string& data, const EngineOptions& options,
                                   const Write& write);

  std::string path_;  // of its variables
  std::vector<Variable> variables_;
  bool built_ = false;
  std::unique_ptr<Programs> programs_;
};

// A metric whose own config is a struct with a field list and Keras's name. The struct may have
// `default_name`, `default_dtype` and `direction` if these are not the class in snake case, f32 and
// none. `void check() const` refuses invalid configs.
template <class Derived, class Config, class Base = MetricState>
class KERATIN_API MetricOf : public Base {
 public:
  using ConfigType = Config;

  std::string_view class_name() const override { return Config::keras_name; }
  const Config& config() const { return cfg; }
  Json own_config() const override { return config::write_fields(cfg); }
  std::shared_ptr<MetricState> fresh_copy() const override {
    return std::make_shared<Derived>(cfg, this->options());
  }
  Direction direction() const override {
    if constexpr (requires { Config::direction; }) return Config::direction;
    return Base::direction();
  }

 protected:
  MetricOf(Config config, MetricOptions options)
      : Base(Config::keras_name, completed(std::move(options))), cfg(std::move(config)) {
    if constexpr (requires { cfg.check(); }) cfg.check();
  }
  Config cfg;

 private:
  static MetricOptions completed(MetricOptions options) {
    if constexpr (requires { Config::default_name; })
      if (options.name.empty()) options.name = Config::default_name;
    if constexpr (requires { Config::default_dtype; })
      if (!options.dtype) options.dtype = Config::default_dtype;
    return options;
  }
};

// total / count
class KERATIN_API MeanState : public MetricState {
 public:
  Value result(Tracer& tracer) override;

 protected:
  MeanState(std::string_view class_name, MetricOptions options);
  // Adds the values of samples; as in Keras, a mask has an effect only beside weights.
  void add_values(Tracer& tracer, Value values, std::optional<Value> weight,
                  const std::optional<Value>& mask = {});
  // Adds the values that a function computed for a batch. In Keras 2 the value of a batch is a mean
  // as in losses, and batches are weighted by their numbers of samples.
  void add_terms(Tracer& tracer, const LossTerms& terms, const Sample& sample);

 private:
  Variable total_, count_;
};

namespace detail {

// Weighted values, reduced to one per sample, and the weights, reduced likewise. `reduce` is a mean
// or a sum over axes.
using Reduce = Value (*)(Value, const Dims&, bool);
struct Samplewise {
  Value values;
  std::optional<Value> weight;
};
KERATIN_API Samplewise samplewise(Value values, std::optional<Value> weight,
                                  const std::optional<Value>& mask, DType dtype, Reduce reduce);
// Floats as they are, other numbers in `dtype`.
KERATIN_API Value as_float(Value x, DType dtype);

}  // namespace detail

// The mean of a function of each sample. A config has `Value call(Value y_true, Value y_pred)
// const`, or it is a loss: for these, lower is better, and predictions are cast to floats.
template <class Config>
class KERATIN_API MeanOf final : public MetricOf<MeanOf<Config>, Config, MeanState> {
 public:
  MeanOf(Config config, MetricOptions options)
      : MetricOf<MeanOf<Config>, Config, MeanState>(std::move(config), std::move(options)) {}
  void update(Tracer& tracer, const Sample& sample) override {
    const Value y_pred = is_loss ? detail::as_float(sample.y_pred, this->dtype()) : sample.y_pred;
    this->add_terms(tracer, this->cfg.call(sample.y_true, y_pred), sample);
  }
  Direction direction() const override {
    if constexpr (requires { Config::direction; }) return Config::direction;
    return is_loss ? Direction::down : Direction::none;
  }

 private:
  static constexpr bool is_loss =
      std::is_same_v<LossTerms, decltype(std::declval<const Config&>().call(Value(), Value()))>;
};

// A metric as users name it: by Keras's name ("accuracy", "AUC"), from one of the types in
// metrics.h, or from a callable, for its mean. Copies share the state.
class KERATIN_API Metric {
 public:
  using Function = std::function<Value(Value y_true, Value y_pred)>;
  using CustomKind = Metric;
  using CustomFunction = Function;

  Metric(const char* name) : Metric(std::string(name)) {}  // NOLINT(google-explicit-constructor)
  Metric(const std::string& name);                         // NOLINT(google-explicit-constructor)
  Metric(std::shared_ptr<MetricState> state)               // NOLINT(google-explicit-constructor)
      : state_(std::move(state)) {}
  template <class F>
  // NOLINTNEXTLINE(google-explicit-constructor)
  requires std::is_invocable_r_v<Value, F, Value, Value> Metric(
      F function, MetricOptions options = {.name = "metric"})
      : Metric(of_function(Function(function), std::move(options))) {}
  // A callable. Files know it by the name, to which LoadOptions binds it again.
  Metric(std::string name, Function function)
      : Metric(of_function(std::move(function), MetricOptions{.name = std::move(name)})) {}

  const std::string& name() const { return state_->name(); }
  MetricState& state() const { return *state_; }
  const std::shared_ptr<MetricState>& ptr() const { return state_; }
  const std::vector<Variable>& variables() const { return state_->variables(); }

  // On data: add a batch; the result of all batches; forget them.
  void update_state(const Tensor& y_true, const Tensor& y_pred,
                    const std::optional<Tensor>& sample_weight = {},
                    const std::optional<Tensor>& mask = {}) const {
    state_->update_with({y_true, y_pred, sample_weight, mask});
  }
  Tensor result() const { return state_->current(); }
  void reset_state() const { state_->reset(); }
  // Adds a batch and returns the result of all so far.
  Tensor operator()(const Tensor& y_true, const Tensor& y_pred,
                    const std::optional<Tensor>& sample_weight = {}) const {
    update_state(y_true, y_pred, sample_weight);
    return result();
  }

  // The same metric with variables of its own.
  Metric fresh_copy() const {
    if (!requested_name_.empty()) return Metric(requested_name_);
    Metric copy = *this;
    copy.state_ = state_->fresh_copy();
    return copy;
  }

  // What Keras's `serialize` returns: an envelope, or the name by which the metric was requested.
  // An error for a callable, which has neither.
  Json to_json() const;
  // The same, written to files as this JSON instead of `to_json`'s.
  Metric saved_as(Json json) const;
  static Metric from_json(const Json& json);

 private:
  static Metric of_function(Function function, MetricOptions options);

  std::shared_ptr<MetricState> state_;
  std::string requested_name_ = {};
  Json saved_ = {};
};

// The metric a user holds: AUC({.num_thresholds = 100}).
template <class M>
class KERATIN_API SharedMetric : public Metric {
 public:
  using Config = typename M::ConfigType;
  using State = M;
  SharedMetric() : SharedMetric(Config{}) {}
  SharedMetric(Config config, MetricOptions options = {})  // NOLINT(google-explicit-constructor)
      : Metric(std::make_shared<M>(std::move(config), std::move(options))) {}
};

namespace detail {

// Reads the keys of Keras's base class of metrics; false for any other key.
KERATIN_API bool read_metric_option(MetricOptions& options, const std::string& key,
                                    const Json& value);

template <class M>
requires std::derived_from<M, MetricState>
struct CustomClass<M> {
  using Config = typename M::ConfigType;
  static constexpr std::string_view name = Config::keras_name;
  static Metric from_config(const Json& config) {
    Config own;
    MetricOptions options;
    const auto read_other = [&](const std::string& key, const Json& value) {
      return read_metric_option(options, key, value);
    };
    config::read_fields(config, name, {}, read_other, own);
    return Metric(std::make_shared<M>(std::move(own), std::move(options)));
  }
};

}  // namespace detail
}  // namespace keratin
