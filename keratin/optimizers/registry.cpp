#include "keratin/optimizers/registry.h"

#include <map>

#include "keratin/optimizers/optimizers.h"

namespace keratin {
namespace {

using Make = Optimizer (*)(const Json& config);

template <class O>
Optimizer make(const Json& config) {
  typename O::Config own;
  OptimizerOptions options;
  for (const auto& [key, value] : config.as_object()) {
    const auto take = [&, &key = key, &value = value](std::string_view name, auto& out) {
      if (name == key) config::read(value, out, {});
    };
    for_each_field(own, take);
    for_each_field(options, take);
  }
  return O(std::move(own), std::move(options));
}

// Keras looks for names without regard to case.
std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

template <class... O>
std::map<std::string, Make, std::less<>> table() {
  return {{lower(std::string(O::Config::keras_name)), &make<O>}...};
}

}  // namespace

Optimizer optimizer_by_name(const Named& named) {
  static const auto classes = table<SGD, Adam>();
  const auto found = classes.find(lower(named.class_name));
  require(found != classes.end(), "Could not interpret optimizer identifier: ", named.class_name);
  return found->second(named.config);
}

LearningRate schedule_by_name(const Named& named) {
  fail("Could not interpret learning rate schedule identifier: ", named.class_name);
}

}  // namespace keratin
