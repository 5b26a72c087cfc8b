#pragma once

#include "keratin/train/callback.h"

namespace keratin {

// Watches one number of the logs. The mode "min" or "max" decides what is better; with "auto" the
// metric decides.
class Monitor {
 public:
  Monitor(std::string callback, std::string name, std::string mode, double min_delta);

  const std::string& name() const { return name_; }
  // The number; nothing if the logs lack it, after a warning that begins with `complaint`.
  std::optional<double> read(const Logs& logs, std::string_view complaint) const;
  bool improves(const Training& training, double value, std::optional<double> reference) const;

 private:
  std::string callback_, name_, mode_;
  double min_delta_;
};

}  // namespace keratin
