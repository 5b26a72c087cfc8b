#include "keratin/ops/philox.h"

#include <gtest/gtest.h>

namespace keratin {
namespace {

void expect_words(PhiloxBlock got, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  EXPECT_EQ(got.word[0], a);
  EXPECT_EQ(got.word[1], b);
  EXPECT_EQ(got.word[2], c);
  EXPECT_EQ(got.word[3], d);
}

// The vectors published with the Random123 library.
TEST(Philox, MatchesThePublishedVectors) {
  expect_words(philox_rounds_of({{0, 0, 0, 0}}, 0, 0), 0x6627e8d5, 0xe169c58d, 0xbc57ac4c,
               0x9b00dbd8);
  constexpr uint32_t ones = 0xffffffff;
  expect_words(philox_rounds_of({{ones, ones, ones, ones}}, ones, ones), 0x408f276d, 0x41c83b0e,
               0xa20bc7c6, 0x6d5451fd);
}

TEST(Philox, AnElementIsALaneOfItsBlock) {
  const uint64_t seed = 0x0123456789abcdef, first = (uint64_t{7} << 32) * 4;
  for (uint64_t i = 0; i < 8; ++i) {
    EXPECT_EQ(philox_bits(seed, first + i), philox_block(seed, first / 4 + i / 4).word[i % 4]);
  }
  EXPECT_NE(philox_bits(seed, 0), philox_bits(seed, first));
}

}  // namespace
}  // namespace keratin
