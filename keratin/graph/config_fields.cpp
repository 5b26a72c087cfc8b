#include "keratin/graph/config_fields.h"

#include "keratin/base/text.h"

namespace keratin {

namespace config {

bool as_bool(const Json& json) {
  if (json.is_null()) return false;
  return json.is_number() ? json.as_double() != 0 : json.as_bool();
}

Json as_number(const Json& json) { return json.is_bool() ? Json(json.as_bool() ? 1 : 0) : json; }

namespace {

// An error at a key of a config: that of the reading, with who read. A custom activation or the
// like is looked for by the user, so the message has the config's name, too, where it has one.
[[noreturn]] void fail_at_key(std::string_view who, const Json& config, const FieldToRead& field,
                              const UserError& error) {
  const Json* name = field.is_part ? config.find("name") : nullptr;
  const bool named = name != nullptr && name->is_string();
  fail(who, named ? text(" '", name->as_string(), "'") : "", ": config key '", field.key,
       "': ", error.what());
}

}  // namespace

Json write_fields(std::span<const FieldToWrite> fields) {
  Json json = Json::object();
  for (const FieldToWrite& field : fields) json[field.key] = field.write(field.value);
  return json;
}

void read_fields(const Json& config, std::string_view who, const ConfigContext& context,
                 const ReadOther& read_other, std::span<const FieldToRead> fields) {
  for (const auto& [key, value] : config.as_object()) {
    bool known = false;
    for (const FieldToRead& field : fields) {
      if (field.key != key) continue;
      known = true;
      try {
        field.read(value, field.value, context);
      } catch (const UserError& error) {
        fail_at_key(who, config, field, error);
      }
    }
    if (!known && !read_other(key, value) && context.unknown_key) context.unknown_key(who, key);
  }
}

}  // namespace config

Dims Sizes::expand(size_t count, std::string_view who) const {
  if (dims_.size() == 1) return Dims(count, dims_[0]);
  require(dims_.size() == count, who, ": expected one integer or ", count, ", got ", dims_.size());
  return dims_;
}

Json Sizes::to_json() const { return single_ ? Json(dims_[0]) : config::write(dims_); }

Sizes Sizes::from_json(const Json& json) {
  if (json.is_number()) return json.as_int();
  Dims dims;
  for (const Json& item : json.as_array()) dims.push_back(item.as_int());
  return dims;
}

Json Numbers::to_json() const { return single_ ? Json(values_.at(0)) : config::write(values_); }

Numbers Numbers::from_json(const Json& json) {
  if (json.is_object()) return from_json(json.at("config").at("value"));
  if (!json.is_array()) return json.as_double();
  std::vector<double> values;
  config::read(json, values, {});
  return values;
}

Json detail::without_null_name(const Json& config) {
  Json rest = Json::object();
  for (const auto& [key, value] : config.as_object())
    if (key != "name" || !value.is_null()) rest[key] = value;
  return rest;
}

}  // namespace keratin
