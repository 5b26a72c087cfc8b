#include "keratin/optimizers/schedule.h"

#include "keratin/base/text.h"
#include "keratin/graph/named.h"
#include "keratin/optimizers/registry.h"

namespace keratin {

Json LearningRate::to_json() const {
  if (is_number()) return rate_;
  require(!class_name_.empty(),
          "a learning rate that is a function of the program has no config to be saved");
  return Named{class_name_, config_}.to_json("keras.optimizers.schedules");
}

LearningRate LearningRate::from_json(const Json& json) {
  return json.is_number() ? LearningRate(json.as_double())
                          : schedule_by_name(Named::from_json(json));
}

}  // namespace keratin
