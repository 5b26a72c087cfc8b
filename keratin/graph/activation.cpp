#include "keratin/graph/activation.h"

#include <algorithm>

#include "keratin/graph/named.h"
#include "keratin/ops/activations.h"

namespace keratin {

Activation::Activation(const std::string& name) : name_(name) {
  const auto known = ops::activation_names();
  require(std::find(known.begin(), known.end(), name) != known.end(),
          "Could not interpret activation function identifier: ", name);
  if (name_ == "swish") name_ = "silu";
  if (name_ == "hard_swish") name_ = "hard_silu";
}

Activation::Activation(std::string name, Function function)
    : name_(std::move(name)), function_(std::move(function)) {}

Value Activation::operator()(Value x) const {
  if (function_) return function_(x);
  return name_ == "linear" ? x : ops::activation(name_, x);
}

Activation Activation::from_json(const Json& json) {
  if (json.is_null()) return {};
  if (json.is_string()) return {json.as_string()};
  const Json& config = json.at("config");
  if (config.is_string()) return {config.as_string()};
  return {snake_case(json.at("class_name").as_string())};
}

}  // namespace keratin
