#include "keratin/losses/loss.h"

#include <array>
#include <set>

#include "keratin/graph/named.h"
#include "keratin/losses/registry.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"

namespace keratin {
namespace {

bool is_mean(const std::string& reduction) {
  return reduction == "sum_over_batch_size" || reduction == "mean";
}

}  // namespace

Loss::Loss(std::string_view class_name, Json config, Function function, LossOptions options)
    : class_name_(class_name),
      config_(std::move(config)),
      function_(std::move(function)),
      options_(std::move(options)) {
  static const std::set<std::string_view> reductions = {"sum_over_batch_size", "mean",
                                                        "mean_with_sample_weight", "sum", "none"};
  require(reductions.contains(options_.reduction),
          "Invalid value for argument `reduction`. Expected one of sum_over_batch_size, mean, "
          "mean_with_sample_weight, sum, none. Received: reduction=",
          options_.reduction);
  if (options_.name.empty()) options_.name = snake_case(class_name_);
}

Loss::Loss(const std::string& name) : Loss(loss_by_name({name})) {
  // A function's name is that by which it was asked for.
  if (name != class_name_) options_.name = name;
}

Value Loss::operator()(Value y_true, Value y_pred, const LossWeights& weights) const {
  const auto converted = [&](Value v) {
    return v.dtype() == options_.dtype ? v : ops::cast(v, options_.dtype);
  };
  const LossTerms terms = function_(converted(y_true), converted(y_pred));
  Value values = converted(terms.values);
  std::optional<Value> mask = weights.mask ? weights.mask : terms.mask;
  if (weights.mask && terms.mask) mask = *weights.mask & *terms.mask;
  const bool mean = is_mean(options_.reduction) && weights.dialect == Dialect::keras3;
  const auto weight = masked_weight(weights.sample_weight, mask, options_.dtype, mean);
  Value divisor;
  if (weight) {
    const auto [v, w] = to_same_rank(values, *weight);
    values = v * w;
    divisor = ops::sum(w);
  }
  if (options_.reduction == "none" || values.rank() == 0) return values;
  const Value sum = ops::sum(values);
  if (options_.reduction == "sum") return sum;
  if (options_.reduction == "mean_with_sample_weight" && weight) return divide_no_nan(sum, divisor);
  const int64_t count = values.shape().count();
  return count == 0 ? sum : sum / static_cast<double>(count);
}

Json Loss::to_json() const {
  if (!*this) return {};
  require(!class_name_.empty(), "loss '", name(),
          "' is a function of the program: it has no config to be saved");
  Json config = Json::Object{{"name", options_.name}, {"reduction", options_.reduction}};
  for (const auto& [key, value] : config_.as_object()) config[key] = value;
  return Named{class_name_, std::move(config)}.to_json("keras.losses");
}

Loss Loss::from_json(const Json& json) {
  return json.is_null() ? Loss() : loss_by_name(Named::from_json(json));
}

bool Loss::operator==(const Loss& other) const {
  return class_name_ == other.class_name_ && config_ == other.config_ &&
         options_.name == other.options_.name && options_.reduction == other.options_.reduction;
}

}  // namespace keratin
