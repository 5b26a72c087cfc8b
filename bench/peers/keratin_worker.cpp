// Keratin's side of the peer benchmark: answers the driver's requests, one JSON line each.
#include <sys/resource.h>

#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/peak.h"
#include "bench/peers/keratin_workloads.h"
#include "keratin/base/version.h"

namespace keratin::bench {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

class Worker {
 public:
  json answer(const json& request) {
    const auto command = request.at("cmd").get<std::string>();
    if (command == "list")
      return {{"name", "keratin"}, {"version", version()}, {"kinds", known_kinds()}};
    if (command == "prepare") return prepare(request);
    if (command == "sample") return sample(request.at("seconds").get<double>() * 1e3);
    if (command == "peak") return peak(request.at("threads").get<int>());
    if (command == "memory") return memory();
    return {{"error", "unknown command " + command}};
  }

 private:
  json prepare(const json& request) {
    job_.emplace(make_task(request.at("spec"), request.at("threads").get<int>()));
    const auto start = Clock::now();
    do job_->run();
    while (ms_since(start) < 200);
    // Groups have as many iterations as take 200 microseconds; the clock is read between groups.
    group_ = 1;
    while (group_ < (1 << 24) && timed_group() * group_ < 0.2) group_ *= 2;
    return {{"ok", true}, {"variant", ""}, {"check", job_->check}};
  }

  json sample(double ms) {
    std::vector<double> times;
    const auto start = Clock::now();
    do times.push_back(timed_group());
    while (ms_since(start) < ms);
    return {{"times_ms", times}};
  }

  double timed_group() const {
    const auto start = Clock::now();
    for (int i = 0; i < group_; ++i) job_->run();
    return ms_since(start) / group_;
  }

  static json peak(int threads) {
    const size_t share = static_cast<size_t>(threads);
    return {{"gflops", fma_peak(threads)},
            {"l2_gbs", read_bandwidth(threads, size_t{256} << 10)},
            {"dram_gbs", read_bandwidth(threads, (size_t{256} << 20) / share)},
            {"l3_gbs", read_bandwidth(threads, (size_t{8} << 20) / share)}};
  }

  static json memory() {
    rusage used = {};
    getrusage(RUSAGE_SELF, &used);
    return {{"peak_mib", static_cast<double>(used.ru_maxrss) / 1024}};
  }

  std::optional<Task> job_;
  int group_ = 1;
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
