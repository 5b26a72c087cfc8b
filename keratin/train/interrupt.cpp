#include "keratin/train/interrupt.h"

#include <atomic>
#include <csignal>
#include <mutex>

namespace keratin {
namespace {

std::atomic<bool> interrupt_requested = false;

struct Handler {
  std::mutex lock;
  int scopes = 0;
  struct sigaction before = {};
};

Handler& handler() {
  static Handler shared;
  return shared;
}

}  // namespace

InterruptScope::InterruptScope() {
  Handler& shared = handler();
  const std::lock_guard guard(shared.lock);
  if (shared.scopes++ > 0) return;
  interrupt_requested = false;
  struct sigaction ours = {};
  ours.sa_handler = [](int) { interrupt_requested = true; };
  sigemptyset(&ours.sa_mask);
  sigaction(SIGINT, &ours, &shared.before);
}

InterruptScope::~InterruptScope() {
  Handler& shared = handler();
  const std::lock_guard guard(shared.lock);
  if (--shared.scopes == 0) sigaction(SIGINT, &shared.before, nullptr);
}

bool InterruptScope::requested() { return interrupt_requested; }

}  // namespace keratin
