#include "keratin/model/runner.h"

#include <map>
#include <mutex>

namespace keratin {
namespace {

std::mutex lock;
Runner current;
std::map<std::weak_ptr<Layer>, Runner, std::owner_less<>> settled;  // of models made under one

}  // namespace

void set_runner(Runner runner) {
  const std::lock_guard guard(lock);
  current = std::move(runner);
}

void settle_runner(const LayerPtr& layer) {
  const std::lock_guard guard(lock);
  if (!current) return;
  std::erase_if(settled, [](const auto& entry) { return entry.first.expired(); });
  settled.emplace(layer, current);
}

LayerPtr runner_of(const LayerPtr& layer) {
  Runner runner;
  {
    const std::lock_guard guard(lock);
    const auto found = settled.find(layer);
    if (found != settled.end()) runner = found->second;
  }
  return runner ? runner(layer) : layer;
}

}  // namespace keratin
