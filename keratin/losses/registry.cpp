#include "keratin/losses/registry.h"

#include <map>

#include "keratin/losses/losses.h"

namespace keratin {
namespace {

using Make = Loss (*)(const Json& config);

template <LossConfig C>
Loss make(const Json& config) {
  C loss;
  LossOptions options;
  for (const auto& [key, value] : config.as_object()) {
    if (key == "name") options.name = value.as_string();
    if (key == "reduction") options.reduction = value.is_null() ? "none" : value.as_string();
    for_each_field(loss, [&, &key = key, &value = value](std::string_view name, auto& out) {
      if (name == key) config::read(value, out, {});
    });
  }
  return {loss, options};
}

// By class; the function of the same meaning is the class in snake case.
template <class... C>
std::map<std::string, Make, std::less<>> table() {
  return {{std::string(C::keras_name), &make<C>}...};
}

const std::map<std::string_view, std::string_view> aliases = {
    {"mse", "MeanSquaredError"},
    {"MSE", "MeanSquaredError"},
    {"bce", "BinaryCrossentropy"},
};

// Chooses by the shapes it meets, as Keras does for "crossentropy".
Value any_crossentropy(Value y_true, Value y_pred) {
  const int64_t classes = y_pred.shape()[y_pred.rank() - 1];
  if (classes == 1) return losses::BinaryCrossentropy{}.call(y_true, y_pred).values;
  const bool numbers = y_true.rank() < y_pred.rank() || y_true.shape()[y_true.rank() - 1] == 1;
  if (numbers) return losses::SparseCategoricalCrossentropy{}.call(y_true, y_pred).values;
  return losses::CategoricalCrossentropy{}.call(y_true, y_pred).values;
}

}  // namespace

Loss loss_by_name(const Named& named) {
  static const auto classes =
      table<losses::BinaryCrossentropy, losses::CategoricalCrossentropy, losses::MeanSquaredError,
            losses::SparseCategoricalCrossentropy>();
  std::string_view name = named.class_name;
  if (name == "crossentropy" || name == "ce") return {any_crossentropy, {.name = named.class_name}};
  if (const auto alias = aliases.find(name); alias != aliases.end()) name = alias->second;
  auto found = classes.find(name);
  for (auto it = classes.begin(); found == classes.end() && it != classes.end(); ++it)
    if (snake_case(it->first) == name) found = it;
  require(found != classes.end(), "Could not interpret loss identifier: ", named.class_name);
  return found->second(named.config);
}

}  // namespace keratin
