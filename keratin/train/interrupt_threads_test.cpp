#include "keratin/train/interrupt.h"

#include <gtest/gtest.h>

#include <csignal>
#include <optional>
#include <thread>

namespace keratin {
namespace {

void (*current_handler())(int) {
  struct sigaction now = {};
  sigaction(SIGINT, nullptr, &now);
  return now.sa_handler;
}

TEST(InterruptScope, TurnsCtrlCIntoARequest) {
  const InterruptScope scope;
  EXPECT_FALSE(InterruptScope::requested());
  std::raise(SIGINT);
  EXPECT_TRUE(InterruptScope::requested());
}

TEST(InterruptScope, ForgetsOldRequests) {
  {
    const InterruptScope scope;
    std::raise(SIGINT);
  }
  const InterruptScope scope;
  EXPECT_FALSE(InterruptScope::requested());
}

// Two models may train in two threads, and finish in any order.
TEST(InterruptScope, TheLastScopeRestoresTheHandler) {
  const auto before = current_handler();
  std::optional<InterruptScope> first(std::in_place), second;
  std::thread([&] { second.emplace(); }).join();
  first.reset();
  EXPECT_NE(current_handler(), before);
  std::thread([&] { second.reset(); }).join();
  EXPECT_EQ(current_handler(), before);
}

}  // namespace
}  // namespace keratin
