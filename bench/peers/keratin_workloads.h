#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "keratin/engine/compile.h"

namespace keratin::bench {

// One workload, compiled and with its data: `run` is one iteration.
struct Job {
  Executable program;
  std::vector<Tensor> inputs;   // state included
  std::vector<Tensor> outputs;  // written by every run
  std::vector<double> check;    // what the driver compares with the peers' values
  double compile_ms = 0;        // to trace, differentiate, optimise and plan the program
  void run() const { program.run(inputs, outputs); }
};

// Builds the job from the driver's own description of the workload (kind, tensors, attrs).
Job make_job(const nlohmann::json& spec, int threads);

// The kinds of workloads that make_job builds.
const std::vector<std::string>& known_kinds();

}  // namespace keratin::bench
