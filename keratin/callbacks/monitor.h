#pragma once

#include "keratin/train/callback.h"

namespace keratin {

// Watches one number of the logs: whether it got better is decided by its mode, "min", "max", or
// "auto", which asks the metric.
class Monitor {
 public:
  Monitor(std::string callback, std::string name, std::string mode, double min_delta);

  const std::string& name() const { return name_; }
  // The number, or nothing and a warning that begins so.
  std::optional<double> read(const Logs& logs, std::string_view complaint) const;
  bool improves(const Training& training, double value, std::optional<double> reference) const;

 private:
  std::string callback_, name_, mode_;
  double min_delta_;
};

}  // namespace keratin
