#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <vector>

#include "keratin/distribute/multi_gpu_model.h"

namespace keratin::testing {

// How a model is replicated.
struct ReplicaConfig {
  int devices = 2;
  bool cpu_merge = true, cpu_relocation = false;
};

inline std::ostream& operator<<(std::ostream& out, const ReplicaConfig& config) {
  return out << config.devices << " devices, merged on " << (config.cpu_merge ? "cpu" : "gpu")
             << (config.cpu_relocation ? ", relocated" : "");
}

inline std::vector<ReplicaConfig> all_replica_configs() {
  std::vector<ReplicaConfig> configs;
  for (const int devices : {2, 3, 4})
    for (const bool cpu_merge : {true, false})
      for (const bool cpu_relocation : {false, true})
        configs.push_back({devices, cpu_merge, cpu_relocation});
  return configs;
}

// The model's variables are moved to gpu:0 first, so that relocation has something to do.
inline Model replicate(const Model& model, const ReplicaConfig& config) {
  const Device first("gpu:0"), expected = config.cpu_relocation ? Device{} : first;
  const std::vector<Variable> variables = model.layer()->variables();
  for (const Variable& v : variables) v.move_to(first);
  const Model many = multi_gpu_model(model, {.gpus = config.devices,
                                             .cpu_merge = config.cpu_merge,
                                             .cpu_relocation = config.cpu_relocation});
  for (const Variable& v : variables) EXPECT_EQ(v.device(), expected) << v.path() << ", " << config;
  return many;
}

// With one thread per device each sample is computed in the same order, so results have the same
// bits: on one device, and on several at the same time.
inline PredictOptions single_threaded() { return {.engine = {.threads = 1}}; }
inline PredictOptions single_threaded(const ReplicaConfig& config) {
  return {.engine = {.threads = config.devices + 1}};
}

}  // namespace keratin::testing
