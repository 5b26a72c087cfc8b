#include "keratin/tensor/state_version.h"

#include <gtest/gtest.h>

namespace keratin {
namespace {

TEST(StateVersion, ChangesWithEachWriteToItsMemory) {
  const int here = 0, elsewhere = 0;
  const auto version = StateVersion::watch(&here), other = StateVersion::watch(&elsewhere);
  const uint64_t before = version->now(), others = other->now(), writes = state_writes();
  state_written(&here);
  EXPECT_NE(version->now(), before);
  EXPECT_EQ(other->now(), others);
  EXPECT_NE(state_writes(), writes);
}

TEST(StateVersion, IsSharedByAllWhoWatch) {
  const int memory = 0;
  const auto first = StateVersion::watch(&memory), second = StateVersion::watch(&memory);
  EXPECT_EQ(first, second);
}

// Who watched before may have missed a write.
TEST(StateVersion, IsNewWhenNobodyWatchedInBetween) {
  const int memory = 0;
  const uint64_t before = StateVersion::watch(&memory)->now();
  EXPECT_NE(StateVersion::watch(&memory)->now(), before);
}

TEST(StateVersion, CountsNoWritesThatNobodyWatches) {
  const int memory = 0;
  const uint64_t writes = state_writes();
  state_written(&memory);
  EXPECT_EQ(state_writes(), writes);
}

}  // namespace
}  // namespace keratin
