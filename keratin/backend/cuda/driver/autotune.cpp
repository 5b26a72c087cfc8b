#include "keratin/backend/cuda/driver/autotune.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "keratin/backend/cuda/driver/kernel_cache.h"
#include "keratin/backend/cuda/driver/standalone_step.h"
#include "keratin/base/text.h"

namespace keratin::cuda {

namespace {

constexpr size_t rounds = 3, runs_per_round = 4;

// Times kernels for one node.
class Stopwatch {
 public:
  explicit Stopwatch(const Node& node) : step_(node), queue_(step_.queue()) {}

  // In ms, without the preparation, which other steps do not wait for; infinity if the kernel
  // fails.
  double time(const Kernel& kernel) {
    double best = std::numeric_limits<double>::infinity();
    try {
      const Launch launch = step_.bind(kernel);
      launch();
      queue_.finish();
      const std::vector<Launch> runs(runs_per_round, launch);
      for (size_t round = 0; round <= rounds; ++round) {
        const auto before = std::chrono::steady_clock::now();
        run(runs, round == 0);
        queue_.finish();
        const std::chrono::duration<double, std::milli> ms =
            std::chrono::steady_clock::now() - before;
        if (round > 0) best = std::min(best, ms.count());
      }
    } catch (const BackendError&) {
      return std::numeric_limits<double>::infinity();
    }
    return best;
  }

 private:
  // Recorded as a graph, as a session does: the host's part of a launch does not count.
  void run(const std::vector<Launch>& runs, bool first) {
    if (first) {
      Dependencies one_by_one(runs.size());
      for (size_t i = 1; i < runs.size(); ++i) one_by_one[i] = {i - 1};
      recorded_ = queue_.record(runs, one_by_one);
    }
    if (recorded_) return queue_.replay();
    for (const Launch& launch : runs) launch();
  }

  StandaloneStep step_;
  Queue& queue_;
  bool recorded_ = false;
};

struct Winner {
  std::string name;
  std::unique_ptr<Kernel> kernel;
};

Winner find_fastest(const Node& node, const std::vector<Candidate>& candidates) {
  Winner winner;
  Stopwatch watch(node);
  double best = std::numeric_limits<double>::infinity();
  for (const Candidate& candidate : candidates) {
    auto kernel = candidate.make();
    const double ms = kernel == nullptr ? best : watch.time(*kernel);
    if (ms >= best) continue;
    best = ms;
    winner = {candidate.name, std::move(kernel)};
  }
  if (winner.kernel == nullptr) throw BackendError("cuda: no candidate for a step could be timed");
  return winner;
}

}  // namespace

std::unique_ptr<Kernel> first_possible(const std::vector<Candidate>& candidates) {
  for (const Candidate& candidate : candidates)
    if (auto kernel = candidate.make()) return kernel;
  return nullptr;
}

namespace {

// The winner; its kernel only where it was just made.
Winner find_winner(const Node& node, const std::string& key,
                   const std::vector<Candidate>& candidates) {
  if (!KernelCache::of_user().keeps()) return {candidates.front().name, nullptr};
  static std::mutex lock;
  static std::map<std::string, std::string> known;
  const std::lock_guard guard(lock);
  std::string full = text("way 2\n", gpu(node.device()).chip(), '\n', key);
  for (const Candidate& candidate : candidates) full += '\n' + candidate.name;
  if (const auto found = known.find(full); found != known.end()) return {found->second, nullptr};
  Winner winner{candidates.front().name, nullptr};
  try {
    winner.name = KernelCache::of_user().find(full, [&] {
      winner = find_fastest(node, candidates);
      return winner.name;
    });
  } catch (const BackendError&) {
    return winner;  // too little memory to time them: take the first
  }
  known[full] = winner.name;
  return winner;
}

}  // namespace

std::unique_ptr<Kernel> fastest(const Node& node, const std::string& key,
                                const std::vector<Candidate>& candidates) {
  Winner winner = find_winner(node, key, candidates);
  if (winner.kernel != nullptr) return std::move(winner.kernel);
  for (const Candidate& candidate : candidates)
    if (candidate.name == winner.name)
      if (auto kernel = candidate.make()) return kernel;
  return first_possible(candidates);
}

std::string name_of_fastest(const Node& node, const std::string& key,
                            const std::vector<Candidate>& candidates) {
  return find_winner(node, key, candidates).name;
}

}  // namespace keratin::cuda
