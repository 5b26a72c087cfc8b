#include "keratin/backend/cuda/collective/peers.h"

#include <gtest/gtest.h>

namespace keratin::cuda {
namespace {

// A driver of GPUs 0, 1 and 2, of which the first two can see each other.
struct Machine {
  static inline ContextHandle current;
  static inline std::vector<std::pair<ContextHandle, ContextHandle>> enabled;
  static inline Result answer;

  static ContextHandle context(int device) {
    return reinterpret_cast<ContextHandle>(static_cast<uintptr_t>(0x1000 + device));
  }
  static Driver driver() {
    current = nullptr;
    enabled.clear();
    answer = 0;
    Driver d{};
    d.set_context = [](ContextHandle made) { return current = made, 0; };
    d.can_access_peer = [](int* possible, int device, int peer) {
      EXPECT_NE(device, peer);
      *possible = device < 2 && peer < 2 ? 1 : 0;
      return 0;
    };
    d.enable_peer_access = [](ContextHandle peer, unsigned flags) {
      EXPECT_EQ(flags, 0U);
      enabled.emplace_back(current, peer);
      return answer;
    };
    return d;
  }
  static std::vector<Peer> gpus(int count) {
    std::vector<Peer> all;
    for (int i = 0; i < count; ++i) all.push_back({i, context(i)});
    return all;
  }
};

TEST(Peers, AreConnectedBothWaysWhereTheMachineCan) {
  connect(Machine::driver(), Machine::gpus(3));
  EXPECT_EQ(Machine::enabled, (std::vector{std::pair{Machine::context(0), Machine::context(1)},
                                           std::pair{Machine::context(1), Machine::context(0)}}));
}

TEST(Peers, OneThatRefusesIsNoError) {
  const Driver driver = Machine::driver();
  Machine::answer = 704;  // somebody did it before
  connect(driver, Machine::gpus(2));
  EXPECT_EQ(Machine::enabled.size(), 2U);
}

TEST(Peers, OneGpuNeedsNoPeers) {
  connect(Machine::driver(), Machine::gpus(1));
  EXPECT_EQ(Machine::current, nullptr);
  EXPECT_TRUE(Machine::enabled.empty());
}

}  // namespace
}  // namespace keratin::cuda
