#include "keratin/losses/registry.h"

#include <map>

#include "keratin/base/text.h"
#include "keratin/losses/losses.h"

namespace keratin {
namespace {

struct Known {
  Loss (*make)(const Json& config);
  std::type_index type;  // of its config
};
using Table = std::map<std::string, Known, std::less<>>;

template <class... C>
Table table() {
  return {{std::string(C::keras_name), Known{&detail::CustomClass<C>::from_config, typeid(C)}}...};
}

const Table& classes() {
  using namespace losses;
  static const Table all =
      table<BinaryCrossentropy, BinaryFocalCrossentropy, CTC, CategoricalCrossentropy,
            CategoricalFocalCrossentropy, CategoricalGeneralizedCrossEntropy, CategoricalHinge,
            Circle, CosineSimilarity, Dice, Hinge, Huber, KLDivergence, LogCosh, MeanAbsoluteError,
            MeanAbsolutePercentageError, MeanSquaredError, MeanSquaredLogarithmicError, Poisson,
            SparseCategoricalCrossentropy, SquaredHinge, Tversky>();
  return all;
}

// The last two are from Keras 2.
const std::map<std::string_view, std::string_view> aliases = {
    {"bce", "BinaryCrossentropy"},
    {"BCE", "BinaryCrossentropy"},
    {"kld", "KLDivergence"},
    {"KLD", "KLDivergence"},
    {"mae", "MeanAbsoluteError"},
    {"MAE", "MeanAbsoluteError"},
    {"mse", "MeanSquaredError"},
    {"MSE", "MeanSquaredError"},
    {"mape", "MeanAbsolutePercentageError"},
    {"MAPE", "MeanAbsolutePercentageError"},
    {"msle", "MeanSquaredLogarithmicError"},
    {"MSLE", "MeanSquaredLogarithmicError"},
    {"logcosh", "LogCosh"},
    {"kullback_leibler_divergence", "KLDivergence"},
};

bool chooses_by_shape(std::string_view name) {
  const std::string lower = lower_case(name);
  return lower == "crossentropy" || lower == "ce";
}

// Chooses by the shapes, as Keras does for "crossentropy".
Value any_crossentropy(Value y_true, Value y_pred) {
  const int64_t outputs = y_pred.shape().back();
  if (outputs == 1) return losses::BinaryCrossentropy{}.call(y_true, y_pred).values;
  const bool numbers = y_true.rank() < y_pred.rank() || y_true.shape().back() == 1;
  if (numbers) return losses::SparseCategoricalCrossentropy{}.call(y_true, y_pred).values;
  return losses::CategoricalCrossentropy{}.call(y_true, y_pred).values;
}

// The function that a wrapper wraps. The wrapper's config has the function's arguments, too.
Named unwrapped(const Named& wrapper) {
  const Json* function = wrapper.config.find("fn");
  require(function != nullptr, wrapper.class_name, ": expected a config with the key 'fn', got ",
          wrapper.config);
  const Named named = Named::from_json(*function);
  return {named.class_name == "function" ? named.config.as_string() : named.class_name,
          wrapper.config};
}

}  // namespace

// In Keras 2, "auto" is the default reduction.
bool detail::read_loss_option(LossOptions& options, const std::string& key, const Json& value) {
  if (key == "name") {
    if (!value.is_null()) options.name = value.as_string();
  } else if (key == "reduction") {
    options.reduction = value.is_null() ? "none" : value.as_string();
    if (options.reduction == "auto") options.reduction = LossOptions().reduction;
  } else if (key == "dtype") {
    if (value.is_string()) options.dtype = dtype_from_keras(value.as_string(), "loss");
  } else {
    return key == "fn";
  }
  return true;
}

Loss loss_by_name(const Named& named) {
  if (named.class_name == "LossFunctionWrapper") return loss_by_name(unwrapped(named));
  if (chooses_by_shape(named.class_name)) return {any_crossentropy, {.name = named.class_name}};
  const auto found = find_class(classes(), aliases, named.class_name);
  require(found != classes().end(), "Could not interpret loss identifier: ", named.class_name);
  return found->second.make(named.config);
}

bool is_loss_name(std::string_view name) {
  return chooses_by_shape(name) || find_class(classes(), aliases, name) != classes().end();
}

bool is_loss_class(std::string_view name, std::type_index type) {
  const auto found = find_class(classes(), aliases, name);
  return found != classes().end() && found->second.type == type;
}

}  // namespace keratin
