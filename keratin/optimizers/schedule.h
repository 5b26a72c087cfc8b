#pragma once

#include <functional>
#include <string>
#include <typeindex>

#include "keratin/base/export.h"
#include "keratin/graph/config_fields.h"

namespace keratin {

// A learning rate that depends on the number of steps. A config struct has Keras's name, a field
// list and `Value call(Value step) const`, where the step and the rate are floats. `void check()
// const` refuses invalid numbers.
template <class T>
concept ScheduleConfig = FunctionConfig<T>;

// A number, a schedule, or a function of the step.
class KERATIN_API LearningRate {
 public:
  using Function = std::function<Value(Value step)>;
  using CustomKind = LearningRate;
  using CustomFunction = Function;

  LearningRate(double rate) : rate_(rate) {}  // NOLINT(google-explicit-constructor)
  template <ScheduleConfig C>
  LearningRate(C config)  // NOLINT(google-explicit-constructor)
      : class_name_(C::keras_name),
        type_(typeid(C)),
        config_(config::write_fields(config)),
        function_([config](Value step) { return config.call(step); }) {
    if constexpr (requires { config.check(); }) config.check();
  }
  template <class F>
  // NOLINTNEXTLINE(google-explicit-constructor)
  requires std::is_invocable_r_v<Value, F, Value> LearningRate(F function)
      : LearningRate("custom_schedule", function) {}
  // A callable. Files know it by the name, to which LoadOptions binds it again.
  LearningRate(std::string name, Function function)
      : class_name_(std::move(name)), function_(std::move(function)) {}

  bool is_number() const { return function_ == nullptr; }
  double number() const { return rate_; }
  Value at(Value step) const { return function_(step); }

  Json to_json() const;
  // The same, written to files as this JSON instead of `to_json`'s.
  LearningRate saved_as(Json json) const;
  static LearningRate from_json(const Json& json);

 private:
  double rate_ = 0;
  std::string class_name_;               // or the name of a function
  std::type_index type_ = typeid(void);  // of the config; void for a function
  Json config_ = Json::object();
  Json saved_ = {};
  Function function_;
};

}  // namespace keratin
