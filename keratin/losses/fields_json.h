#pragma once

#include "keratin/base/export.h"
#include "keratin/graph/config.h"

// Between the structs of losses and metrics and Keras's JSON.
namespace keratin {

// One number or several, as users write a threshold: 0.5 or {0.2, 0.5}. Remembers which.
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

// A struct's fields by Keras's keys. Keras leaves some out of its configs, and loses them:
// `bool writes(key) const` of the struct leaves them out only where nothing is lost.
template <HasFields C>
Json write_fields(const C& config) {
  Json json = Json::object();
  detail::for_each_field(config, [&](std::string_view key, const auto& value) {
    if constexpr (requires { config.writes(key); })
      if (!config.writes(key)) return;
    json[key] = config::write(value);
  });
  return json;
}

// Reads one key; says whether the struct has it.
template <HasFields C>
bool read_field(C& config, const std::string& key, const Json& value, std::string_view who) {
  bool known = false;
  detail::for_each_field(config, [&](std::string_view name, auto& out) {
    if (name != key) return;
    known = true;
    try {
      config::read(value, out, {});
    } catch (const UserError& error) {
      detail::fail(who, ": config key '", key, "': ", error.what());
    }
  });
  return known;
}

}  // namespace keratin
