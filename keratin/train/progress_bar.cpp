#include "keratin/train/progress_bar.h"

#include <unistd.h>

#include <cmath>
#include <iomanip>
#include <ostream>
#include <sstream>

namespace keratin {
namespace {

std::string fixed(double value, int digits) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(digits) << value;
  return out.str();
}

std::string per_step(double seconds) {
  if (seconds >= 1 || seconds == 0) return fixed(seconds, 0) + "s/step";
  if (seconds >= 1e-3) return fixed(seconds * 1e3, 0) + "ms/step";
  return fixed(seconds * 1e6, 0) + "us/step";
}

std::string remaining(double seconds) {
  const auto s = static_cast<int64_t>(seconds);
  std::ostringstream out;
  out << std::setfill('0');
  if (seconds > 3600)
    out << s / 3600 << ':' << std::setw(2) << s % 3600 / 60 << ':' << std::setw(2) << s % 60;
  else if (seconds > 60)
    out << s / 60 << ':' << std::setw(2) << s % 60;
  else
    out << s << 's';
  return out.str();
}

std::string values_of(const Logs& logs) {
  std::ostringstream out;
  for (const auto& [name, value] : logs) {
    out << " - " << name << ": ";
    if (std::abs(value) > 1e-3)
      out << fixed(value, 4);
    else
      out << std::scientific << std::setprecision(4) << value;
  }
  return out.str();
}

// The width on a terminal: escapes have none, a character of several bytes has one.
size_t shown_width(const std::string& text) {
  size_t width = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      while (i < text.size() && text[i] != 'm') ++i;
    } else if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) {
      ++width;
    }
  }
  return width;
}

}  // namespace

bool ProgressBar::on_terminal() { return isatty(STDOUT_FILENO) != 0; }

double ProgressBar::steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

ProgressBar::ProgressBar(std::ostream& out, Options options, Clock clock)
    : out_(&out), options_(options), clock_(std::move(clock)), start_(clock_()) {}

bool ProgressBar::due() const {
  return options_.verbose == 1 && options_.dynamic && clock_() - last_update_ >= options_.interval;
}

// The first step compiles: it does not count where there are others.
double ProgressBar::seconds_per_step(int64_t current, double now) {
  if (current == 0) return 0;
  const double mean = after_first_ && current > 1
                          ? (now - *after_first_) / static_cast<double>(current - 1)
                          : (now - start_) / static_cast<double>(current);
  if (current == 1) after_first_ = now;
  return mean;
}

std::string ProgressBar::bar(int64_t current) const {
  std::ostringstream out;
  if (options_.target.value_or(0) <= 0) {
    out << std::setw(7) << current << "/Unknown";
    return out.str();
  }
  const int64_t target = *options_.target;
  const auto digits = static_cast<int>(std::to_string(target).size());
  const std::string bold = options_.dynamic ? "\x1b[1m" : "",
                    plain = options_.dynamic ? "\x1b[0m" : "";
  out << bold << std::setw(digits) << current << '/' << target << plain;
  if (options_.verbose != 1) return out.str();
  const int64_t done = std::min(options_.width * current / target, options_.width);
  const auto line = [&](int64_t width, const char* colour, const char* piece) {
    if (width <= 0) return;
    if (options_.dynamic) out << colour;
    for (int64_t i = 0; i < width; ++i) out << piece;
    out << plain;
  };
  out << ' ';
  line(done, "\x1b[32m", "━");
  line(options_.width - done, "\x1b[37m", "━");
  return out.str();
}

void ProgressBar::update(int64_t current, const Logs& logs, bool last) {
  const double now = clock_();
  const double each = seconds_per_step(current, now);
  if (options_.verbose == 0 || (options_.verbose == 2 && !last)) return;
  if (!last && (!options_.dynamic || now - last_update_ < options_.interval)) return;
  const bool known = options_.target.value_or(0) > 0;
  const std::string bold = options_.dynamic ? "\x1b[1m" : "",
                    plain = options_.dynamic ? "\x1b[0m" : "";
  std::string line = bar(current);
  if (options_.verbose == 2)
    line += " - " + fixed(now - start_, 0) + "s - " + per_step(each);
  else if (known && !last)
    line += ' ' + bold + remaining(each * static_cast<double>(*options_.target - current)) + plain +
            ' ' + per_step(each);
  else
    line += ' ' + bold + fixed(now - start_, 0) + 's' + plain + ' ' + per_step(each);
  line += values_of(logs);
  const size_t width = shown_width(line);
  if (options_.verbose == 1 && options_.dynamic) {
    line.insert(0, "\r");
    if (previous_width_ > width) line.append(previous_width_ - width, ' ');
    previous_width_ = width;
  }
  *out_ << line << (last ? "\n" : "") << std::flush;
  last_update_ = now;
}

}  // namespace keratin
