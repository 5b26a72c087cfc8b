#include <algorithm>

#include "cudnn_graph.h"

namespace keratin::simulator::cudnn {

namespace {

// Notes and modes, by the library's numbers.
constexpr int tensor_core = 0, down_convert = 1, reduced_reduction = 2, fft = 3,
              nondeterministic = 4, winograd = 5, winograd_4 = 6, winograd_6 = 7, winograd_13 = 8,
              strict_nan = 9;
constexpr int runtime_compilation = 0;
constexpr int mode_a = 3, mode_fallback = 2;

Engine unsteady() { return {.numerical_notes = {nondeterministic}, .unsteady = true}; }
Engine plain() { return {.numerical_notes = {strict_nan}}; }

// Engines that must not be taken come first, where they would be taken.
std::vector<Engine> engines_of(const Program& program) {
  std::vector<Engine> all = {unsteady()};
  for (const int note :
       {down_convert, reduced_reduction, fft, winograd, winograd_4, winograd_6, winograd_13})
    all.push_back({.numerical_notes = {note}, .rounding = Rounding::bf16});
  const bool has_relu = std::any_of(program.steps.begin(), program.steps.end(),
                                    [](const Step& step) { return step.kind == Step::Kind::relu; });
  if (has_relu) all.push_back({.loses_nan = true});
  all.push_back({.refuses = true});
  all.push_back({.is_greedy = true});
  const bool f32 = program.convolution.type == Number::f32;
  all.push_back(
      {.numerical_notes = {tensor_core}, .rounding = f32 ? Rounding::tf32 : Rounding::none});
  all.push_back({.in_parts = true});
  all.push_back({.behavior_notes = {runtime_compilation}, .in_parts = true});
  all.push_back(plain());
  return all;
}

}  // namespace

// Of groups only the last resort knows something good.
EngineConfigs find_engines(const std::shared_ptr<const Graph>& graph, int mode) {
  need(mode == mode_a || mode == mode_fallback, not_supported);
  const Program& program = graph->program;
  std::vector<Engine> engines = {plain()};
  if (mode == mode_a)
    engines = program.convolution.groups > 1 ? std::vector{unsteady()} : engines_of(program);
  EngineConfigs found;
  for (Engine& engine : engines) found.all.push_back({graph, std::move(engine)});
  return found;
}

}  // namespace keratin::simulator::cudnn
