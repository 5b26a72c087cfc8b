#include "keratin/losses/loss.h"

#include <set>

#include "keratin/base/text.h"
#include "keratin/graph/named.h"
#include "keratin/losses/registry.h"
#include "keratin/losses/weighting.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"

namespace keratin {
namespace {

Value reduce_as_keras3(Value values, const std::optional<Value>& sample_weight,
                       const std::optional<Value>& mask, std::string_view reduction) {
  const auto weight = masked_weight(sample_weight, mask, values.dtype(), is_mean(reduction));
  Value divisor;
  if (weight) {
    const auto [v, w] = to_same_rank(values, *weight);
    values = v * w;
    divisor = ops::sum(w);
  }
  if (reduction == "none" || values.rank() == 0) return values;
  const Value sum = ops::sum(values);
  if (reduction == "sum") return sum;
  if (reduction == "mean_with_sample_weight" && weight) return divide_no_nan(sum, divisor);
  return mean_of_all(sum, values.shape());
}

}  // namespace

Loss::Loss(std::string_view class_name, Json config, Function function, LossOptions options,
           std::type_index type)
    : class_name_(class_name),
      type_(type),
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
  // A loss that is requested by a function's name has that name.
  if (name != class_name_) options_.name = name;
  requested_name_ = name;
}

Value Loss::operator()(Value y_true, Value y_pred, const LossWeights& weights) const {
  std::tie(y_true, y_pred) =
      to_same_rank(cast_to(y_true, options_.dtype), cast_to(y_pred, options_.dtype));
  const LossTerms terms = function_(y_true, y_pred);
  const Value values = cast_to(terms.values, options_.dtype);
  std::optional<Value> mask = weights.mask ? weights.mask : terms.mask;
  if (weights.mask && terms.mask) mask = *weights.mask & *terms.mask;
  return (weights.dialect == Dialect::keras2 ? reduce_as_keras2 : reduce_as_keras3)(
      values, weights.sample_weight, mask, options_.reduction);
}

Tensor Loss::each(const Tensor& y_true, const Tensor& y_pred) const {
  return evaluate({y_true, y_pred}, [&](const Values& in) {
    return function_(cast_to(in[0], options_.dtype), cast_to(in[1], options_.dtype)).values;
  });
}

Tensor Loss::operator()(const Tensor& y_true, const Tensor& y_pred,
                        const std::optional<Tensor>& sample_weight,
                        const std::optional<Tensor>& mask) const {
  std::vector<Tensor> inputs = {y_true, y_pred};
  if (sample_weight) inputs.push_back(*sample_weight);
  if (mask) inputs.push_back(*mask);
  return evaluate(inputs, [&](const Values& in) {
    LossWeights weights;
    if (sample_weight) weights.sample_weight = in[2];
    if (mask) weights.mask = in.back();
    return (*this)(in[0], in[1], weights);
  });
}

Json Loss::to_json() const {
  if (!*this) return {};
  if (!saved_.is_null()) return saved_;
  if (!requested_name_.empty()) return requested_name_;
  require(!class_name_.empty(), "loss '", name(),
          "' is a function of the program: it has no config to be saved");
  Json config = Json::Object{{"name", options_.name}, {"reduction", options_.reduction}};
  for (const auto& [key, value] : config_.as_object()) config[key] = value;
  return detail::class_json(type_, class_name_, std::move(config), "keras.losses",
                            {.is_keras = is_loss_class(class_name_, type_),
                             .is_name_of_keras = is_loss_name(class_name_)});
}

Loss Loss::saved_as(Json json) const {
  Loss same = *this;
  same.saved_ = std::move(json);
  return same;
}

Loss Loss::from_json(const Json& json) {
  if (json.is_null()) return {};
  const bool known = is_loss_name(detail::name_in_json(json));
  if (const auto custom = detail::custom_unless_keras<Loss>(json, {}, known)) return *custom;
  if (known) detail::require_of_keras("loss", json);
  if (json.is_string()) return json.as_string();
  const Named named = Named::from_json(json);
  return named.class_name == "function" ? Loss(named.config.as_string()) : loss_by_name(named);
}

bool Loss::operator==(const Loss& other) const {
  return class_name_ == other.class_name_ && config_ == other.config_ &&
         options_.name == other.options_.name && options_.reduction == other.options_.reduction;
}

}  // namespace keratin
