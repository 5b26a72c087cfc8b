#pragma once

#include <string>

#include "keratin/base/export.h"
#include "keratin/base/json.h"
#include "keratin/tensor/dtype.h"

namespace keratin {

// Keras's name of a dtype ("float32"), and back.
KERATIN_API std::string_view keras_name(DType dtype);
KERATIN_API DType dtype_from_keras(std::string_view name, std::string_view who);

// The dtypes in which a layer computes and stores its weights: "float32", "mixed_bfloat16", …
class KERATIN_API DTypePolicy {
 public:
  DTypePolicy() = default;             // float32
  DTypePolicy(std::string_view name);  // NOLINT(google-explicit-constructor)
  DTypePolicy(const char* name) : DTypePolicy(std::string_view(name)) {}  // NOLINT
  DTypePolicy(DType dtype) : DTypePolicy(keras_name(dtype)) {}            // NOLINT

  const std::string& name() const { return name_; }
  DType compute() const { return compute_; }
  DType variable() const { return variable_; }

  // Keras's JSON object; from_json also reads a name alone.
  Json to_json() const;
  static DTypePolicy from_json(const Json& json);

  bool operator==(const DTypePolicy&) const = default;

 private:
  std::string name_ = "float32";
  DType compute_ = DType::f32;
  DType variable_ = DType::f32;
};

}  // namespace keratin
