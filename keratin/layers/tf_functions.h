#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "keratin/graph/operation_rules.h"

// The functions of TensorFlow that TFOpLambda may name.
namespace keratin {

// A function of TensorFlow in terms of one of Keras's operations.
struct TfFunction {
  std::string_view symbol;          // behind "tf.", and behind "compat.v1."
  std::string_view operation = {};  // by its class, or
  Results (*run)(const rules::C&) = nullptr;
  std::array<std::string_view, 2> operands = {};  // arguments behind the first that are tensors
  // Arguments that are options of the operation there: their names here and there.
  std::array<std::array<std::string_view, 2>, 3> options = {};
  const char* defaults = "{}";  // options where TensorFlow does not say, or differs
};

// The function of this symbol, "math.add" or "compat.v1.squeeze"; null if there is none.
const TfFunction* find_tf_function(std::string_view symbol);
// All symbols, without "tf.".
std::vector<std::string_view> tf_function_names();

}  // namespace keratin
