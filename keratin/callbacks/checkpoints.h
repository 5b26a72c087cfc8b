#pragma once

#include <filesystem>

#include "keratin/base/export.h"
#include "keratin/train/callback.h"

namespace keratin {

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

}  // namespace keratin
