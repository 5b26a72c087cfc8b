#pragma once

#include <filesystem>

#include "keratin/base/export.h"
#include "keratin/train/callback.h"

namespace keratin {

// When batches are logged: "batch", every so many of them, or "epoch", never.
class KERATIN_API UpdateFrequency {
 public:
  UpdateFrequency(const char* when) : UpdateFrequency(std::string(when)) {}  // NOLINT
  UpdateFrequency(const std::string& when);                                  // NOLINT
  UpdateFrequency(int batches);                                              // NOLINT

  bool logs_batches() const { return batches_ > 0; }
  bool due(int64_t batch) const { return batches_ > 0 && batch % batches_ == 0; }

 private:
  int64_t batches_ = 0;
};

struct TensorBoardOptions {
  std::filesystem::path log_dir = "logs";
  int64_t histogram_freq = 0;  // of the weights, every so many epochs
  bool write_graph = true;     // the layers of the model
  bool write_steps_per_second = false;
  UpdateFrequency update_freq = "epoch";
};
// Writes what TensorBoard shows: event files in log_dir/train and log_dir/validation, with the tags
// that Keras gives them. What belongs to an epoch is written whatever update_freq is; Keras loses
// it where the number of the last batch is no multiple of update_freq.
KERATIN_API CallbackPtr TensorBoard(TensorBoardOptions options = {});

}  // namespace keratin
