#pragma once

#include "keratin/graph/named.h"
#include "keratin/metrics/metric.h"

namespace keratin {

// The metric Keras calls so, by its class's or its function's name or an alias of it.
Metric metric_by_name(const Named& named);

}  // namespace keratin
