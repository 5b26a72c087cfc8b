#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "keratin/base/export.h"
#include "keratin/base/fields.h"
#include "keratin/graph/custom_parts.h"
#include "keratin/graph/layer.h"

// Between config structs and Keras's JSON. A layer lists its fields once; reading, writing and
// copying follow from the list.
namespace keratin {

// What reading a config needs to know of the world.
struct ConfigContext {
  // Makes a layer from its envelope; wrappers and models hold layers in their configs.
  std::function<LayerPtr(const Json&)> make_layer;
  // Whose rules the models follow. Keras 3 writes down arguments that it filled in itself.
  Dialect dialect = Dialect::keras3;
  // Is it the envelope of a layer that can be made?
  std::function<bool(const Json&)> names_layer = {};
  // What names of activations, initializers, regularizers and constraints are bound to.
  const CustomParts* parts = nullptr;
  // Called with a key that the layer's config does not have.
  std::function<void(const std::string& layer, const std::string& key)> unknown_key;
};

// One number or several, as users write an axis or a size: 3 or {3, 5}. Remembers which.
class KERATIN_API Sizes {
 public:
  Sizes(int64_t one) : dims_{one}, single_(true) {}                   // NOLINT
  Sizes(int one) : Sizes(int64_t{one}) {}                             // NOLINT
  Sizes(Dims several) : dims_(std::move(several)), single_(false) {}  // NOLINT
  Sizes(std::initializer_list<int64_t> several) : Sizes(Dims(several)) {}

  const Dims& dims() const { return dims_; }
  bool single() const { return single_; }
  // As many as a layer has spatial dimensions; a single one counts for each.
  Dims expand(size_t count, std::string_view who) const;

  Json to_json() const;
  static Sizes from_json(const Json& json);
  bool operator==(const Sizes&) const = default;

 private:
  Dims dims_;
  bool single_;
};

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
// The copy of a layer: a fresh one, or the one this scope has made already.
KERATIN_API LayerPtr copy_of(const LayerPtr& layer);

// {"module", "class_name", "config", "registered_name", "build_config"}
KERATIN_API Json serialize_layer(const Layer& layer);
KERATIN_API Json shape_json(const Shape& shape);  // unknown sizes are null
KERATIN_API Shape shape_from_json(const Json& json);

namespace config {

inline Json write(bool value) { return value; }
inline Json write(int64_t value) { return value; }
inline Json write(double value) { return value; }
inline Json write(const std::string& value) { return value; }
inline Json write(const Json& value) { return value; }
inline Json write(DType value) { return keras_name(value); }
inline Json write(const LayerPtr& layer) { return layer ? serialize_layer(*layer) : Json(); }
template <class T>
requires requires(const T& t) { t.to_json(); }
Json write(const T& value) { return value.to_json(); }
template <class T>
Json write(const std::vector<T>& values) {
  Json json = Json::array();
  for (const T& value : values) json.push_back(write(value));
  return json;
}
template <class T>
Json write(const std::optional<T>& value) {
  return value ? write(*value) : Json();
}

// Python takes numbers for booleans, null for false, and booleans for numbers.
KERATIN_API bool as_bool(const Json& json);
KERATIN_API Json as_number(const Json& json);
inline void read(const Json& json, bool& out, const ConfigContext&) { out = as_bool(json); }
inline void read(const Json& json, int64_t& out, const ConfigContext&) {
  out = as_number(json).as_int();
}
inline void read(const Json& json, double& out, const ConfigContext&) {
  out = as_number(json).as_double();
}
inline void read(const Json& json, std::string& out, const ConfigContext&) {
  out = json.as_string();
}
KERATIN_API std::string quoted_name(
    const Json& config);  // " 'dense_1'", where the config has a name
inline void read(const Json& json, Json& out, const ConfigContext&) { out = json; }
inline void read(const Json& json, DType& out, const ConfigContext&) {
  out = dtype_from_keras(json.as_string(), "config");
}
inline void read(const Json& json, LayerPtr& out, const ConfigContext& context) {
  if (!json.is_null()) out = context.make_layer(json);
}
template <class T>
requires(!Part<T> && requires(const Json& j) {
  T::from_json(j);
}) void read(const Json& json, T& out, const ConfigContext&) {
  out = T::from_json(json);
}
template <class T>
void read(const Json& json, std::vector<T>& out, const ConfigContext& context) {
  out.clear();
  for (const Json& item : json.as_array()) read(item, out.emplace_back(), context);
}
template <class T>
void read(const Json& json, std::optional<T>& out, const ConfigContext& context) {
  out.reset();
  if (json.is_null()) return;
  if constexpr (!Part<T> && requires { T::from_json(json); })
    out = T::from_json(json);
  else
    read(json, out.emplace(), context);
}

// Layers inside a config are copied with it; everything else is by value.
template <class T>
T fresh(const T& value) {
  return value;
}
inline LayerPtr fresh(const LayerPtr& layer) { return layer ? copy_of(layer) : nullptr; }
inline Activation fresh(const Activation& activation) {
  return activation.layer() ? activation.with_layer(copy_of(activation.layer())) : activation;
}
inline std::vector<LayerPtr> fresh(const std::vector<LayerPtr>& layers) {
  std::vector<LayerPtr> copies;
  for (const LayerPtr& layer : layers) copies.push_back(fresh(layer));
  return copies;
}

}  // namespace config

// The keys every layer has.
KERATIN_API LayerOptions read_options(const Json& config, const ConfigContext& context = {});
KERATIN_API bool is_option(std::string_view key);

// A layer whose own config is a struct with a field list and Keras's name. Some classes of Keras
// write their activity_regularizer even where there is none: their structs say so with
// `static constexpr bool writes_activity_regularizer = true`. A key that Keras reads but does not
// write is named by `static constexpr std::string_view unwritten`. A family of layers may have a
// base class of its own between this and Layer. The arguments of `call` may be listed in the
// config, `static constexpr auto call_arguments = arguments_of_call("inputs", "mask")`, see Layer.
template <class... Name>
constexpr std::array<std::string_view, sizeof...(Name)> arguments_of_call(Name... names) {
  return {names...};
}

template <class Derived, class Config, class Base = Layer>
class KERATIN_API LayerOf : public Base {
 public:
  using ConfigType = Config;

  std::string_view class_name() const override { return Config::keras_name; }
  const Config& config() const { return cfg; }

  Json own_config() const override {
    Json json = Json::object();
    detail::for_each_field(cfg, [&](std::string_view key, const auto& value) {
      if (!unwritten(key)) json[key] = config::write(value);
    });
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
    for (const auto& [key, value] : json.as_object()) {
      bool known = is_option(key);
      detail::for_each_field(config,
                             [&, &key = key, &value = value](std::string_view name, auto& out) {
                               if (name != key) return;
                               known = true;
                               read_field(json, key, value, out, context);
                             });
      if (!known && context.unknown_key) context.unknown_key(std::string(Config::keras_name), key);
    }
    return std::make_shared<Derived>(std::move(config), read_options(json, context));
  }

 protected:
  explicit LayerOf(Config config, LayerOptions options)
      : Base(Config::keras_name, std::move(options)), cfg(std::move(config)) {
    hold_activations();
  }

  // The config for another layer: with copies of the layers in it.
  Config fresh_config() const {
    Config copy = cfg;
    detail::for_each_field(copy,
                           [](std::string_view, auto& value) { value = config::fresh(value); });
    return copy;
  }

  Config cfg;

 private:
  static constexpr bool unwritten(std::string_view key) {
    if constexpr (requires { Config::unwritten; }) return key == Config::unwritten;
    return false;
  }
  // Layers that are activations belong to the layer, unless a part of it has them.
  void hold_activations() {
    if constexpr (requires { Config::part_has_activations; }) return;
    detail::for_each_field(cfg, [&](std::string_view key, const auto& value) {
      if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Activation>)
        if (value.layer()) this->add_sublayer(std::string(key), value.layer());
    });
  }
  template <class T>
  static void read_field(const Json& json, const std::string& key, const Json& value, T& out,
                         const ConfigContext& context) {
    try {
      config::read(value, out, context);
    } catch (const UserError& error) {
      detail::fail(Config::keras_name, config::Part<T> ? config::quoted_name(json) : std::string(),
                   ": config key '", key, "': ", error.what());
    }
  }
};

}  // namespace keratin
