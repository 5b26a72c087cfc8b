#pragma once

#include <filesystem>
#include <functional>

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

struct BackupAndRestoreOptions {
  std::filesystem::path backup_dir;
  std::optional<int64_t> save_freq = {};  // in steps; by default, each epoch
  bool delete_checkpoint = true;          // when training ends without an error
};
// Continues training where an earlier run of the program was interrupted, with the same bits as an
// uninterrupted run: weights, optimizer, metrics, random numbers, and the order of samples.
KERATIN_API CallbackPtr BackupAndRestore(BackupAndRestoreOptions options);

struct ModelCheckpointOptions {
  // Ends in .keras for a whole model, or in .weights.h5, .weights.json, .npz or .safetensors for
  // its weights. {epoch} and the names of logs are filled in: "{epoch:02d}-{val_loss:.2f}.keras".
  std::string filepath;
  std::string monitor = "val_loss";
  int verbose = 0;
  bool save_best_only = false;
  std::string mode = "auto";
  std::optional<int64_t> save_freq = {};  // in steps; by default, each epoch
  std::optional<double> initial_value_threshold = {};
};
// Saves the model, or its weights, during training.
KERATIN_API CallbackPtr ModelCheckpoint(ModelCheckpointOptions options);

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
  std::function<void(Training&)> on_test_begin = {};
  std::function<void(Training&, const Logs&)> on_test_end = {};
  std::function<void(Training&, int64_t step)> on_test_batch_begin = {};
  std::function<void(Training&, int64_t step, const Logs&)> on_test_batch_end = {};
  std::function<void(Prediction&)> on_predict_begin = {};
  std::function<void(Prediction&)> on_predict_end = {};
  std::function<void(Prediction&, int64_t step)> on_predict_batch_begin = {};
  std::function<void(Prediction&, int64_t step, const Tree<Tensor>&)> on_predict_batch_end = {};
};
KERATIN_API CallbackPtr LambdaCallback(LambdaCallbackOptions options);

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
