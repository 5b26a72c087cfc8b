#pragma once

#include <array>

#include "keratin/graph/config_fields.h"

// Layers whose config is a struct: they list its fields once; reading, writing and copying follow.
namespace keratin {

// While it lives, copies of layers are remembered: a layer held in several places is copied once,
// so what was tied stays tied. Scopes nest; the outermost one remembers.
class KERATIN_API CopyScope {
 public:
  CopyScope();
  ~CopyScope();
  CopyScope(const CopyScope&) = delete;
  CopyScope& operator=(const CopyScope&) = delete;

 private:
  bool outermost_;
};

namespace detail {

KERATIN_API Json shape_json(const Shape& shape);  // unknown sizes are null
KERATIN_API Shape shape_from_json(const Json& json);

// The keys every layer has.
KERATIN_API LayerOptions read_options(const Json& config, const ConfigContext& context = {});
KERATIN_API bool is_option(std::string_view key);

}  // namespace detail

// A layer whose own config is a struct with a field list and Keras's name. Some classes of Keras
// write their activity_regularizer even where there is none: their structs have `static constexpr
// bool writes_activity_regularizer = true`. A family of layers may have a base class of its own
// between this and Layer. The arguments of `call` may be listed in the config, `static constexpr
// auto call_arguments = arguments_of_call("inputs", "mask")`, see Layer.
template <class... Name>
constexpr std::array<std::string_view, sizeof...(Name)> arguments_of_call(Name... names) {
  return {names...};
}

namespace detail {

template <class T>
requires std::derived_from<T, Layer>
struct CustomClass<T> {
  static constexpr std::string_view name_of() {
    if constexpr (requires { T::ConfigType::keras_name; })
      return T::ConfigType::keras_name;
    else
      return T::keras_name;
  }
  static constexpr std::string_view name = name_of();
  static LayerPtr from_config(const Json& config, const ConfigContext& context) {
    return T::from_config(config, context);
  }
};

}  // namespace detail

template <class Derived, class Config, class Base = Layer>
class KERATIN_API LayerOf : public Base {
 public:
  using ConfigType = Config;

  std::string_view class_name() const override { return Config::keras_name; }
  const Config& config() const { return cfg; }

  Json own_config() const override {
    Json json = config::write_fields(cfg);
    if constexpr (requires { Config::writes_activity_regularizer; })
      json["activity_regularizer"] = this->options_.activity_regularizer.to_json();
    return json;
  }

  std::vector<std::string_view> call_arguments() const override {
    if constexpr (requires { Config::call_arguments; })
      return {Config::call_arguments.begin(), Config::call_arguments.end()};
    else
      return Base::call_arguments();
  }

  LayerPtr fresh_copy() const override {
    return std::make_shared<Derived>(fresh_config(), this->options());
  }

  static LayerPtr from_config(const Json& json, const ConfigContext& context) {
    Config config;
    const auto is_known = [](std::string_view key, const Json&) { return detail::is_option(key); };
    config::read_fields(json, Config::keras_name, context, is_known, config);
    return std::make_shared<Derived>(std::move(config), detail::read_options(json, context));
  }

 protected:
  explicit LayerOf(Config config, LayerOptions options)
      : Base(Config::keras_name, std::move(options)), cfg(std::move(config)) {
    hold_activations();
  }

  // The config for another layer: with copies of the layers in it.
  Config fresh_config() const { return config::fresh_fields(cfg); }

  Config cfg;

 private:
  // Layers that are activations are sublayers, unless the layer's cell has them.
  void hold_activations() {
    if constexpr (requires { Config::cell_has_activations; }) return;
    detail::for_each_field(cfg, [&](std::string_view key, const auto& value) {
      if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Activation>)
        if (value.layer()) this->add_sublayer(std::string(key), value.layer());
    });
  }
};

}  // namespace keratin
