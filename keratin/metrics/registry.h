#pragma once

#include <typeindex>

#include "keratin/graph/named.h"
#include "keratin/metrics/metric.h"

namespace keratin {

// The metric of that class or name of Keras, with its config.
Metric metric_by_name(const Named& named);
bool is_metric_name(std::string_view name);
// True for the state of a metric of Keras, false for one of the user's with such a name.
bool is_metric_class(std::string_view name, std::type_index type);
// The metric that a user requests by name: "accuracy" and "acc" choose by the shapes.
Metric metric_from_user_name(const std::string& name);

}  // namespace keratin
