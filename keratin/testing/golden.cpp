#include "keratin/testing/golden.h"

#include <cctype>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include "keratin/base/text.h"
#include "keratin/graph/dtype_policy.h"

namespace keratin::testing {
namespace {

std::vector<uint8_t> from_base64(std::string_view text) {
  static constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<uint8_t> bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = (bits << 6) | static_cast<uint32_t>(digits.find(c));
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes.push_back(static_cast<uint8_t>(bits >> count));
    }
  }
  return bytes;
}

bool is_tensor(const Json& json) {
  return json.is_object() && json.contains("dtype") && json.contains("shape") &&
         json.contains("data");
}

}  // namespace

std::filesystem::path golden_path(const std::string& path) {
  return std::string(KERATIN_SOURCE_DIR) + "/tests/golden/" + path;
}

std::vector<std::string> golden_classes(const std::string& folder) {
  std::set<std::string> classes;
  for (const auto& file : std::filesystem::directory_iterator(golden_path(folder)))
    if (const std::string name = file.path().stem(); std::isupper(name[0]) != 0)
      classes.insert(name);
  return {classes.begin(), classes.end()};
}

std::vector<std::string> golden_classes(const Json& golden, std::string_view key) {
  std::set<std::string> classes;
  for (const auto& [name, entry] : golden.as_object())
    if (entry.is_object() && entry.contains(key)) classes.insert(entry.at("name").as_string());
  return {classes.begin(), classes.end()};
}

Json read_golden(const std::string& path) {
  std::ifstream file(golden_path(path));
  require(file.good(), "golden file ", path, " cannot be read");
  std::stringstream text;
  text << file.rdbuf();
  return Json::parse(text.str());
}

Tensor golden_tensor(const Json& json) {
  Dims dims;
  for (const Json& size : json.at("shape").as_array()) dims.push_back(size.as_int());
  Tensor tensor(dtype_from_keras(json.at("dtype").as_string(), "golden"), dims);
  if (tensor.dtype() == DType::string) {
    std::vector<std::string> texts;
    for (const Json& text : json.at("data").as_array()) texts.push_back(text.as_string());
    return {texts, dims};
  }
  const std::vector<uint8_t> bytes = from_base64(json.at("data").as_string());
  ensure(bytes.size() == tensor.bytes(), "golden tensor: ", tensor.bytes(), " bytes expected, got ",
         bytes.size());
  if (!bytes.empty()) std::memcpy(tensor.raw(), bytes.data(), bytes.size());
  return tensor;
}

Tree<Tensor> golden_structure(const Json& json) {
  if (is_tensor(json)) return golden_tensor(json);
  if (json.is_array()) {
    Tree<Tensor>::List items;
    for (const Json& item : json.as_array()) items.push_back(golden_structure(item));
    return items;
  }
  if (!json.is_object()) return json;
  Tree<Tensor>::Dict items;
  for (const auto& [key, item] : json.as_object()) items.emplace(key, golden_structure(item));
  return items;
}

Json without_null_arguments(const Json& layers) {
  Json kept = Json::array();
  for (Json layer : layers.as_array()) {
    Json nodes = Json::array();
    for (Json node : layer.at("inbound_nodes").as_array()) {
      Json kwargs = Json::object();
      for (const auto& [key, value] : node.at("kwargs").as_object())
        if (!value.is_null()) kwargs[key] = value;
      node["kwargs"] = kwargs;
      nodes.push_back(node);
    }
    layer["inbound_nodes"] = nodes;
    kept.push_back(layer);
  }
  return kept;
}

}  // namespace keratin::testing
