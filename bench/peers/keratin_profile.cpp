// keratin_profile WORKLOAD [THREADS [SAMPLES]]: prints the time of each step of a workload of the
// peer benchmark.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "bench/peers/keratin_workloads.h"

int main(int argc, char** argv) {
  using namespace keratin;
  std::ifstream file(KERATIN_WORKLOADS);
  const auto workloads = nlohmann::json::parse(file);
  if (argc < 2 || !workloads.contains(argv[1])) {
    std::cerr << "usage: keratin_profile WORKLOAD [THREADS [SAMPLES]], where WORKLOAD is one of\n";
    for (const auto& [name, spec] : workloads.items()) std::cerr << "  " << name << '\n';
    return 2;
  }
  const bench::Task job = bench::make_task(workloads[argv[1]], argc > 2 ? std::atoi(argv[2]) : 2);
  if (!job.profile) {
    std::cerr << "keratin_profile: " << argv[1]
              << " is not a single program, so it has no steps to show\n";
    return 2;
  }
  // The best of many short samples of each step: its time without disturbance.
  auto steps = job.profile(10);
  const int looks = argc > 3 ? std::atoi(argv[3]) : 150;
  for (int look = 0; look < looks; ++look) {
    const auto more = job.profile(1);
    for (size_t i = 0; i < steps.size(); ++i) steps[i].ms = std::min(steps[i].ms, more[i].ms);
  }
  double total = 0;
  for (const auto& step : steps) {
    std::printf("%9.1f us  %6.1f GF/s  %s\n", step.ms * 1e3, step.flops / (step.ms * 1e6),
                step.step.c_str());
    total += step.ms;
  }
  std::printf("%9.1f us in all; compiled in %.1f ms\n", total * 1e3, job.compile_ms);
}
