// What building and cloning models costs: chains of n Dense layers. The time per layer must not
// grow with n.
#include <benchmark/benchmark.h>

#include "keratin/layers/dense.h"
#include "keratin/model/clone.h"

namespace keratin {
namespace {

Model chain(int64_t layers) {
  const auto x = Input({4});
  Symbols y = x;
  for (int64_t i = 0; i < layers; ++i) y = Dense({.units = 4})(y);
  return Model({.inputs = x, .outputs = y});
}

void report(benchmark::State& state) {
  state.counters["us/layer"] = benchmark::Counter(
      static_cast<double>(state.range(0)) * 1e-6,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void build_model(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(chain(state.range(0)));
  report(state);
}

void clone_of_model(benchmark::State& state) {
  const Model model = chain(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(clone_model(model));
  report(state);
}

// As many layers in models of 1,000, all of them kept: as much memory as one large model has, so
// that caches are no better off. What is left between the two is due to the size of a model.
void clone_of_many_models(benchmark::State& state) {
  std::vector<Model> models;
  for (int64_t i = 0; i < state.range(0); i += 1000) models.push_back(chain(1000));
  for (auto _ : state) {
    std::vector<Model> clones;
    for (const Model& model : models) clones.push_back(clone_model(model));
    benchmark::DoNotOptimize(clones.data());
  }
  report(state);
}

void model_to_config(benchmark::State& state) {
  const Model model = chain(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(model.to_json());
  report(state);
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->RangeMultiplier(10)->Range(1000, 100000)->Unit(benchmark::kMillisecond);
}

BENCHMARK(build_model)->Apply(sizes);
BENCHMARK(clone_of_model)->Apply(sizes);
BENCHMARK(clone_of_many_models)->Arg(100000)->Unit(benchmark::kMillisecond);
BENCHMARK(model_to_config)->Apply(sizes);

}  // namespace
}  // namespace keratin
