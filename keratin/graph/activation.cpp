#include "keratin/graph/activation.h"

#include <unordered_map>

#include "keratin/graph/keras2_activation.h"
#include "keratin/graph/named.h"
#include "keratin/ops/activations.h"
#include "keratin/ops/ops.h"

namespace keratin {

Activation::Activation(const std::string& name) {
  // Large models are full of the same few.
  static const auto known = [] {
    std::unordered_map<std::string, SharedValue<Named>> all;
    for (const std::string_view each : ops::activation_names())
      all[std::string(each)] = Named{std::string(each)};
    all.at("swish") = all.at("silu");
    all.at("hard_swish") = all.at("hard_silu");
    const std::string old(keras2_hard_sigmoid);
    all[old] = Named{old, [](Value x) { return ops::clip(x * 0.2 + 0.5, 0, 1); }};
    return all;
  }();
  const auto found = known.find(name);
  require(found != known.end(), "Could not interpret activation function identifier: ", name);
  named_ = found->second;
}

Activation::Activation(std::string name, Function function)
    : named_(Named{std::move(name), std::move(function)}) {}

Value Activation::operator()(Value x) const {
  if (named_->function) return named_->function(x);
  return name() == "linear" ? x : ops::activation(name(), x);
}

Activation Activation::from_json(const Json& json) {
  if (json.is_null()) return {};
  if (json.is_string()) return {json.as_string()};
  if (is_keras2_hard_sigmoid(json)) return {std::string(keras2_hard_sigmoid)};
  const Json& config = json.at("config");
  if (config.is_string()) return {config.as_string()};
  return {snake_case(json.at("class_name").as_string())};
}

}  // namespace keratin
