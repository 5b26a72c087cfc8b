#include "keratin/io/keras2_layers.h"

#include <set>
#include <string>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"

namespace keratin::io {
namespace {

bool has_text(const Json& json, std::string_view key, std::string_view text) {
  const Json* found = json.find(key);
  return found != nullptr && *found == Json(std::string(text));
}

void collect(const Json& json, std::set<std::string>& classes) {
  if (json.is_array())
    for (const Json& item : json.as_array()) collect(item, classes);
  if (!json.is_object()) return;
  if (has_text(json, "module", "tf_keras.layers"))
    classes.insert(json.at("class_name").as_string());
  for (const auto& [key, value] : json.as_object()) collect(value, classes);
}

}  // namespace

void warn_of_keras2_layers(const Json& config) {
  std::set<std::string> classes;
  collect(config, classes);
  std::string all;
  for (const std::string& name : classes) all += text(all.empty() ? "" : ", ", name);
  if (!all.empty())
    warn(text("save: Keras 3 has no ", all,
              ", a layer of Keras 2. Keratin opens this file, but Python's Keras 3 cannot"));
}

}  // namespace keratin::io
