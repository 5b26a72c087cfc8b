#include "keratin/optimizers/registry.h"

#include <map>

#include "keratin/base/text.h"
#include "keratin/optimizers/optimizers.h"

namespace keratin {
namespace {

// Keys that Keras 2 wrote in addition; none of them changes a step.
bool only_in_keras2(const std::string& key, const Json& value) {
  return (key == "decay" && value == Json(0)) || key == "jit_compile" ||
         key == "is_legacy_optimizer";
}

template <class O>
Optimizer make(const Json& config) {
  typename O::Config own;
  OptimizerOptions options;
  config::read_fields(config, O::Config::keras_name, {}, only_in_keras2, own, options);
  return O(std::move(own), std::move(options));
}

// Keras writes null for the name of a schedule that was given none.
Json without_null_name(const Json& config) {
  Json rest = Json::object();
  for (const auto& [key, value] : config.as_object())
    if (key != "name" || !value.is_null()) rest[key] = value;
  return rest;
}

template <ScheduleConfig C>
LearningRate make_schedule(const Json& config) {
  C schedule;
  const auto no_other = [](const std::string&, const Json&) { return false; };
  config::read_fields(without_null_name(config), C::keras_name, {}, no_other, schedule);
  return schedule;
}

using Makers = std::map<std::string, Optimizer (*)(const Json& config), std::less<>>;
using ScheduleMakers = std::map<std::string, LearningRate (*)(const Json& config), std::less<>>;

// By the class in lower case: Keras finds optimizers whatever the case.
template <class... O>
Makers table() {
  return {{lower_case(std::string(O::Config::keras_name)), &make<O>}...};
}

template <class... C>
ScheduleMakers schedule_table() {
  return {{std::string(C::keras_name), &make_schedule<C>}...};
}

}  // namespace

Optimizer optimizer_by_name(const Named& named) {
  static const auto classes =
      table<Adadelta, Adafactor, Adagrad, Adam, Adamax, AdamW, Ftrl, Lamb, Lion, LossScaleOptimizer,
            MultiOptimizer, Muon, Nadam, RMSprop, ScheduleFreeAdamW, SGD>();
  std::string name = named.class_name;
  if (name.starts_with("Custom>")) name.erase(0, 7);  // in .h5 files of Keras 2
  const auto found = classes.find(lower_case(name));
  require(found != classes.end(), "Could not interpret optimizer identifier: ", named.class_name);
  return found->second(named.config);
}

LearningRate schedule_by_name(const Named& named) {
  using namespace schedules;
  static const auto classes =
      schedule_table<CosineDecay, CosineDecayRestarts, ExponentialDecay, InverseTimeDecay,
                     PiecewiseConstantDecay, PolynomialDecay>();
  const auto found = classes.find(named.class_name);
  require(found != classes.end(),
          "Could not interpret learning rate schedule identifier: ", named.class_name);
  return found->second(named.config);
}

}  // namespace keratin
