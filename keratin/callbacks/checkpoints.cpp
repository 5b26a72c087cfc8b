#include "keratin/callbacks/callbacks.h"

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "keratin/base/text.h"
#include "keratin/callbacks/monitor.h"
#include "keratin/data/npy.h"
#include "keratin/io/keras_file.h"
#include "keratin/io/weights_file.h"

namespace keratin {
namespace {

// A variable's number in a backup, such as "000007".
std::string number_of(size_t i) {
  const std::string digits = std::to_string(i);
  return std::string(digits.size() < 6 ? 6 - digits.size() : 0, '0') + digits;
}
// The name of a variable in a backup: its number, which identifies it, and its path for readers.
std::string key_of(size_t i, const Variable& v) { return number_of(i) + '/' + v.path(); }

// NumPy has no bfloat16; f32 represents all its values.
Tensor storable(const Tensor& t) { return t.dtype() == DType::bf16 ? t.cast(DType::f32) : t; }

std::map<std::string, Tensor> gathered(const std::vector<Variable>& variables) {
  std::map<std::string, Tensor> out;
  for (size_t i = 0; i < variables.size(); ++i)
    out.emplace(key_of(i, variables[i]), storable(variables[i].value()));
  return out;
}

// Restores all variables, or throws and changes none.
void restore(const std::vector<Variable>& variables, const std::map<std::string, Tensor>& saved,
             const std::string& who) {
  std::vector<Tensor> values;
  for (size_t i = 0; i < variables.size(); ++i) {
    const auto found = saved.lower_bound(number_of(i));
    require(found != saved.end() && found->first.starts_with(number_of(i) + '/'), who,
            ": expected a value for '", variables[i].path(), "'; the backup is of another model");
    require(found->second.shape() == variables[i].shape(), who, ": '", variables[i].path(),
            "': expected shape ", variables[i].shape(), ", got ", found->second.shape(), " from '",
            found->first, "'");
    values.push_back(found->second);
  }
  for (size_t i = 0; i < variables.size(); ++i) variables[i].assign(values[i]);
}

// The entry of a backup with epoch, step and shuffle seed.
constexpr const char* position_key = "place";

class BackupAndRestoreCallback final : public Callback {
 public:
  explicit BackupAndRestoreCallback(BackupAndRestoreOptions options)
      : options_(std::move(options)), file_(options_.backup_dir / "latest.npz") {
    require(!options_.backup_dir.empty(), "BackupAndRestore: expected a folder as backup_dir");
    require(options_.save_freq.value_or(1) > 0,
            "BackupAndRestore: expected a positive save_freq, got ",
            options_.save_freq.value_or(1));
  }
  bool reads_batch_logs() const override { return options_.save_freq.has_value(); }

  void on_train_begin(Training& training) override {
    std::filesystem::create_directories(options_.backup_dir);
    since_ = 0;
    if (!std::filesystem::exists(file_)) return;
    const auto saved = read_npz(file_);
    const auto position = saved.find(position_key);
    require(position != saved.end() && position->second.dtype() == DType::i64 &&
                position->second.count() == 3,
            file_.string(), ": expected a backup of a training run");
    restore(training.trainer.state(), saved, file_.string());
    const auto at = position->second.data<int64_t>();
    training.epoch = at[0];
    training.step = at[1];
    training.shuffle_seed = static_cast<uint64_t>(at[2]);
  }
  void on_train_batch_end(Training& training, int64_t, const Logs&) override {
    if (!options_.save_freq || ++since_ < *options_.save_freq) return;
    since_ = 0;
    save(training, training.epoch, training.step);
  }
  void on_epoch_end(Training& training, int64_t epoch, Logs&) override {
    if (!options_.save_freq) save(training, epoch + 1, 0);
  }
  void on_train_end(Training&, const Logs&) override {
    if (options_.delete_checkpoint) std::filesystem::remove(file_);
  }

 private:
  void save(const Training& training, int64_t epoch, int64_t step) const {
    auto all = gathered(training.trainer.state());
    all.emplace(
        position_key,
        Tensor::of(DType::i64, {3},
                   std::vector<int64_t>{epoch, step, static_cast<int64_t>(training.shuffle_seed)}));
    write_npz(file_, all);
  }

  BackupAndRestoreOptions options_;
  std::filesystem::path file_;
  int64_t since_ = 0;
};

class ModelCheckpointCallback final : public Callback {
 public:
  explicit ModelCheckpointCallback(ModelCheckpointOptions options)
      : options_(std::move(options)),
        monitor_("ModelCheckpoint", options_.monitor, options_.mode, 0),
        best_(options_.initial_value_threshold) {
    require(saves_model() || io::is_weights_file(options_.filepath),
            "ModelCheckpoint: the filepath must end in .keras for a whole model, or in ",
            io::weights_suffixes, " for its weights. Received: filepath=", options_.filepath);
    require(options_.save_freq.value_or(1) > 0,
            "ModelCheckpoint: expected a positive save_freq, got ", options_.save_freq.value_or(1));
  }
  bool reads_batch_logs() const override { return options_.save_freq.has_value(); }

  void on_train_batch_end(Training& training, int64_t, const Logs& logs) override {
    if (options_.save_freq && ++since_ >= *options_.save_freq) save(training, logs);
  }
  void on_epoch_end(Training& training, int64_t, Logs& logs) override {
    if (!options_.save_freq) save(training, logs);
  }

 private:
  void save(const Training& training, const Logs& logs) {
    since_ = 0;
    const std::string path = filled(training.epoch, logs);
    if (options_.save_best_only) {
      const auto current = monitor_.read(logs, "Saving the best model only is");
      if (!current || !monitor_.improves(training, *current, best_)) return;
      if (options_.verbose > 0)
        std::cout << "\nEpoch " << training.epoch + 1 << ": " << monitor_.name() << " improved to "
                  << *current << ", saving model to " << path << '\n';
      best_ = current;
    } else if (options_.verbose > 0) {
      std::cout << "\nEpoch " << training.epoch + 1 << ": saving model to " << path << '\n';
    }
    if (const auto folder = std::filesystem::path(path).parent_path(); !folder.empty())
      std::filesystem::create_directories(folder);
    const OptimizerState& optimizer = training.optimizer();
    if (saves_model())
      io::write_keras(path, *training.model(), &training.trainer);
    else
      io::write_weights_file(path, *training.model(), optimizer.built() ? &optimizer : nullptr);
  }
  bool saves_model() const { return options_.filepath.ends_with(".keras"); }

  // Fills in {epoch}, {epoch:02d} and {val_loss:.2f}: Python's formats of integers and of numbers
  // with fixed precision.
  std::string filled(int64_t epoch, const Logs& logs) const {
    std::string out;
    const std::string& path = options_.filepath;
    for (size_t i = 0; i < path.size();) {
      const size_t close = path[i] == '{' ? path.find('}', i) : std::string::npos;
      if (close == std::string::npos) {
        out += path[i++];
        continue;
      }
      std::string name = path.substr(i + 1, close - i - 1), format;
      if (const size_t colon = name.find(':'); colon != std::string::npos) {
        format = name.substr(colon + 1);
        name.resize(colon);
      }
      out += formatted(name, format, epoch, logs);
      i = close + 1;
    }
    return out;
  }
  static std::string formatted(const std::string& name, const std::string& format, int64_t epoch,
                               const Logs& logs) {
    char buffer[64];
    if (name == "epoch") {
      const int width = format.empty() ? 0 : std::atoi(format.c_str());
      std::snprintf(buffer, sizeof buffer, format.starts_with('0') ? "%0*lld" : "%*lld",
                    std::clamp(width, 0, 32), static_cast<long long>(epoch) + 1);
      return buffer;
    }
    const auto found = logs.find(name);
    require(found != logs.end(), "ModelCheckpoint: the filepath names '", name,
            "', which is not in the logs");
    const int digits = format.starts_with('.') ? std::atoi(format.c_str() + 1) : 6;
    std::snprintf(buffer, sizeof buffer, "%.*f", std::clamp(digits, 0, 20), found->second);
    return buffer;
  }

  ModelCheckpointOptions options_;
  Monitor monitor_;
  std::optional<double> best_;
  int64_t since_ = 0;
};

}  // namespace

CallbackPtr BackupAndRestore(BackupAndRestoreOptions options) {
  return std::make_shared<BackupAndRestoreCallback>(std::move(options));
}

CallbackPtr ModelCheckpoint(ModelCheckpointOptions options) {
  return std::make_shared<ModelCheckpointCallback>(std::move(options));
}

}  // namespace keratin
