#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>

#include "keratin/cli/made_up_data.h"
#include "keratin/cli/models.h"
#include "keratin/cli/text.h"

namespace keratin::cli {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

struct Measured {
  int64_t batch = 0;
  double compile_ms = 0;
  std::vector<double> ms;  // of each run, sorted
  size_t arena_bytes = 0;
  double flops = 0;
  std::vector<Executable::StepTime> steps;

  double percentile(double fraction) const {
    return ms[static_cast<size_t>(std::ceil(fraction * static_cast<double>(ms.size()))) - 1];
  }
  double mean() const {
    double sum = 0;
    for (const double one : ms) sum += one;
    return sum / static_cast<double>(ms.size());
  }
  double samples_per_second() const { return 1e3 * static_cast<double>(batch) / mean(); }
};

constexpr std::pair<const char*, double> percentiles[] = {
    {"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}};

Measured measured(const Model& model, int64_t batch, const Arguments& arguments) {
  const PredictOptions options{
      .engine = {.threads = static_cast<int>(arguments.integer("threads"))}};
  const Tree<Tensor> x = made_up_inputs(model, batch, arguments.integer("open-size"));
  Measured out{.batch = batch};
  const auto start = Clock::now();
  const auto program = model.program(x, options);
  out.compile_ms = milliseconds_since(start);
  out.arena_bytes = program->executable().arena_bytes();
  out.flops = program->executable().flops();
  for (int warm = 0; warm < 3; ++warm) model.run(x, options);
  for (int64_t run = 0; run < arguments.integer("runs"); ++run) {
    const auto before = Clock::now();
    model.run(x, options);
    out.ms.push_back(milliseconds_since(before));
  }
  std::sort(out.ms.begin(), out.ms.end());
  out.steps = model.profile(x, 10, options);
  return out;
}

Json measured_json(const Measured& m) {
  Json out = Json::Object{{"batch_size", m.batch},
                          {"compile_ms", m.compile_ms},
                          {"runs", static_cast<int64_t>(m.ms.size())},
                          {"mean_ms", m.mean()}};
  for (const auto& [name, fraction] : percentiles) out[text(name, "_ms")] = m.percentile(fraction);
  out["samples_per_second"] = m.samples_per_second();
  out["arena_bytes"] = static_cast<int64_t>(m.arena_bytes);
  out["flops"] = m.flops;
  Json steps = Json::array();
  for (const auto& step : m.steps)
    steps.push_back(Json::Object{{"step", step.step}, {"ms", step.ms}, {"flops", step.flops}});
  out["steps"] = steps;
  return out;
}

void print_table(const std::vector<Measured>& all) {
  std::printf("%10s %12s", "batch", "compile ms");
  for (const auto& [name, fraction] : percentiles) std::printf(" %9s ms", name);
  std::printf(" %12s %12s\n", "samples/s", "memory");
  for (const Measured& m : all) {
    std::printf("%10lld %12.3f", static_cast<long long>(m.batch), m.compile_ms);
    for (const auto& [name, fraction] : percentiles) std::printf(" %12.4f", m.percentile(fraction));
    std::printf(" %12.1f %12s\n", m.samples_per_second(),
                readable_size(static_cast<double>(m.arena_bytes)).c_str());
  }
}

// The steps of the plan in the order in which they run.
void print_steps(const Measured& m) {
  double total = 0;
  for (const auto& step : m.steps) total += step.ms;
  std::printf("\nsteps of the plan for a batch of %lld\n%12s %7s %10s\n",
              static_cast<long long>(m.batch), "us", "part", "GFLOP/s");
  for (const auto& step : m.steps)
    std::printf("%12.2f %6.1f%% %10.2f  %s\n", step.ms * 1e3, total > 0 ? 100 * step.ms / total : 0,
                step.ms > 0 ? step.flops / step.ms / 1e6 : 0, step.step.c_str());
  std::printf("%12.2f in all\n", total * 1e3);
}

Status run_bench(const Arguments& arguments) {
  const Model model = open_model(arguments.file("MODEL"), {.compile = false});
  std::vector<int64_t> sizes = arguments.integers("batch-size");
  if (const auto fixed = fixed_batch(model); fixed && !arguments.given("batch-size"))
    sizes = {*fixed};
  std::vector<Measured> all;
  for (const int64_t batch : sizes) all.push_back(measured(model, batch, arguments));
  if (arguments.flag("json")) {
    Json batches = Json::array();
    for (const Measured& m : all) batches.push_back(measured_json(m));
    std::cout << Json(Json::Object{{"model", model.name()}, {"batches", batches}}).dump(2) << '\n';
    return success;
  }
  print_table(all);
  for (const Measured& m : all) print_steps(m);
  std::fflush(stdout);
  return success;
}

}  // namespace

Command bench_command() {
  return {
      .name = "bench",
      .summary = "measure how fast a model runs",
      .description =
          "Runs a model on made-up data, and says for each batch size how long compiling and "
          "running take, how many samples a second that is, what memory it works in, and what each "
          "step of the plan costs. An axis that the model leaves open, but for that of samples, "
          "gets the size of --open-size.",
      .positionals = {model_argument()},
      .options = {{.name = "batch-size",
                   .value = "N,...",
                   .help = "samples at a time, with commas",
                   .letter = 'b',
                   .fallback = "1,32",
                   .kind = Kind::integers,
                   .min = 1},
                  {.name = "runs",
                   .value = "N",
                   .help = "how often to run each",
                   .letter = 'n',
                   .fallback = "100",
                   .kind = Kind::integer,
                   .min = 1},
                  {.name = "threads",
                   .value = "N",
                   .help = "how many to use; 0 for what the machine has",
                   .fallback = "0",
                   .kind = Kind::integer},
                  open_size_option(),
                  json_option()},
      .examples = {"keratin bench model.keras", "keratin bench model.keras -b 1,8,64 --threads 1"},
      .run = run_bench,
  };
}

}  // namespace keratin::cli
