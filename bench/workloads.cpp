// Runs every workload of the peer benchmark under Google Benchmark.
#include <benchmark/benchmark.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/peers/keratin_workloads.h"
#include "keratin/base/text.h"

namespace keratin::bench {
namespace {

// The build writes the spec from bench/peers/workloads.py, which defines the workloads.
[[maybe_unused]] const bool registered = [] {
  std::ifstream file(KERATIN_WORKLOADS);
  const auto workloads = nlohmann::json::parse(file);
  for (const auto& [name, spec] : workloads.items())
    for (const int threads : {1, 2})
      benchmark::RegisterBenchmark(text(name, "/threads:", threads).c_str(),
                                   [spec = spec, threads](benchmark::State& state) {
                                     const Task job = make_task(spec, threads);
                                     for (auto _ : state) job.run();
                                     state.counters["compile_ms"] = job.compile_ms;
                                     state.counters["GFLOP/s"] = benchmark::Counter(
                                         spec.at("flops").get<double>() * 1e-9,
                                         benchmark::Counter::kIsIterationInvariantRate);
                                   })
          ->UseRealTime();
  return true;
}();

}  // namespace
}  // namespace keratin::bench
