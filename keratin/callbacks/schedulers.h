#pragma once

#include <functional>

#include "keratin/base/export.h"
#include "keratin/train/callback.h"

namespace keratin {

struct ReduceLROnPlateauOptions {
  std::string monitor = "val_loss";
  double factor = 0.1;
  int64_t patience = 10;
  int verbose = 0;
  std::string mode = "auto";
  double min_delta = 1e-4;
  int64_t cooldown = 0;
  double min_lr = 0;
};
// Lowers the learning rate when a number no longer gets better.
KERATIN_API CallbackPtr ReduceLROnPlateau(ReduceLROnPlateauOptions options = {});

// Sets the learning rate of each epoch from the epoch's number and the rate before.
KERATIN_API CallbackPtr
LearningRateScheduler(std::function<double(int64_t epoch, double rate)> schedule, int verbose = 0);

// Puts the averages of the weights, which an optimizer with use_ema keeps, into the model for
// validation or, with swap_on_epoch, at the end of each epoch. Training continues with the weights
// themselves.
KERATIN_API CallbackPtr SwapEMAWeights(bool swap_on_epoch = false);

}  // namespace keratin
