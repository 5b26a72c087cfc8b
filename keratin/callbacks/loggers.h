#pragma once

#include <filesystem>
#include <functional>

#include "keratin/base/export.h"
#include "keratin/train/callback.h"

namespace keratin {

struct CSVLoggerOptions {
  std::filesystem::path filename;
  char separator = ',';
  bool append = false;
};
// Writes one line of numbers per epoch.
KERATIN_API CallbackPtr CSVLogger(CSVLoggerOptions options);

// The progress bar, instead of the one that `fit` shows: as a callback it has a position among the
// others. `verbose` sets what it shows.
KERATIN_API CallbackPtr ProgbarLogger();

// A callback made of functions.
struct LambdaCallbackOptions {
  std::function<void(Training&)> on_train_begin = {};
  std::function<void(Training&, const Logs&)> on_train_end = {};
  std::function<void(Training&, int64_t epoch)> on_epoch_begin = {};
  std::function<void(Training&, int64_t epoch, Logs&)> on_epoch_end = {};
  std::function<void(Training&, int64_t step)> on_train_batch_begin = {};
  std::function<void(Training&, int64_t step, const Logs&)> on_train_batch_end = {};
};
KERATIN_API CallbackPtr LambdaCallback(LambdaCallbackOptions options);

}  // namespace keratin
