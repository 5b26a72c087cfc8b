#include "keratin/model/runner.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"

namespace keratin {
namespace {

struct ProcessRunner {
  std::mutex lock;
  RunnerPtr runner;
};

ProcessRunner& process_runner() {
  static ProcessRunner process;
  return process;
}

struct ScopedRunner {
  const RunnerScope* scope;
  RunnerPtr runner;
};
thread_local std::vector<ScopedRunner> scoped_runners;  // the innermost one last

}  // namespace

RunnerPtr current_runner() {
  if (!scoped_runners.empty()) return scoped_runners.back().runner;
  ProcessRunner& process = process_runner();
  const std::lock_guard guard(process.lock);
  return process.runner;
}

void set_process_runner(RunnerPtr runner) {
  require(scoped_runners.empty(),
          "set_distribution: this thread is in a DistributionScope, which decides for it; expected "
          "the scope to end first");
  ProcessRunner& process = process_runner();
  const std::lock_guard guard(process.lock);
  process.runner = std::move(runner);
}

RunnerScope::RunnerScope(RunnerPtr runner) { scoped_runners.push_back({this, std::move(runner)}); }

RunnerScope::~RunnerScope() {
  const auto mine = std::find_if(scoped_runners.begin(), scoped_runners.end(),
                                 [&](const ScopedRunner& scoped) { return scoped.scope == this; });
  if (mine != scoped_runners.end())
    scoped_runners.erase(mine);
  else
    warn(text("a DistributionScope ended on another thread than it began on, which goes on in it"));
}

}  // namespace keratin
