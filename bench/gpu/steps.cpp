// keratin_gpu_steps [MODEL...] [--bf16] [--predict] [--batch] [--plan]: the time of one step on the
// GPU.
//
// A step takes a batch from the host's memory and trains on it. Printed as JSON, one line per
// model: "ms", the median over groups of ten steps after which the loss is read, and
// "alone_ms", the median of steps whose loss is read each time. Predictions in a row are those
// of ten batches that are given together. With --bf16 layers compute in
// bfloat16 and keep their weights in float32; with --predict a step predicts one sample instead,
// with
// --batch too the batch. With --plan the steps of each program are listed with the time each takes
// when it runs alone.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <iostream>
#include <span>

#include "keratin/base/text.h"
#include "keratin/model/program.h"
#include "keratin/train/callback.h"
#include "keratin/train/trainer.h"
#include "workload.h"

namespace {

using namespace keratin;
using Clock = std::chrono::steady_clock;

struct Options {
  bool bf16 = false, predict = false, batch = false, plan = false;
};

using MakeWorkload = bench::Workload (*)(const DTypePolicy&);

constexpr std::pair<std::string_view, MakeWorkload> models[] = {
    {"mlp", bench::mlp},   {"convnet", bench::convnet},   {"lstm", bench::lstm},
    {"bert", bench::bert}, {"resnet50", bench::resnet50},
};

double seconds_since(Clock::time_point before) {
  return std::chrono::duration<double>(Clock::now() - before).count();
}

template <class F>
double median_ms(const F& run, int runs) {
  std::vector<double> ms;
  for (int i = 0; i < runs; ++i) {
    const auto before = Clock::now();
    run();
    ms.push_back(seconds_since(before) * 1e3);
  }
  std::nth_element(ms.begin(), ms.begin() + runs / 2, ms.end());
  return ms[static_cast<size_t>(runs) / 2];
}

void print_plan(const std::vector<Executable::StepTime>& steps) {
  double total = 0;
  for (const auto& step : steps) {
    std::cout << "  " << step.ms << " ms  " << step.step << '\n';
    total += step.ms;
  }
  std::cout << "  " << total << " ms in all, each step alone\n";
}

constexpr int group = 10;

// One step, and a group of them. The first run compiles, others warm up; then it is measured.
template <class Alone, class Row>
std::string measured(const Alone& alone, const Row& in_a_row, int runs) {
  const auto before = Clock::now();
  alone();
  const double first = seconds_since(before);
  median_ms(alone, runs / 10);
  in_a_row();
  const double row_ms = median_ms(in_a_row, std::max(runs / group, 3)) / group;
  return text("\"ms\": ", row_ms, ", \"alone_ms\": ", median_ms(alone, runs),
              ", \"first_step_s\": ", first);
}

void train(bench::Workload& w, const Options& options) {
  w.model.compile(
      {.optimizer = Adam({.learning_rate = 1e-3}), .loss = w.loss, .engine = {.backend = "cuda"}});
  Trainer& trainer = w.model.trainer();
  const Batch batch{.x = w.x, .y = w.y};
  std::optional<double> first;
  const auto ask = [&] {
    const double loss = trainer.logs().at("loss");
    if (!first) first = loss;
  };
  const auto train_and_ask = [&](int steps) {
    for (int i = 0; i < steps; ++i) trainer.train(batch);
    ask();
  };
  const std::string times =
      measured([&] { train_and_ask(1); }, [&] { train_and_ask(group); }, w.runs);
  std::cout << "{\"model\": \"" << w.name << "\", " << times << ", \"loss\": [" << *first << ", "
            << trainer.logs().at("loss") << "]}" << std::endl;
  if (options.plan) print_plan(trainer.profile(batch, 50));
}

Tensor repeated(const Tensor& x, int times) {
  Dims dims = x.shape().dims();
  dims[0] *= times;
  Tensor all(x.dtype(), dims);
  for (int i = 0; i < times; ++i)
    std::memcpy(all.buffer().data() + static_cast<size_t>(i) * x.bytes(), x.raw(), x.bytes());
  return all;
}

void predict(bench::Workload& w, const Options& options) {
  const PredictOptions how{.engine = {.backend = "cuda"}};
  const Tensor& x = options.batch ? w.x : w.one;
  const Tensor many = repeated(x, group);
  const PredictOptions in_batches{.batch_size = x.shape()[0], .engine = how.engine};
  const std::string times = measured([&] { w.model.predict_on_batch(x, how); },
                                     [&] { w.model.predict(many, in_batches); }, w.runs);
  std::cout << "{\"model\": \"" << w.name << "\", \"predict\": " << x.shape()[0] << ", " << times
            << "}" << std::endl;
  if (options.plan) print_plan(w.model.profile(x, 50, how));
}

void measure(std::string_view name, const Options& options) {
  const auto found = std::find_if(std::begin(models), std::end(models),
                                  [&](const auto& model) { return model.first == name; });
  require(found != std::end(models), "there is no model '", name, "'");
  bench::Workload w = found->second(options.bf16 ? "mixed_bfloat16" : "float32");
  if (options.bf16) w.name += " bf16";
  options.predict ? predict(w, options) : train(w, options);
}

}  // namespace

int main(int count, char** arguments) {
  Options options;
  std::vector<std::string_view> names;
  for (const std::string_view argument : std::span(arguments + 1, arguments + count)) {
    if (argument == "--bf16")
      options.bf16 = true;
    else if (argument == "--predict")
      options.predict = true;
    else if (argument == "--batch")
      options.batch = true;
    else if (argument == "--plan")
      options.plan = true;
    else
      names.push_back(argument);
  }
  if (names.empty())
    for (const auto& [name, make] : models) names.push_back(name);
  try {
    for (const std::string_view name : names) measure(name, options);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
