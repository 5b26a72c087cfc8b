#include "keratin/callbacks/monitor.h"

#include <cmath>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"

namespace keratin {

Monitor::Monitor(std::string callback, std::string name, std::string mode, double min_delta)
    : callback_(std::move(callback)),
      name_(std::move(name)),
      mode_(std::move(mode)),
      min_delta_(std::abs(min_delta)) {
  require(mode_ == "auto" || mode_ == "min" || mode_ == "max", callback_,
          ": expected the mode auto, min or max, got '", mode_, "'");
}

std::optional<double> Monitor::read(const Logs& logs, std::string_view complaint) const {
  const auto found = logs.find(name_);
  if (found != logs.end()) return found->second;
  std::string known;
  for (const auto& item : logs) known += (known.empty() ? "" : ",") + item.first;
  warn(text(complaint, " conditioned on metric `", name_,
            "` which is not available. Available metrics are: ", known));
  return std::nullopt;
}

bool Monitor::improves(const Training& training, double value,
                       std::optional<double> reference) const {
  if (!reference) return true;
  bool less = mode_ == "min";
  if (mode_ == "auto") {
    const std::string metric = name_.starts_with("val_") ? name_.substr(4) : name_;
    const auto falls = training.trainer.lower_is_better(metric);
    require(falls.has_value(), callback_, " callback received monitor=", name_,
            ", but Keratin cannot tell whether that metric should be maximized or minimized. Pass ",
            "mode \"max\" to monitor the highest value, or \"min\" for the lowest.");
    less = *falls;
  }
  return less ? value + min_delta_ < *reference : value - min_delta_ > *reference;
}

}  // namespace keratin
