#include "keratin/optimizers/schedule.h"

#include "keratin/base/text.h"
#include "keratin/graph/named.h"
#include "keratin/optimizers/registry.h"

namespace keratin {

Json LearningRate::to_json() const {
  if (is_number()) return rate_;
  if (!saved_.is_null()) return saved_;
  if (type_ == typeid(void)) {
    detail::warn_of_function("schedule", class_name_);
    return function_json(class_name_);
  }
  return detail::class_json(type_, class_name_, config_, "keras.optimizers.schedules",
                            is_schedule_name(class_name_));
}

LearningRate LearningRate::saved_as(Json json) const {
  LearningRate same = *this;
  same.saved_ = std::move(json);
  return same;
}

LearningRate LearningRate::from_json(const Json& json) {
  if (json.is_number()) return json.as_double();
  if (!detail::may_be_of_keras(json) || !is_schedule_name(detail::name_in_json(json)))
    if (const auto custom = detail::custom_from_json<LearningRate>(json, {})) return *custom;
  return schedule_by_name(Named::from_json(json));
}

Json detail::without_null_name(const Json& config) {
  Json rest = Json::object();
  for (const auto& [key, value] : config.as_object())
    if (key != "name" || !value.is_null()) rest[key] = value;
  return rest;
}

}  // namespace keratin
