#pragma once

#include <typeindex>

#include "keratin/graph/named.h"
#include "keratin/optimizers/optimizer.h"

namespace keratin {

// The optimizer of this name in Keras: "Adam", "adam".
Optimizer optimizer_by_name(const Named& named);
LearningRate schedule_by_name(const Named& named);
bool is_optimizer_name(std::string_view name);
bool is_schedule_name(std::string_view name);
// True for what Keras has, false for what is the user's with such a name.
bool is_optimizer_class(std::string_view name, std::type_index type);
bool is_schedule_class(std::string_view name, std::type_index type);

}  // namespace keratin
