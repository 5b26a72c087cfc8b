#pragma once

#include "keratin/base/export.h"
#include "keratin/train/callback.h"

namespace keratin {

struct EarlyStoppingOptions {
  std::string monitor = "val_loss";
  double min_delta = 0;
  int64_t patience = 0;
  int verbose = 0;
  std::string mode = "auto";
  std::optional<double> baseline = {};
  bool restore_best_weights = false;
  int64_t start_from_epoch = 0;
};
// Ends training when a number has not got better for `patience` epochs.
KERATIN_API CallbackPtr EarlyStopping(EarlyStoppingOptions options = {});

// Ends training when the loss is NaN or infinite.
KERATIN_API CallbackPtr TerminateOnNaN();

}  // namespace keratin
