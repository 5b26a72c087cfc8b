#pragma once

#include <filesystem>

#include "keratin/base/export.h"
#include "keratin/train/callback.h"

namespace keratin {

struct BackupAndRestoreOptions {
  std::filesystem::path backup_dir;
  std::optional<int64_t> save_freq = {};  // every so many steps; every epoch by default
  bool delete_checkpoint = true;          // when training ends well
};
// Goes on where an earlier run of the same program was cut off, with the same bits as if it never
// had been: weights, optimizer, metrics, random numbers, and the order of the samples.
KERATIN_API CallbackPtr BackupAndRestore(BackupAndRestoreOptions options);

struct ModelCheckpointOptions {
  // A whole model where it ends in .keras, weights where it ends in .weights.h5, .weights.json,
  // .npz or .safetensors; {epoch} and the names of logs are filled in:
  // "{epoch:02d}-{val_loss:.2f}.keras".
  std::string filepath;
  std::string monitor = "val_loss";
  int verbose = 0;
  bool save_best_only = false;
  std::string mode = "auto";
  std::optional<int64_t> save_freq = {};  // every so many steps; every epoch by default
  std::optional<double> initial_value_threshold = {};
};
// Saves the model, or its weights, while it trains.
KERATIN_API CallbackPtr ModelCheckpoint(ModelCheckpointOptions options);

}  // namespace keratin
