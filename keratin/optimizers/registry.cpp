#include "keratin/optimizers/registry.h"

#include <map>

#include "keratin/base/text.h"
#include "keratin/optimizers/optimizers.h"

namespace keratin {
namespace {

template <class O>
Optimizer make(const Json& config) {
  typename O::Config own;
  OptimizerOptions options;
  config::read_fields(config, O::Config::keras_name, {}, detail::only_in_keras2, own, options);
  return O(std::move(own), std::move(options));
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
  return {{std::string(C::keras_name), [](const Json& config) -> LearningRate {
             return detail::CustomClass<C>::read(config, {});
           }}...};
}

const Makers& optimizer_classes() {
  static const auto classes =
      table<Adadelta, Adafactor, Adagrad, Adam, Adamax, AdamW, Ftrl, Lamb, Lion, LossScaleOptimizer,
            MultiOptimizer, Muon, Nadam, RMSprop, ScheduleFreeAdamW, SGD>();
  return classes;
}

const ScheduleMakers& schedule_classes() {
  using namespace schedules;
  static const auto classes =
      schedule_table<CosineDecay, CosineDecayRestarts, ExponentialDecay, InverseTimeDecay,
                     PiecewiseConstantDecay, PolynomialDecay>();
  return classes;
}

// The name without the package that .h5 files of Keras 2 give it.
std::string without_custom(std::string_view name) {
  return std::string(name.starts_with("Custom>") ? name.substr(7) : name);
}

}  // namespace

// None of these keys changes a step.
bool detail::only_in_keras2(const std::string& key, const Json& value) {
  return (key == "decay" && value == Json(0)) || key == "jit_compile" ||
         key == "is_legacy_optimizer";
}

bool is_optimizer_name(std::string_view name) {
  return optimizer_classes().contains(lower_case(without_custom(name)));
}

bool is_schedule_name(std::string_view name) { return schedule_classes().contains(name); }

Optimizer optimizer_by_name(const Named& named) {
  const auto found = optimizer_classes().find(lower_case(without_custom(named.class_name)));
  require(found != optimizer_classes().end(),
          "Could not interpret optimizer identifier: ", named.class_name);
  return found->second(named.config);
}

LearningRate schedule_by_name(const Named& named) {
  const auto found = schedule_classes().find(named.class_name);
  require(found != schedule_classes().end(),
          "Could not interpret learning rate schedule identifier: ", named.class_name);
  return found->second(named.config);
}

}  // namespace keratin
