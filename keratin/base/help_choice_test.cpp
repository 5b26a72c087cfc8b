#include "keratin/base/help_choice.h"

#include <gtest/gtest.h>

namespace keratin {
namespace {

using detail::HelpChoice;
using std::chrono::microseconds;

// A program whose calls take so long with help and without.
class Calls {
 public:
  Calls(microseconds helped, microseconds alone) : helped_(helped), alone_(alone) {}

  void now_take(microseconds helped, microseconds alone) { helped_ = helped, alone_ = alone; }
  // The share of `count` calls that ask for help.
  double helped_share(int count) {
    int helped = 0;
    for (int i = 0; i < count; ++i) helped += call();
    return static_cast<double>(helped) / count;
  }
  // The time of `count` calls, over that of the better way.
  double loss(int count) {
    const auto start = now_;
    for (int i = 0; i < count; ++i) call();
    return double((now_ - start).count()) /
           double(std::chrono::nanoseconds(std::min(helped_, alone_)).count() * count);
  }

 private:
  bool call() {
    const bool helped = choice_.asks_for_help(now_);
    const microseconds wall = helped ? helped_ : alone_;
    now_ += wall;
    choice_.add(helped, wall, now_);
    return helped;
  }

  HelpChoice choice_;
  HelpChoice::Clock::time_point now_ = HelpChoice::Clock::now();
  microseconds helped_, alone_;
};

TEST(HelpChoice, TakesHelpWhereItIsFaster) {
  Calls calls(microseconds(600), microseconds(1000));
  calls.helped_share(10);
  EXPECT_GT(calls.helped_share(1000), 0.99);
  EXPECT_LT(calls.loss(10000), 1.005);
}

TEST(HelpChoice, WorksAloneWhileHelpIsSlower) {
  Calls calls(microseconds(2000), microseconds(1000));
  calls.helped_share(10);
  EXPECT_LT(calls.helped_share(1000), 0.03);
  EXPECT_LT(calls.loss(10000), 1.05);
}

TEST(HelpChoice, FollowsTheMachine) {
  Calls calls(microseconds(600), microseconds(1000));
  calls.helped_share(100);
  calls.now_take(microseconds(5000), microseconds(1500));  // it has become busy
  EXPECT_LT(calls.helped_share(20), 0.5);
  EXPECT_LT(calls.loss(1000), 1.15);
  calls.now_take(microseconds(600), microseconds(1000));
  calls.helped_share(500);
  EXPECT_GT(calls.helped_share(1000), 0.99);
}

}  // namespace
}  // namespace keratin
