#include "keratin/base/warning.h"
#include "keratin/base/text.h"

#include <algorithm>
#include <exception>
#include <iostream>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace keratin {
namespace {

std::mutex handler_lock;

WarningHandler& current_handler() {
  static WarningHandler handler = [](const std::string& message) {
    std::cerr << "warning: " << message << '\n';
  };
  return handler;
}

void say(const std::string& message) {
  WarningHandler handler;
  {
    const std::lock_guard guard(handler_lock);
    handler = current_handler();
  }
  if (handler) handler(message);
}

// Warnings of one kind.
struct Kind {
  std::string who, what;            // of the first
  std::vector<std::string> others;  // a few that it is about, too
  bool more_others = false;
  size_t count = 1;

  std::string message() const {
    std::string out = who + what;
    if (count == 1) return out;
    if (others.empty()) return out + text(" (", count, " times)");
    out += text(" (", count, " times in all; also ");
    for (size_t i = 0; i < others.size(); ++i) out += text(i == 0 ? "" : ", ", others[i]);
    return out + (more_others ? ", ...)" : ")");
  }
  void add(const std::string& another) {
    constexpr size_t named = 2;
    ++count;
    if (another == who || std::find(others.begin(), others.end(), another) != others.end()) return;
    if (others.size() < named)
      others.push_back(another);
    else
      more_others = true;
  }
};

// Hostile files have any number of kinds.
constexpr size_t max_kinds = 50;

class Gathered {
 public:
  void add(const std::string& who, const std::string& what) {
    const auto found = places_.find(what);
    if (found != places_.end()) return kinds_[found->second].add(who);
    if (kinds_.size() == max_kinds) {
      ++unsaid_;
      return;
    }
    places_.emplace(what, kinds_.size());
    kinds_.push_back({.who = who, .what = what});
  }
  void say_all() const {
    for (const Kind& kind : kinds_) say(kind.message());
    if (unsaid_ > 0) say(text("and ", unsaid_, " more warnings"));
  }

 private:
  std::vector<Kind> kinds_;
  std::unordered_map<std::string, size_t> places_;
  size_t unsaid_ = 0;
};

thread_local std::optional<Gathered> gathered;

}  // namespace

void warn(const std::string& message) { detail::warn_about({}, message); }

void detail::warn_about(const std::string& who, const std::string& what) {
  if (gathered)
    gathered->add(who, what);
  else
    say(who + what);
}

void detail::warn_of_unknown_key(std::string_view who, std::string_view key) {
  detail::warn_about(std::string(who),
                     text(": the config key '", key, "' is not known and was ignored"));
}

WarningScope::WarningScope()
    : outermost_(!gathered.has_value()), errors_(std::uncaught_exceptions()) {
  if (outermost_) gathered.emplace();
}

WarningScope::~WarningScope() noexcept(false) {
  if (!outermost_) return;
  const Gathered all = std::move(*gathered);
  gathered.reset();
  try {
    all.say_all();
  } catch (...) {
    if (std::uncaught_exceptions() == errors_) throw;
  }
}

WarningHandler set_warning_handler(WarningHandler handler) {
  const std::lock_guard guard(handler_lock);
  return std::exchange(current_handler(), std::move(handler));
}

}  // namespace keratin
