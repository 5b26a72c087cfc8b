#include "keratin/losses/fields_json.h"

namespace keratin {

Json Numbers::to_json() const { return single_ ? Json(values_.at(0)) : config::write(values_); }

Numbers Numbers::from_json(const Json& json) {
  if (json.is_object()) return from_json(json.at("config").at("value"));
  if (!json.is_array()) return json.as_double();
  std::vector<double> values;
  config::read(json, values, {});
  return values;
}

}  // namespace keratin
