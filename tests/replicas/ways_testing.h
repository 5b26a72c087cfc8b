#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <vector>

#include "keratin/distribute/multi_gpu_model.h"

namespace keratin::testing {

// How a model may be replicated.
struct Way {
  int devices = 2;
  bool cpu_merge = true, cpu_relocation = false;
};

inline std::ostream& operator<<(std::ostream& out, const Way& way) {
  return out << way.devices << " devices, merged on " << (way.cpu_merge ? "cpu" : "gpu")
             << (way.cpu_relocation ? ", relocated" : "");
}

inline std::vector<Way> all_ways() {
  std::vector<Way> ways;
  for (const int devices : {2, 3, 4})
    for (const bool cpu_merge : {true, false})
      for (const bool cpu_relocation : {false, true})
        ways.push_back({devices, cpu_merge, cpu_relocation});
  return ways;
}

// The template's variables are brought to gpu:0 first, so that relocation has something to do.
inline Model replicate(const Model& model, const Way& way) {
  const Device first("gpu:0"), home = way.cpu_relocation ? Device{} : first;
  const std::vector<Variable> variables = model.layer()->variables();
  for (const Variable& v : variables) v.move_to(first);
  const Model many = multi_gpu_model(
      model,
      {.gpus = way.devices, .cpu_merge = way.cpu_merge, .cpu_relocation = way.cpu_relocation});
  for (const Variable& v : variables) EXPECT_EQ(v.device(), home) << v.path() << ", " << way;
  return many;
}

// Each sample is computed in the same order, so on one thread bit for bit: on a device alone, and
// on one thread for each of the devices, which work side by side.
inline PredictOptions on_a_thread() { return {.engine = {.threads = 1}}; }
inline PredictOptions on_a_thread(const Way& way) {
  return {.engine = {.threads = way.devices + 1}};
}

}  // namespace keratin::testing
