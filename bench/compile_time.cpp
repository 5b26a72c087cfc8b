// Measures compiling chains of n pointwise ops and layers with n ops, with gradients, down to a
// plan. The time per node must not grow with n.
#include <benchmark/benchmark.h>

#include "keratin/autodiff/gradients.h"
#include "keratin/base/text.h"
#include "keratin/engine/compile.h"
#include "keratin/ops/ops.h"
#include "keratin/plan/plan.h"

namespace keratin {
namespace {

// y = tanh(… tanh(x · w) + b …), and the gradients by w and b, which update them.
Module chain(int64_t nodes) {
  Module module;
  const Value x = module.input({DType::f32, {8}}, "x");
  const Value w = module.state({DType::f32, {8}}, "w"), b = module.state({DType::f32, {8}}, "b");
  Value y = x;
  while (static_cast<int64_t>(module.block().nodes().size()) < nodes) y = ops::tanh(y * w + b);
  module.output(ops::sum(y));
  return module;
}

Module with_gradients(int64_t nodes) {
  Module module = chain(nodes);
  const auto& parameters = module.block().parameters();
  const Value w = parameters[1]->out(), b = parameters[2]->out();
  const Values found = gradients(module.block().results[0], {w, b});
  module.update(w, w - found[0] * 0.1);
  module.update(b, b - found[1] * 0.1);
  return module;
}

// Layers with separate weights, and the gradients and updates of each.
Module layers(int64_t nodes) {
  Module module;
  Value y = module.input({DType::f32, {4, 4}}, "x");
  Values weights;
  while (static_cast<int64_t>(module.block().nodes().size()) < nodes) {
    weights.push_back(module.state({DType::f32, {4, 4}}));
    weights.push_back(module.state({DType::f32, {4}}));
    y = ops::relu(ops::matmul(y, weights.end()[-2]) + weights.back());
  }
  const Values found = gradients(ops::sum(y), weights);
  for (size_t i = 0; i < weights.size(); ++i)
    module.update(weights[i], weights[i] - found[i] * 0.1);
  return module;
}

void report(benchmark::State& state, int64_t nodes) {
  state.SetComplexityN(state.range(0));
  state.counters["us/node"] = benchmark::Counter(
      static_cast<double>(nodes) * 1e-6,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void build_chain(benchmark::State& state) {
  int64_t nodes = 0;
  for (auto _ : state) nodes = static_cast<int64_t>(chain(state.range(0)).block().nodes().size());
  report(state, nodes);
}

void differentiate_chain(benchmark::State& state) {
  int64_t nodes = 0;
  for (auto _ : state)
    nodes = static_cast<int64_t>(with_gradients(state.range(0)).block().nodes().size());
  report(state, nodes);
}

void compile_chain(benchmark::State& state) {
  const Module module = chain(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(compile(module.clone()));
  report(state, static_cast<int64_t>(module.block().nodes().size()));
}

void compile_training_chain(benchmark::State& state) {
  const Module module = with_gradients(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(compile(module.clone()));
  report(state, static_cast<int64_t>(module.block().nodes().size()));
}

void compile_training_layers(benchmark::State& state) {
  const Module module = layers(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(compile(module.clone()));
  report(state, static_cast<int64_t>(module.block().nodes().size()));
}

void print_and_parse_chain(benchmark::State& state) {
  const Module module = chain(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(text(module));
  report(state, static_cast<int64_t>(module.block().nodes().size()));
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->RangeMultiplier(10)->Range(1000, 100000)->Unit(benchmark::kMillisecond)->Complexity();
}

BENCHMARK(build_chain)->Apply(sizes);
BENCHMARK(differentiate_chain)->Apply(sizes);
BENCHMARK(print_and_parse_chain)->Apply(sizes);
BENCHMARK(compile_chain)->Apply(sizes);
BENCHMARK(compile_training_chain)->Apply(sizes);
BENCHMARK(compile_training_layers)->Apply(sizes);

}  // namespace
}  // namespace keratin
