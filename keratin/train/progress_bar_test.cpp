#include "keratin/train/progress_bar.h"

#include <gtest/gtest.h>

#include <sstream>

namespace keratin {
namespace {

struct Shown {
  std::ostringstream out;
  double now = 0;
  ProgressBar bar;
  explicit Shown(ProgressBar::Options options) : bar(out, options, [this] { return now; }) {}
  std::string at(double time, int64_t step, const Logs& logs, bool last = false) {
    now = time;
    out.str("");
    bar.update(step, logs, last);
    return out.str();
  }
};

TEST(ProgressBar, MovesOnATerminal) {
  Shown shown({.target = 10, .dynamic = true});
  EXPECT_EQ(shown.at(0.5, 1, {{"loss", 0.25}}),
            "\r\x1b[1m 1/10\x1b[0m \x1b[32m━━\x1b[0m\x1b[37m━━━━━━━━━━━━━━━━━━\x1b[0m "
            "\x1b[1m4s\x1b[0m 500ms/step - loss: 0.2500");
  EXPECT_EQ(shown.at(0.52, 2, {}), "") << "too soon";
  // The first step, which compiles, does not count for the mean.
  EXPECT_EQ(shown.at(0.9, 5, {{"accuracy", 0.5}, {"loss", 2e-5}}),
            "\r\x1b[1m 5/10\x1b[0m \x1b[32m━━━━━━━━━━\x1b[0m\x1b[37m━━━━━━━━━━\x1b[0m "
            "\x1b[1m0s\x1b[0m 100ms/step - accuracy: 0.5000 - loss: 2.0000e-05");
  // A shorter line covers the longer one before it.
  EXPECT_EQ(shown.at(1.4, 10, {{"loss", 0.1}}, true),
            "\r\x1b[1m10/10\x1b[0m \x1b[32m━━━━━━━━━━━━━━━━━━━━\x1b[0m "
            "\x1b[1m1s\x1b[0m 100ms/step - loss: 0.1000                       \n");
}

TEST(ProgressBar, IsAPlainLineElsewhere) {
  Shown shown({.target = 3, .dynamic = false});
  EXPECT_EQ(shown.at(1, 1, {{"loss", 1}}), "");
  EXPECT_EQ(shown.at(9, 3, {{"loss", 1}}, true),
            "3/3 ━━━━━━━━━━━━━━━━━━━━ 9s 4s/step - loss: 1.0000\n");
}

TEST(ProgressBar, WritesALinePerEpoch) {
  Shown shown({.target = 3, .verbose = 2, .dynamic = false});
  EXPECT_EQ(shown.at(1, 1, {{"loss", 1}}), "");
  EXPECT_EQ(shown.at(1.2, 3, {{"loss", 1}}, true), "3/3 - 1s - 100ms/step - loss: 1.0000\n");
}

TEST(ProgressBar, WorksWithoutATarget) {
  Shown shown({.dynamic = false});
  EXPECT_EQ(shown.at(0.0005, 5, {}, true), "      5/Unknown 0s 100us/step\n");
}

TEST(ProgressBar, FormatsLongTimes) {
  Shown shown({.target = 100, .dynamic = true});
  EXPECT_NE(shown.at(40, 1, {}).find("1:06:00"), std::string::npos);
  EXPECT_NE(shown.at(41, 2, {}).find("\x1b[1m1:38\x1b[0m 1s/step"), std::string::npos);
}

}  // namespace
}  // namespace keratin
