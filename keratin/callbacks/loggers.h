#pragma once

#include <filesystem>
#include <functional>

#include "keratin/train/callback.h"

#pragma GCC visibility push(default)

namespace keratin {

struct CSVLoggerOptions {
  std::filesystem::path filename;
  char separator = ',';
  bool append = false;
};
// One line of numbers per epoch.
CallbackPtr CSVLogger(CSVLoggerOptions options);

// The progress bar, in the place of the one that `fit` shows anyway: among other callbacks it can
// be put where it is wanted. It shows what `verbose` says.
CallbackPtr ProgbarLogger();

// Functions instead of a class.
struct LambdaCallbackOptions {
  std::function<void(Training&)> on_train_begin = {};
  std::function<void(Training&, const Logs&)> on_train_end = {};
  std::function<void(Training&, int64_t epoch)> on_epoch_begin = {};
  std::function<void(Training&, int64_t epoch, Logs&)> on_epoch_end = {};
  std::function<void(Training&, int64_t step)> on_train_batch_begin = {};
  std::function<void(Training&, int64_t step, const Logs&)> on_train_batch_end = {};
};
CallbackPtr LambdaCallback(LambdaCallbackOptions options);

}  // namespace keratin

#pragma GCC visibility pop
