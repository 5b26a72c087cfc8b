#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "keratin/engine/compile.h"
#include "keratin/model/program.h"

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

// Any workload: `run` is one iteration.
struct Task {
  std::function<void()> run;
  std::vector<double> check;
  // The time of each step of an iteration, or of one of its batches; not set if there are no steps.
  std::function<std::vector<Executable::StepTime>(int runs)> profile = {};
  double compile_ms = 0;
};

// The kinds of workloads that make_task builds: those of make_job, and whole models.
Task make_task(const nlohmann::json& spec, int threads);
std::vector<std::string> known_kinds();

// The inputs, which every worker computes itself; see README.md.
Tensor filled(const nlohmann::json& spec);
Tensor class_labels(int64_t count, int64_t classes);
double mean_square(const Tensor& tensor);

}  // namespace keratin::bench
