#include "keratin/backend/cpu/levels/random.h"
#include "keratin/backend/cpu/levels/level_testing.h"
#include "keratin/ops/philox.h"

namespace keratin::cpu {
namespace {

TEST(RandomBits, MatchTheDefinitionFromAnyOffset) {
  const uint64_t seed = 0xfedcba9876543210;
  for (const uint64_t offset :
       {uint64_t{0}, uint64_t{1}, uint64_t{6}, uint64_t{63}, (uint64_t{1} << 34) - 30}) {
    for (const int64_t count : {0, 1, 5, 64, 131, 10007}) {
      on_every_level(
          [&](Level level, int threads) {
            std::vector<uint32_t> out(static_cast<size_t>(count));
            routines<RandomRoutines>(level).bits({out.data(), count, seed, offset, threads});
            return out;
          },
          [&](const std::vector<uint32_t>& out) {
            for (size_t i = 0; i < out.size(); ++i) {
              ASSERT_EQ(out[i], philox_bits(seed, offset + i)) << offset << " " << i;
            }
          });
    }
  }
}

}  // namespace
}  // namespace keratin::cpu
