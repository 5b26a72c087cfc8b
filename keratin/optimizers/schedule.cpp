#include "keratin/optimizers/schedule.h"

#include "keratin/base/text.h"
#include "keratin/graph/named.h"
#include "keratin/optimizers/registry.h"

namespace keratin {

Json LearningRate::to_json() const {
  if (is_number()) return rate_;
  if (!saved_.is_null()) return saved_;
  if (type_ == typeid(void)) {
    const bool is_name_of_keras = is_schedule_name(class_name_);
    detail::warn_of_function("schedule", class_name_, is_name_of_keras);
    return function_json(class_name_, is_name_of_keras);
  }
  return detail::class_json(type_, class_name_, config_, "keras.optimizers.schedules",
                            {.is_keras = is_schedule_class(class_name_, type_),
                             .is_name_of_keras = is_schedule_name(class_name_)});
}

LearningRate LearningRate::saved_as(Json json) const {
  LearningRate same = *this;
  same.saved_ = std::move(json);
  return same;
}

LearningRate LearningRate::from_json(const Json& json) {
  if (json.is_number()) return json.as_double();
  const bool known = is_schedule_name(detail::name_in_json(json));
  if (const auto custom = detail::custom_unless_keras<LearningRate>(json, {}, known))
    return *custom;
  if (known) detail::require_of_keras("learning rate schedule", json);
  if (const std::string name = detail::name_in_json(json); !name.empty())
    require(is_schedule_name(name),
            "Could not interpret learning rate schedule identifier: ", name);
  return schedule_by_name(Named::from_json(json));
}

}  // namespace keratin
