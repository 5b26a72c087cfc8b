#pragma once

#include <filesystem>

#include "keratin/base/export.h"
#include "keratin/train/callback.h"

namespace keratin {

// When batches are logged: "batch" logs each one, a number n each n-th one, and "epoch" none.
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
  int64_t histogram_freq = 0;  // of the weights, each n-th epoch; 0 for none
  bool write_graph = true;     // the layers of the model
  bool write_steps_per_second = false;
  UpdateFrequency update_freq = "epoch";
};
// Writes event files for TensorBoard to log_dir/train and log_dir/validation, with Keras's tags.
// The numbers of an epoch are always written; Keras loses them if the number of the last batch is
// not a multiple of update_freq.
KERATIN_API CallbackPtr TensorBoard(TensorBoardOptions options = {});

}  // namespace keratin
