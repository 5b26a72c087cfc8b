#include "keratin/optimizers/registry.h"

#include <map>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/optimizers/optimizers.h"

namespace keratin {
namespace {

// Reads a value into the field of that name of each struct; says whether there was one.
template <class... Structs>
bool take(const std::string& key, const Json& value, Structs&... structs) {
  bool known = false;
  const auto read = [&](std::string_view name, auto& out) {
    if (name != key) return;
    known = true;
    config::read(value, out, {});
  };
  (detail::for_each_field(structs, read), ...);
  return known;
}

// What Keras 2 wrote beside; none of it changes a step.
bool only_in_keras2(const std::string& key, const Json& value) {
  return (key == "decay" && value == Json(0)) || key == "jit_compile" ||
         key == "is_legacy_optimizer";
}

template <class O>
Optimizer make(const Json& config) {
  typename O::Config own;
  OptimizerOptions options;
  for (const auto& [key, value] : config.as_object())
    if (!take(key, value, own, options) && !only_in_keras2(key, value))
      warn_of_unknown_key(O::Config::keras_name, key);
  return O(std::move(own), std::move(options));
}

template <ScheduleConfig C>
LearningRate make_schedule(const Json& config) {
  C schedule;
  for (const auto& [key, value] : config.as_object())
    if (!(key == "name" && value.is_null()) && !take(key, value, schedule))
      warn_of_unknown_key(C::keras_name, key);
  return schedule;
}

// Keras looks for names without regard to case.
std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

using Makers = std::map<std::string, Optimizer (*)(const Json& config), std::less<>>;
using ScheduleMakers = std::map<std::string, LearningRate (*)(const Json& config), std::less<>>;

template <class... O>
Makers table() {
  return {{lower(std::string(O::Config::keras_name)), &make<O>}...};
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
  if (name.starts_with("Custom>")) name.erase(0, 7);  // as Keras 2 has it in .h5 files
  const auto found = classes.find(lower(name));
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
