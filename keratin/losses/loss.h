#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <typeindex>

#include "keratin/base/export.h"
#include "keratin/engine/evaluate.h"
#include "keratin/graph/config_fields.h"

namespace keratin {

// The options of every loss.
struct LossOptions {
  std::string name = {};  // default: Keras's name of the class
  // "sum_over_batch_size" or "mean", "mean_with_sample_weight", "sum", "none".
  std::string reduction = "sum_over_batch_size";
  DType dtype = DType::f32;  // in which the loss is computed
};

// One loss per sample, and a mask if the loss itself leaves samples out.
struct LossTerms {
  LossTerms(Value each) : values(each) {}  // NOLINT
  LossTerms(Value each, Value valid) : values(each), mask(valid) {}

  Value values;
  std::optional<Value> mask = {};
};

// A loss is a struct with Keras's name, a field list and `LossTerms call(Value, Value) const`.
// `default_name` is Keras's name of an instance if that is not the class in snake case. `void
// check() const` refuses invalid configs.
template <class T>
concept LossConfig = HasFields<T> && requires(const T& loss, Value v) {
  { T::keras_name } -> std::convertible_to<std::string_view>;
  { loss.call(v, v) } -> std::convertible_to<LossTerms>;
};

// How a loss is weighted in one call.
struct LossWeights {
  std::optional<Value> sample_weight = {};
  std::optional<Value> mask = {};  // the prediction's mask
  Dialect dialect = Dialect::keras3;
};

// How far predictions are from the truth: by Keras's name ("mse", "BinaryCrossentropy"), from one
// of the structs in losses.h, or from any callable. A default-constructed Loss is no loss.
class KERATIN_API Loss {
 public:
  using Function = std::function<LossTerms(Value y_true, Value y_pred)>;
  using CustomKind = Loss;
  using CustomFunction = std::function<Value(Value y_true, Value y_pred)>;

  Loss() : type_(typeid(void)) {}
  Loss(const char* name) : Loss(std::string(name)) {}  // NOLINT(google-explicit-constructor)
  Loss(const std::string& name);                       // NOLINT(google-explicit-constructor)
  template <LossConfig C>
  Loss(C config, LossOptions options = {})  // NOLINT(google-explicit-constructor)
      : Loss(
            C::keras_name, config::write_fields(config),
            [config](Value t, Value p) -> LossTerms { return config.call(t, p); },
            named(std::move(options), config), typeid(C)) {}
  template <class F>
  // NOLINTNEXTLINE(google-explicit-constructor)
  requires std::is_invocable_r_v<Value, F, Value, Value> Loss(
      F function, LossOptions options = {.name = "loss"})
      : Loss(
            "", Json::object(),
            [function](Value t, Value p) -> LossTerms { return function(t, p); },
            std::move(options)) {}
  // A callable. Files know it by the name, to which LoadOptions binds it again.
  Loss(std::string name, CustomFunction function)
      : Loss(std::move(function), LossOptions{.name = std::move(name)}) {}

  explicit operator bool() const { return function_ != nullptr; }
  const std::string& name() const { return options_.name; }
  const LossOptions& options() const { return options_; }
  const std::string& class_name() const { return class_name_; }

  // The loss of each sample, as Keras's function of that name computes it.
  LossTerms each(Value y_true, Value y_pred) const { return function_(y_true, y_pred); }
  Tensor each(const Tensor& y_true, const Tensor& y_pred) const;
  // The weighted and reduced loss.
  Value operator()(Value y_true, Value y_pred, const LossWeights& weights = {}) const;
  // The same for data: compiled and run once.
  Tensor operator()(const Tensor& y_true, const Tensor& y_pred,
                    const std::optional<Tensor>& sample_weight = {},
                    const std::optional<Tensor>& mask = {}) const;

  // What Keras's `serialize` returns: an envelope, or the name by which the loss was requested. An
  // error for a callable, which has neither.
  Json to_json() const;
  // The same, written to files as this JSON instead of `to_json`'s.
  Loss saved_as(Json json) const;
  static Loss from_json(const Json& json);
  bool operator==(const Loss& other) const;

 private:
  Loss(std::string_view class_name, Json config, Function function, LossOptions options,
       std::type_index type = typeid(void));
  template <LossConfig C>
  static LossOptions named(LossOptions options, const C& config) {
    if constexpr (requires { config.check(); }) config.check();
    if constexpr (requires { C::default_name; })
      if (options.name.empty()) options.name = C::default_name;
    return options;
  }

  std::string class_name_;
  std::type_index type_;  // of the config
  Json config_;
  Json saved_ = {};
  Function function_;
  LossOptions options_;
  std::string requested_name_;  // "" unless the loss was made by a name
};

namespace detail {

// Reads the keys of Keras's base class of losses; false for any other key.
KERATIN_API bool read_loss_option(LossOptions& options, const std::string& key, const Json& value);

template <LossConfig C>
struct CustomClass<C> {
  static constexpr std::string_view name = C::keras_name;
  static Loss from_config(const Json& config) {
    C loss;
    LossOptions options;
    const auto read_other = [&](const std::string& key, const Json& value) {
      return read_loss_option(options, key, value);
    };
    config::read_fields(config, C::keras_name, {}, read_other, loss);
    return {loss, options};
  }
};

}  // namespace detail
}  // namespace keratin
