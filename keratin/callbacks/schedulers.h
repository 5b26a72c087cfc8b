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
// Lowers the learning rate when a number has stopped getting better.
KERATIN_API CallbackPtr ReduceLROnPlateau(ReduceLROnPlateauOptions options = {});

// The learning rate of each epoch, from its number and the rate so far.
KERATIN_API CallbackPtr
LearningRateScheduler(std::function<double(int64_t epoch, double rate)> schedule, int verbose = 0);

// Evaluates, and at the end of each epoch saves, with the averages of the weights; trains on with
// the weights themselves. The optimizer keeps averages with use_ema.
KERATIN_API CallbackPtr SwapEMAWeights(bool swap_on_epoch = false);

}  // namespace keratin
