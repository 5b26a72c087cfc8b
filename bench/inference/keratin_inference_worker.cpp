// Keratin in `make bench-inference`: answers the driver's requests, one JSON line each. It does
// what a user would: load_model and predict.
#include <chrono>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "bench/peak.h"
#include "keratin/base/version.h"
#include "keratin/data/npy.h"
#include "keratin/inference.h"
#include "keratin/model/program.h"

namespace keratin::bench {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

Tensor first_rows(const Tensor& t, int64_t count) {
  Dims dims = t.shape().dims();
  dims[0] = count;
  Tensor rows(t.dtype(), Shape(dims));
  std::memcpy(rows.raw(), t.raw(), rows.bytes());
  return rows;
}

class Worker {
 public:
  json answer(const json& request) {
    const auto command = request.at("cmd").get<std::string>();
    if (command == "list") return {{"version", "Keratin " + std::string(version())}};
    if (command == "prepare") return prepare(request);
    if (command == "sample") return sample(request.at("seconds").get<double>() * 1e3);
    if (command == "peak") return peak(request.at("threads").get<int>());
    return {{"error", "unknown command " + command}};
  }

 private:
  json prepare(const json& request) {
    const auto path = request.at("path").get<std::string>();
    const auto batch = request.at("batch").get<int64_t>();
    model_.emplace(load_model(path + ".keras"));
    x_ = first_rows(read_npy(path + ".npy"), batch);
    options_.batch_size = batch;
    options_.engine.threads = request.at("threads").get<int>();
    callers_ = request.at("callers").get<int>();
    const Tensor y = call();
    double squares = 0;
    for (const double v : y.to_vector()) squares += v * v;
    const auto start = Clock::now();
    int runs = 0;
    for (; ms_since(start) < 200; ++runs) call();
    // Groups of short calls take 200 microseconds; the clock is read between groups.
    group_ = std::max(1, static_cast<int>(runs / 1000));
    return {{"check", squares / static_cast<double>(y.to_vector().size())},
            {"flops", model_->program(x_, options_)->executable().flops()}};
  }

  Tensor call() const { return model_->predict(x_, options_).leaf(); }

  std::vector<double> loop(double ms) const {
    std::vector<double> times;
    const auto start = Clock::now();
    do {
      const auto before = Clock::now();
      for (int i = 0; i < group_; ++i) call();
      times.push_back(ms_since(before) / group_);
    } while (ms_since(start) < ms);
    return times;
  }

  json sample(double ms) const {
    std::vector<std::vector<double>> times(static_cast<size_t>(callers_));
    const auto start = Clock::now();
    {
      std::vector<std::jthread> others;
      for (size_t i = 1; i < times.size(); ++i)
        others.emplace_back([&, i] { times[i] = loop(ms); });
      times[0] = loop(ms);
    }
    json all = json::array();
    for (const auto& mine : times)
      for (const double time : mine) all.push_back(time);
    return {{"times_ms", all}, {"seconds", ms_since(start) / 1e3}};
  }

  static json peak(int threads) {
    return {
        {"gflops", fma_peak(threads)},
        {"dram_gbs", read_bandwidth(threads, (size_t{256} << 20) / static_cast<size_t>(threads))}};
  }

  std::optional<Model> model_;
  Tensor x_;
  PredictOptions options_;
  int callers_ = 1, group_ = 1;
};

}  // namespace
}  // namespace keratin::bench

int main() {
  keratin::bench::Worker worker;
  for (std::string line; std::getline(std::cin, line);) {
    nlohmann::json reply;
    try {
      const auto request = nlohmann::json::parse(line);
      if (request.at("cmd") == "quit") return 0;
      reply = worker.answer(request);
    } catch (const std::exception& error) {
      reply = {{"error", error.what()}};
    }
    std::cout << reply.dump() << std::endl;
  }
}
