// Measures building and cloning chains of n Dense layers. The time per layer must not grow with n.
#include <benchmark/benchmark.h>

#include "keratin/graph/input.h"
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

// Builds 100,000 layers in models of n layers, and keeps all of them. The memory is the same for
// every n, so that differences are due to the size of a model alone, not to caches and pages.
constexpr int64_t kept_layers = 100000;

std::vector<Model> chains_of(int64_t layers) {
  std::vector<Model> models;
  for (int64_t built = 0; built < kept_layers; built += layers) models.push_back(chain(layers));
  return models;
}

void report_kept(benchmark::State& state) {
  state.counters["us/layer"] = benchmark::Counter(
      static_cast<double>(kept_layers) * 1e-6,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void build_models_kept(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(chains_of(state.range(0)).data());
  report_kept(state);
}

void clone_of_models_kept(benchmark::State& state) {
  const std::vector<Model> models = chains_of(state.range(0));
  for (auto _ : state) {
    std::vector<Model> clones;
    for (const Model& model : models) clones.push_back(clone_model(model));
    benchmark::DoNotOptimize(clones.data());
  }
  report_kept(state);
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
BENCHMARK(build_models_kept)->Apply(sizes);
BENCHMARK(clone_of_models_kept)->Apply(sizes);
BENCHMARK(model_to_config)->Apply(sizes);

}  // namespace
}  // namespace keratin
