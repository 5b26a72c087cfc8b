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

template <class T>
struct Known {
  T (*make)(const Json& config);
  std::type_index type;  // of an optimizer's state, or of a schedule's config
};
using Makers = std::map<std::string, Known<Optimizer>, std::less<>>;
using ScheduleMakers = std::map<std::string, Known<LearningRate>, std::less<>>;

// By the class in lower case: Keras finds optimizers whatever the case.
template <class... O>
Makers table() {
  return {{lower_case(std::string(O::Config::keras_name)),
           Known<Optimizer>{&make<O>, typeid(typename O::State)}}...};
}

template <class C>
LearningRate make_schedule(const Json& config) {
  return detail::CustomClass<C>::read(config, {});
}

template <class... C>
ScheduleMakers schedule_table() {
  return {{std::string(C::keras_name), Known<LearningRate>{&make_schedule<C>, typeid(C)}}...};
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

}  // namespace

// None of these keys changes a step.
bool detail::only_in_keras2(const std::string& key, const Json& value) {
  return (key == "decay" && value == Json(0)) || key == "jit_compile" ||
         key == "is_legacy_optimizer";
}

bool is_optimizer_name(std::string_view name) {
  return optimizer_classes().contains(lower_case(name));
}

bool is_schedule_name(std::string_view name) { return schedule_classes().contains(name); }

bool is_optimizer_class(std::string_view name, std::type_index type) {
  const auto found = optimizer_classes().find(lower_case(name));
  return found != optimizer_classes().end() && found->second.type == type;
}

bool is_schedule_class(std::string_view name, std::type_index type) {
  const auto found = schedule_classes().find(name);
  return found != schedule_classes().end() && found->second.type == type;
}

Optimizer optimizer_by_name(const Named& named) {
  const auto found = optimizer_classes().find(lower_case(named.class_name));
  require(found != optimizer_classes().end(),
          "Could not interpret optimizer identifier: ", named.class_name);
  return found->second.make(named.config);
}

LearningRate schedule_by_name(const Named& named) {
  const auto found = schedule_classes().find(named.class_name);
  require(found != schedule_classes().end(),
          "Could not interpret learning rate schedule identifier: ", named.class_name);
  return found->second.make(named.config);
}

}  // namespace keratin
