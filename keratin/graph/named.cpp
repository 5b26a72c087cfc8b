#include "keratin/graph/named.h"
#include "keratin/base/text.h"
#include "keratin/graph/custom_objects.h"

#include <cctype>

namespace keratin {

// A capital starts a word when a lower-case letter follows it, or when it follows a lower-case
// letter or digit.
std::string snake_case(std::string_view name) {
  std::string out;
  const auto upper = [&](size_t i) {
    return std::isupper(static_cast<unsigned char>(name[i])) != 0;
  };
  const auto lower = [&](size_t i) {
    return i < name.size() && std::islower(static_cast<unsigned char>(name[i])) != 0;
  };
  const auto digit = [&](size_t i) {
    return std::isdigit(static_cast<unsigned char>(name[i])) != 0;
  };
  for (size_t i = 0; i < name.size(); ++i) {
    const bool starts = upper(i) && i > 0 && name[i - 1] != '_' &&
                        (lower(i + 1) || (lower(i - 1)) || (digit(i - 1) && lower(i + 1)));
    if (starts) out += '_';
    out += lower_case(name.substr(i, 1));
  }
  return out;
}

std::string lower_case(std::string_view name) {
  std::string out(name);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

Json function_json(const std::string& name, bool is_name_of_keras) {
  return Json::Object{{"module", "builtins"},
                      {"class_name", "function"},
                      {"config", detail::function_in_files(name, is_name_of_keras)},
                      {"registered_name", "function"}};
}

double Named::number(std::string_view key, double fallback) const {
  const Json* value = config.find(key);
  return value == nullptr || value->is_null() ? fallback : value->as_double();
}

Named Named::over(std::string name, Json defaults) const {
  Named whole{std::move(name), std::move(defaults)};
  for (const auto& [key, value] : config.as_object()) whole.config[key] = value;
  return whole;
}

Json Named::to_json(std::string_view module) const {
  return Json::Object{{"module", module},
                      {"class_name", class_name},
                      {"config", config},
                      {"registered_name", nullptr}};
}

Named Named::from_json(const Json& json) {
  if (json.is_string()) return {json.as_string()};
  Named named{json.at("class_name").as_string()};
  if (const Json* config = json.find("config"); config != nullptr && !config->is_null()) {
    constexpr size_t max_keys = 1024;  // keys are looked up one by one
    if (config->is_object() && config->size() > max_keys)
      fail(named.class_name, ": expected a config of at most ", max_keys, " keys, got ",
           config->size());
    named.config = *config;
  }
  return named;
}

}  // namespace keratin
