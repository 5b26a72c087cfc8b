#pragma once

#include <string>

namespace keratin::testing {

// Every case that real Keras recorded for a metric (tests/golden/metrics.json): reading and
// writing the config; results during twenty batches, some with weights or masks; the state at the
// end; and the first result again after a reset; on every backend. Numbers may differ by
// |a - b| <= tolerance · (1 + |b|).
void check_metric(const std::string& class_name, double tolerance = 1e-5);

}  // namespace keratin::testing
