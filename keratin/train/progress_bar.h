#pragma once

#include <chrono>
#include <iosfwd>
#include <optional>
#include <string>

#include "keratin/base/export.h"
#include "keratin/train/options.h"

namespace keratin {

// Keras's progress bar: 12/100 ━━━━━━━━━━━━━━━━━━━━ 3s 41ms/step - loss: 0.1234. On a terminal it
// moves; elsewhere only its last state is written, as a plain line.
class KERATIN_API ProgressBar {
 public:
  static bool on_terminal();  // is the standard output one?

  struct Options {
    std::optional<int64_t> target = {};  // number of steps, where known
    int verbose = 1;
    bool dynamic = on_terminal();  // may go back on the line, with colours
    int64_t width = 20;
    double interval = 0.05;  // seconds between updates
  };
  // Seconds since some time; tests pass their own clock.
  using Clock = std::function<double()>;

  ProgressBar(std::ostream& out, Options options, Clock clock = steady_seconds);
  void update(int64_t current, const Logs& logs, bool last = false);
  // Whether `update` would show something; if not, callers need not make logs.
  bool due() const;

  static double steady_seconds();

 private:
  std::string bar(int64_t current) const;
  double seconds_per_step(int64_t current, double now);

  std::ostream* out_;
  Options options_;
  Clock clock_;
  double start_, last_update_ = -1e9;
  std::optional<double> after_first_;
  size_t previous_width_ = 0;
};

}  // namespace keratin
