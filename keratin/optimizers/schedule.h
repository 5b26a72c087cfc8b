#pragma once

#include <functional>
#include <memory>
#include <variant>

#include "keratin/base/export.h"
#include "keratin/graph/config_fields.h"

namespace keratin {

// A learning rate that depends on the number of steps. A config struct has Keras's name, a field
// list and `Value call(Value step) const`, where the step and the rate are floats. `void check()
// const` refuses invalid numbers.
template <class T>
concept ScheduleConfig = HasFields<T> && requires(const T& schedule, Value v) {
  { T::keras_name } -> std::convertible_to<std::string_view>;
  { schedule.call(v) } -> std::same_as<Value>;
};

// A number, a schedule, or a function of the step.
class KERATIN_API LearningRate {
 public:
  using Function = std::function<Value(Value step)>;

  LearningRate(double rate) : rate_(rate) {}  // NOLINT(google-explicit-constructor)
  template <ScheduleConfig C>
  LearningRate(C config)  // NOLINT(google-explicit-constructor)
      : class_name_(C::keras_name),
        config_(config::write_fields(config)),
        function_([config](Value step) { return config.call(step); }) {
    if constexpr (requires { config.check(); }) config.check();
  }
  template <class F>
  // NOLINTNEXTLINE(google-explicit-constructor)
  requires std::is_invocable_r_v<Value, F, Value> LearningRate(F function) : function_(function) {}

  bool is_number() const { return function_ == nullptr; }
  double number() const { return rate_; }
  Value at(Value step) const { return function_(step); }

  Json to_json() const;
  static LearningRate from_json(const Json& json);

 private:
  double rate_ = 0;
  std::string class_name_;
  Json config_ = Json::object();
  Function function_;
};

}  // namespace keratin
