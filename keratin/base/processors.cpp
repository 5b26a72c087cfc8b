#include "keratin/base/processors.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif

namespace keratin {
namespace {

namespace fs = std::filesystem;

// A control group of a process, as a line of /proc/self/cgroup names it: "0::/user" in version 2,
// "4:cpu,cpuacct:/user" in version 1.
struct ControlGroup {
  std::string controllers, path;
};

std::optional<ControlGroup> parse_group(const std::string& line) {
  const size_t first = line.find(':'), second = line.find(':', first + 1);
  if (first == std::string::npos || second == std::string::npos) return {};
  return ControlGroup{line.substr(first + 1, second - first - 1), line.substr(second + 1)};
}

bool names_cpu(const std::string& controllers) {
  std::istringstream words(controllers);
  for (std::string word; std::getline(words, word, ',');)
    if (word == "cpu") return true;
  return false;
}

// Microseconds of processor time per period, both in `folder`; nothing without a limit ("max" or
// -1).
std::optional<double> quota_of(const fs::path& folder) {
  double quota = 0, period = 0;
  std::ifstream both(folder / "cpu.max");
  if (!(both >> quota >> period)) {
    std::ifstream(folder / "cpu.cfs_quota_us") >> quota;
    std::ifstream(folder / "cpu.cfs_period_us") >> period;
  }
  if (!(quota > 0) || !(period > 0)) return {};
  return quota / period;
}

// The lowest limit of a group and of those above it. A container may not see the folder of its
// group, but then sees its limit in the topmost one.
void apply_quotas(const fs::path& top, const std::string& group, std::optional<double>& lowest) {
  fs::path path = fs::path(group).relative_path();
  for (bool more = true; more; path = path.parent_path()) {
    more = !path.empty();
    if (const auto quota = quota_of(top / path)) lowest = std::min(lowest.value_or(*quota), *quota);
  }
}

int allowed_by_affinity() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
#endif
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

std::optional<double> detail::processor_quota(const fs::path& root) {
  std::optional<double> lowest;
  const fs::path mounts = root / "sys/fs/cgroup";
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const auto group = parse_group(line);
    if (!group) continue;
    if (group->controllers.empty()) {
      apply_quotas(mounts, group->path, lowest);
    } else if (names_cpu(group->controllers)) {
      for (const std::string& mount : {group->controllers, std::string("cpu")})
        apply_quotas(mounts / mount, group->path, lowest);
    }
  }
  return lowest;
}

int available_processors() {
  static const int count = [] {
    const auto quota = detail::processor_quota("/");
    const int limit = quota ? static_cast<int>(std::ceil(std::min(*quota, 1e6))) : 1'000'000;
    return std::max(1, std::min(allowed_by_affinity(), limit));
  }();
  return count;
}

}  // namespace keratin
