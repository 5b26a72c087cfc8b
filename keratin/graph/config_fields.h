#pragma once

#include <array>
#include <concepts>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "keratin/base/export.h"
#include "keratin/base/fields.h"
#include "keratin/base/warning.h"
#include "keratin/graph/custom_objects.h"
#include "keratin/graph/layer.h"

// Between structs with field lists and Keras's JSON: layers, losses, metrics, optimizers and
// schedules list the fields of their configs once, and reading, writing and copying follow.
namespace keratin {

// What reading a config depends on beside the config.
struct ConfigContext {
  // Makes a layer from its envelope; wrappers and models hold layers in their configs.
  std::function<LayerPtr(const Json&)> make_layer;
  // Whose rules the models follow. Keras 3 writes arguments that it filled in itself.
  Dialect dialect = Dialect::keras3;
  // True for the envelope of a layer that can be made.
  std::function<bool(const Json&)> names_layer = {};
  // Called with a class and a key that its config does not have.
  std::function<void(std::string_view who, std::string_view key)> unknown_key =
      detail::warn_of_unknown_key;
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
  // One for each of `count` axes; a single one counts for each.
  Dims expand(size_t count, std::string_view who) const;

  Json to_json() const;
  static Sizes from_json(const Json& json);
  bool operator==(const Sizes&) const = default;

 private:
  Dims dims_;
  bool single_;
};

// One real number or several, as users write a threshold: 0.5 or {0.2, 0.5}. Remembers which.
class KERATIN_API Numbers {
 public:
  Numbers(double one) : values_{one}, single_(true) {}                                   // NOLINT
  Numbers(std::vector<double> several) : values_(std::move(several)), single_(false) {}  // NOLINT
  Numbers(std::initializer_list<double> several) : Numbers(std::vector<double>(several)) {}

  const std::vector<double>& values() const { return values_; }
  bool single() const { return single_; }

  // Reads what Keras writes for an array, too: {"class_name": "__tensor__", "config": …}.
  Json to_json() const;
  static Numbers from_json(const Json& json);
  bool operator==(const Numbers&) const = default;

 private:
  std::vector<double> values_;
  bool single_;
};

// {"module", "class_name", "config", "registered_name", "build_config"}
KERATIN_API Json serialize_layer(const Layer& layer);
namespace detail {

// The names under which files have the class of a layer: those of its file, those that are
// registered, or its own.
KERATIN_API SavedClass saved_class_of(const Layer& layer);

// While it lives, its thread writes layers that are the user's, but have a name of Keras's, as
// "Custom>Name".
class KERATIN_API OwnNamesScope {
 public:
  explicit OwnNamesScope(bool (*has_name_of_keras)(const Layer& layer));
  ~OwnNamesScope();
  OwnNamesScope(const OwnNamesScope&) = delete;
  OwnNamesScope& operator=(const OwnNamesScope&) = delete;
};

// The copy of a layer: a new one, or the one that the outermost CopyScope has made already.
KERATIN_API LayerPtr copy_of(const LayerPtr& layer);

}  // namespace detail

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

// Layers and optimizers inside a config are copied with it; everything else is by value.
template <class T>
T fresh(const T& value) {
  if constexpr (requires { value.fresh_copy(); })
    return value.fresh_copy();
  else
    return value;
}
inline LayerPtr fresh(const LayerPtr& layer) { return layer ? detail::copy_of(layer) : nullptr; }
inline Activation fresh(const Activation& activation) {
  return activation.layer() ? activation.with_layer(detail::copy_of(activation.layer()))
                            : activation;
}
inline std::vector<LayerPtr> fresh(const std::vector<LayerPtr>& layers) {
  std::vector<LayerPtr> copies;
  for (const LayerPtr& layer : layers) copies.push_back(fresh(layer));
  return copies;
}
template <class T>
concept CopiedWithItsConfig = requires(const T& t) {
  t.fresh_copy();
}
|| std::same_as<T, LayerPtr> || std::same_as<T, Activation> ||
    std::same_as<T, std::vector<LayerPtr>>;
template <HasFields C>
C fresh_fields(C copy) {
  detail::for_each_field(copy, []<class T>(std::string_view, T& value) {
    if constexpr (CopiedWithItsConfig<T>) value = fresh(value);
  });
  return copy;
}

// Copies the fields of a shared list from one struct to another that has them too.
template <template <class> class List, class From, class To>
void copy_fields(const From& from, To& to);
template <class From, class To, class FromField, class ToField>
void copy_field(const From& from, To& to, const FromField& theirs, const ToField& own) {
  to.*(own.member) = from.*(theirs.member);
}
template <class From, class To, template <class> class List>
void copy_field(const From& from, To& to, const SharedFields<List>&, const SharedFields<List>&) {
  copy_fields<List>(from, to);
}
template <template <class> class List, class From, class To>
void copy_fields(const From& from, To& to) {
  List<From>::fields([&](const auto&... theirs) {
    List<To>::fields([&](const auto&... own) { (copy_field(from, to, theirs, own), ...); });
  });
}

// A field of some struct, for code that is compiled once for all structs: its key, its value, and
// the function for values of its type.
struct FieldToWrite {
  using Write = Json (*)(const void* value);
  std::string_view key;
  const void* value;
  Write write;
};
struct FieldToRead {
  using Read = void (*)(const Json& json, void* value, const ConfigContext& context);
  std::string_view key;
  void* value;
  bool is_part;
  Read read;
};
template <class T>
Json write_value(const void* value) {
  return write(*static_cast<const T*>(value));
}
template <class T>
void read_value(const Json& json, void* value, const ConfigContext& context) {
  read(json, *static_cast<T*>(value), context);
}
template <HasFields C>
consteval size_t count_fields() {
  size_t count = 0;
  detail::for_each_listed<C>([&](const auto&) { ++count; });
  return count;
}

KERATIN_API Json write_fields(std::span<const FieldToWrite> fields);

// The fields by Keras's keys, in the order of the list, but for those that are not written.
template <HasFields C>
Json write_fields(const C& object) {
  std::array<FieldToWrite, count_fields<C>()> fields;
  size_t count = 0;
  detail::for_each_listed<C>([&]<class Field>(const Field& field) {
    if constexpr (Field::written == Written::never) return;
    const auto& value = object.*(field.member);
    if constexpr (Field::written == Written::if_changed)
      if (value == C().*(field.member)) return;
    fields[count++] = {field.name, &value, write_value<std::remove_cvref_t<decltype(value)>>};
  });
  return write_fields(std::span(fields.data(), count));
}

// Reads the value of a key that no struct has, and returns true; or returns false.
using ReadOther = std::function<bool(const std::string& key, const Json& value)>;

KERATIN_API void read_fields(const Json& config, std::string_view who, const ConfigContext& context,
                             const ReadOther& read_other, std::span<const FieldToRead> fields);

// Reads a config into structs: each value into the fields of that key. A key that neither a struct
// nor `read_other` knows is reported to `context.unknown_key`.
template <HasFields... Structs>
void read_fields(const Json& config, std::string_view who, const ConfigContext& context,
                 const ReadOther& read_other, Structs&... structs) {
  std::array<FieldToRead, (count_fields<Structs>() + ...)> fields;
  size_t count = 0;
  const auto add = [&]<class T>(std::string_view key, T& value) {
    fields[count++] = {key, &value, Part<T>, read_value<T>};
  };
  (detail::for_each_field(structs, add), ...);
  read_fields(config, who, context, read_other, std::span<const FieldToRead>(fields));
}

}  // namespace config

namespace detail {

// Keras writes null for the name of an object that was given none.
KERATIN_API Json without_null_name(const Json& config);

template <class C>
Json checked_config(const C& config) {
  if constexpr (requires { config.check(); }) config.check();
  return config::write_fields(config);
}

template <class C>
requires(FunctionConfig<C> || InitializerConfig<C>) struct CustomClass<C> {
  static constexpr std::string_view name = C::keras_name;
  static C read(const Json& json, const ConfigContext& context) {
    C config;
    const auto no_other = [](const std::string&, const Json&) { return false; };
    config::read_fields(without_null_name(json), name, context, no_other, config);
    return config;
  }
  static auto function(const Json& json, const ConfigContext& context) {
    return configured(read(json, context)).function;
  }
};

}  // namespace detail
}  // namespace keratin
