#pragma once

#include <string>
#include <string_view>

#include "keratin/base/error.h"
#include "keratin/base/export.h"
#include "keratin/base/json.h"
#include "keratin/base/shared_value.h"

namespace keratin {

// "GlorotUniform" to "glorot_uniform", "LSTMCell" to "lstm_cell", "Conv2D" to "conv2d".
KERATIN_API std::string snake_case(std::string_view class_name);
// "GlorotUniform" to "glorotuniform".
std::string lower_case(std::string_view name);

// Keras's envelope of a function that must be bound when the file is opened. If the function is
// registered, it has the name with the package. One that is not, but has a name of Keras's, gets
// the package "Custom", so that it is not taken for Keras's.
KERATIN_API Json function_json(const std::string& name, bool is_name_of_keras = false);

// An object that Keras describes by its class and a config: {"class_name": …, "config": …}.
struct KERATIN_API Named {
  std::string class_name;
  Json config = Json::object();

  bool operator==(const Named&) const = default;

  // The number under a key, or the fallback if there is none.
  double number(std::string_view key, double fallback) const;
  // The same with defaults for missing keys, under the class's own name.
  Named over(std::string class_name, Json defaults) const;

  // Keras's envelope; `module` is where the class lives, such as "keras.initializers".
  Json to_json(std::string_view module) const;
  // Reads an envelope, or a class or function name alone.
  static Named from_json(const Json& json);
};

}  // namespace keratin
