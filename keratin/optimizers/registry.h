#pragma once

#include "keratin/graph/named.h"
#include "keratin/optimizers/optimizer.h"

namespace keratin {

// The optimizer of this name in Keras: "Adam", "adam".
Optimizer optimizer_by_name(const Named& named);
LearningRate schedule_by_name(const Named& named);
bool is_optimizer_name(std::string_view name);
bool is_schedule_name(std::string_view name);

}  // namespace keratin
