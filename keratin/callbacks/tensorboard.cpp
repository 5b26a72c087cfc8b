#include "keratin/callbacks/callbacks.h"

#include <algorithm>
#include <chrono>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/callbacks/event_writer.h"
#include "keratin/graph/functional.h"

namespace keratin {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::max(std::chrono::duration<double>(Clock::now() - start).count(), 1e-9);
}

std::vector<LayerPtr> layers_of(const Layer& model) {
  if (const auto* graph = dynamic_cast<const ModelLayer*>(&model)) return graph->layers();
  std::vector<LayerPtr> layers;
  for (const Layer::Sublayer& sub : model.sublayers()) layers.push_back(sub.layer);
  return layers;
}

class TensorBoardCallback final : public Callback {
 public:
  explicit TensorBoardCallback(TensorBoardOptions options) : options_(std::move(options)) {
    require(!options_.log_dir.empty(), "TensorBoard: expected a folder as log_dir");
    require(options_.histogram_freq >= 0,
            "TensorBoard: expected a histogram_freq of 0 or more, got ", options_.histogram_freq);
  }
  bool reads_batch_logs() const override { return options_.update_freq.logs_batches(); }

  void on_train_begin(Training& training) override {
    in_training_ = true;
    train_batches_ = 0;
    validation_.reset();
    train_.emplace(options_.log_dir / "train");
    if (options_.write_graph) write_graph(*training.model());
    train_->flush();
  }
  void on_train_end(Training&, const Logs&) override {
    in_training_ = false;
    train_.reset();
    validation_.reset();
  }

  void on_epoch_begin(Training& training, int64_t) override {
    epoch_start_ = Clock::now();
    iterations_before_ = training.optimizer().iterations();
  }
  void on_epoch_end(Training& training, int64_t epoch, Logs& logs) override {
    for (const auto& [name, value] : logs) {
      const bool validated = name.starts_with("val_");
      if (name == "learning_rate") continue;  // another callback's; written below
      (validated ? validation() : *train_)
          .scalar("epoch_" + (validated ? name.substr(4) : name), value, epoch);
    }
    write_learning_rates(training.optimizer(), epoch);
    if (options_.write_steps_per_second) {
      const auto steps =
          static_cast<double>(training.optimizer().iterations() - iterations_before_);
      train_->scalar("epoch_steps_per_second", steps / seconds_since(epoch_start_), epoch);
    }
    if (options_.histogram_freq > 0 && epoch % options_.histogram_freq == 0)
      write_weights(*training.model(), epoch);
    train_->flush();
    if (validation_) validation_->flush();
  }

  void on_train_batch_begin(Training&, int64_t) override {
    ++train_batches_;
    batch_start_ = Clock::now();
  }
  void on_train_batch_end(Training&, int64_t, const Logs& logs) override {
    if (!options_.update_freq.due(train_batches_)) return;
    if (options_.write_steps_per_second)
      train_->scalar("batch_steps_per_second", 1 / seconds_since(batch_start_), train_batches_);
    for (const auto& [name, value] : logs) train_->scalar("batch_" + name, value, train_batches_);
    train_->flush();
  }

  void on_test_end(Training& training, const Logs& logs) override {
    for (const auto& [name, value] : logs)
      validation().scalar("evaluation_" + name + "_vs_iterations", value,
                          training.optimizer().iterations());
    validation().flush();
    if (!in_training_) validation_.reset();
  }

 private:
  // The writer for validation, made on first use: not every training has a validation.
  EventWriter& validation() {
    if (!validation_) validation_.emplace(options_.log_dir / "validation");
    return *validation_;
  }

  void write_graph(const Layer& model) {
    if (dynamic_cast<const ModelLayer*>(&model) == nullptr) return;
    try {
      train_->keras_model("keras", serialize_layer(model).dump(), 0);
    } catch (const UserError& error) {  // such as a layer without a config
      warn(text("TensorBoard: the model has no JSON, so its graph is not written: ", error.what()));
    }
  }

  void write_learning_rates(const OptimizerState& optimizer, int64_t epoch) {
    const auto* several = dynamic_cast<const MultiOptimizerState*>(&optimizer);
    if (several == nullptr) {
      train_->scalar("epoch_learning_rate", optimizer.learning_rate(), epoch);
      return;
    }
    const OptimizerMap& optimizers = several->config().optimizer_map;
    std::map<std::string, double> rates = {
        {optimizers.default_optimizer->name(), optimizers.default_optimizer->learning_rate()}};
    for (const auto& [pattern, inner] : optimizers.optimizer_map)
      rates[inner->name()] = inner->learning_rate();
    for (const auto& [name, rate] : rates)
      train_->scalar("epoch_learning_rate_" + name, rate, epoch);
  }

  void write_weights(const Layer& model, int64_t epoch) {
    for (const LayerPtr& layer : layers_of(model))
      for (const Variable& weight : layer->weights()) {
        std::string tag = weight.path();
        std::replace(tag.begin(), tag.end(), ':', '_');
        train_->histogram(tag + "/histogram", weight.value(), epoch);
      }
  }

  TensorBoardOptions options_;
  std::optional<EventWriter> train_, validation_;
  bool in_training_ = false;
  int64_t train_batches_ = 0, iterations_before_ = 0;
  Clock::time_point epoch_start_, batch_start_;
};

}  // namespace

UpdateFrequency::UpdateFrequency(const std::string& when) : batches_(when == "batch" ? 1 : 0) {
  require(when == "batch" || when == "epoch",
          "TensorBoard: expected update_freq \"batch\", \"epoch\" or a number, got \"", when, "\"");
}

UpdateFrequency::UpdateFrequency(int batches) : batches_(batches) {
  require(batches > 0, "TensorBoard: expected a positive update_freq, got ", batches);
}

CallbackPtr TensorBoard(TensorBoardOptions options) {
  return std::make_shared<TensorBoardCallback>(std::move(options));
}

}  // namespace keratin
