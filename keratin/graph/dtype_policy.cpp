#include "keratin/graph/dtype_policy.h"
#include "keratin/base/text.h"

namespace keratin {
namespace {

constexpr std::array<std::string_view, 10> keras_names = {
    "float64", "float32", "float16", "bfloat16", "int8",
    "uint8",   "int32",   "int64",   "bool",     "string"};

}  // namespace

std::string_view keras_name(DType dtype) { return keras_names[static_cast<size_t>(dtype)]; }

DType dtype_from_keras(std::string_view name, std::string_view who) {
  for (const DType dtype : all_dtypes)
    if (keras_name(dtype) == name) return dtype;
  if (name == keras_name(DType::string)) return DType::string;
  fail(who, ": expected a dtype such as float32, int32 or bool, got '", name, "'");
}

DTypePolicy::DTypePolicy(std::string_view name) : name_(name) {
  if (name.starts_with("mixed_")) {
    compute_ = dtype_from_keras(name.substr(6), "DTypePolicy");
    require(compute_ == DType::f16 || compute_ == DType::bf16,
            "DTypePolicy: expected mixed_float16 or mixed_bfloat16, got '", name, "'");
    variable_ = DType::f32;
  } else {
    compute_ = variable_ = dtype_from_keras(name, "DTypePolicy");
  }
}

Json DTypePolicy::to_json() const {
  return Json::Object{{"module", "keras"},
                      {"class_name", "DTypePolicy"},
                      {"config", Json::Object{{"name", name_}}},
                      {"registered_name", nullptr}};
}

DTypePolicy DTypePolicy::from_json(const Json& json) {
  if (json.is_string()) return {std::string_view(json.as_string())};
  const std::string& kind = json.at("class_name").as_string();
  // Keras 2 called it Policy; quantized policies keep the arithmetic of their source.
  const Json& config = json.at("config");
  if (kind == "DTypePolicy" || kind == "Policy" || kind == "FloatDTypePolicy")
    return {std::string_view(config.at("name").as_string())};
  fail("DTypePolicy: expected the class DTypePolicy, got '", kind, "'");
}

}  // namespace keratin
