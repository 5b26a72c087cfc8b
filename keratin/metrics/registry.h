#pragma once

#include "keratin/graph/named.h"
#include "keratin/metrics/metric.h"

namespace keratin {

// The metric of that class, or of that name in Keras, with its config.
Metric metric_by_name(const Named& named);
// What a user gets who asks by a name alone: "accuracy" and "acc" depend on the shapes they meet.
Metric metric_asked_for(const std::string& name);

}  // namespace keratin
