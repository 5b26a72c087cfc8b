#include "keratin/base/help_meter.h"

#include <gtest/gtest.h>

namespace keratin::detail {
namespace {

using namespace std::chrono_literals;
using Clock = HelpMeter::Clock;

// A window of work that took `wall`.
void measure(HelpMeter& meter, bool with_help, HelpMeter::Time work, Clock::time_point now,
             HelpMeter::Time wall = 10ms) {
  meter.add(with_help, work, wall, now);
}

TEST(HelpMeter, KeepsHelpThatMakesWorkFaster) {
  HelpMeter meter;
  for (int i = 0; i < 10; ++i) measure(meter, true, 19ms, Clock::now());
  EXPECT_FALSE(meter.is_paused());
}

TEST(HelpMeter, PausesHelpThatMakesWorkSlower) {
  HelpMeter meter;
  measure(meter, true, 7ms, Clock::now());
  EXPECT_TRUE(meter.is_paused());
}

TEST(HelpMeter, JudgesByWindowsNotByOneDelay) {
  HelpMeter meter;
  measure(meter, true, 1ms, Clock::now(), 3ms);  // shorter than a window
  EXPECT_FALSE(meter.is_paused());
  measure(meter, true, 12ms, Clock::now(), 6ms);
  EXPECT_FALSE(meter.is_paused());
}

TEST(HelpMeter, TriesHelpAgainAfterThePause) {
  HelpMeter meter;
  const auto long_ago = Clock::now() - 1h;
  measure(meter, true, 1ms, long_ago);
  EXPECT_FALSE(meter.is_paused());
}

TEST(HelpMeter, PausesLongerEachTimeThatHelpIsTriedInVain) {
  const auto now = Clock::now();
  const auto is_paused_after = [&](int windows, HelpMeter::Time later) {
    HelpMeter meter;
    for (int i = 0; i < windows; ++i) measure(meter, true, 1ms, now - later);
    return meter.is_paused();
  };
  EXPECT_FALSE(is_paused_after(1, HelpMeter::shortest_pause));
  EXPECT_TRUE(is_paused_after(2, HelpMeter::shortest_pause));
  EXPECT_FALSE(is_paused_after(50, HelpMeter::longest_pause));
}

TEST(HelpMeter, PausesAgainBrieflyOnceHelpWasGood) {
  HelpMeter meter;
  const auto long_ago = Clock::now() - 1h;
  for (int i = 0; i < 10; ++i) measure(meter, true, 1ms, long_ago);
  measure(meter, true, 19ms, long_ago);
  measure(meter, true, 1ms, Clock::now() - HelpMeter::shortest_pause);
  EXPECT_FALSE(meter.is_paused());
}

// On a crowded machine a caller alone is slow, too.
TEST(HelpMeter, ComparesWithTheSpeedOfTheCallerAlone) {
  HelpMeter meter;
  measure(meter, false, 4ms, Clock::now());
  measure(meter, true, 6ms, Clock::now());
  EXPECT_FALSE(meter.is_paused());
  measure(meter, true, 3ms, Clock::now());
  EXPECT_TRUE(meter.is_paused());
}

}  // namespace
}  // namespace keratin::detail
