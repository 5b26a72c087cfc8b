#include "keratin/train/fit.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <utility>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/graph/next_seed.h"
#include "keratin/train/interrupt.h"
#include "keratin/train/progress_bar.h"

namespace keratin {
namespace {

class Callbacks {
 public:
  Callbacks(std::vector<CallbackPtr> all, Training& training)
      : all_(std::move(all)), training_(training) {
    for (const CallbackPtr& c : all_)
      require(c != nullptr, "fit: callbacks[", &c - all_.data(), "] is null");
    reads_ = std::any_of(all_.begin(), all_.end(),
                         [](const CallbackPtr& c) { return c->reads_batch_logs(); });
  }
  template <class Method, class... Args>
  void call(Method method, Args&&... args) const {
    for (const CallbackPtr& c : all_) ((*c).*method)(training_, args...);
  }
  bool reads_batch_logs() const { return reads_; }
  bool show_progress() const {
    return std::any_of(all_.begin(), all_.end(),
                       [](const CallbackPtr& c) { return c->shows_progress(); });
  }

 private:
  std::vector<CallbackPtr> all_;
  Training& training_;
  bool reads_ = false;
};

// The rows before an index, and the rows from it on.
std::pair<Batch, Batch> split_rows(const Batch& all, int64_t border) {
  const auto slice = [](const Tensor& t, int64_t from, int64_t to) {
    Dims dims = t.shape().dims();
    const size_t row = t.bytes() / static_cast<size_t>(std::max<int64_t>(dims[0], 1));
    dims[0] = to - from;
    Tensor rows(t.dtype(), dims);
    std::copy_n(t.buffer().data() + row * static_cast<size_t>(from),
                row * static_cast<size_t>(to - from), rows.buffer().data());
    return rows;
  };
  const int64_t rows = all.size();
  return {all.map([&](const Tensor& t) { return slice(t, 0, border); }),
          all.map([&](const Tensor& t) { return slice(t, border, rows); })};
}

void check(const FitOptions& options) {
  require(options.batch_size > 0, "fit: `batch_size` must be positive, got ", options.batch_size);
  require(options.epochs >= 0, "fit: `epochs` must not be negative, got ", options.epochs);
  require(options.validation_split >= 0 && options.validation_split < 1,
          "fit: `validation_split` must be in [0, 1), got ", options.validation_split);
  require(options.validation_freq > 0, "fit: `validation_freq` must be positive, got ",
          options.validation_freq);
  require(options.verbose >= 0 && options.verbose <= 2, "fit: `verbose` must be 0, 1 or 2, got ",
          options.verbose);
}

// Nothing if there is no batch.
std::optional<Logs> run_test(Training& training, const Dataset& data, std::optional<int64_t> limit,
                             const Callbacks& callbacks, ProgressBar* bar) {
  Trainer& trainer = training.trainer;
  const auto stream = data.stream();
  Batch batch;
  if (limit.value_or(1) < 1 || !stream->next(batch)) return std::nullopt;
  trainer.reset_metrics();
  training.stop_evaluating = false;
  callbacks.call(&Callback::on_test_begin);
  int64_t step = 0;
  do {
    callbacks.call(&Callback::on_test_batch_begin, step);
    trainer.test(batch);
    ++step;
    if (callbacks.reads_batch_logs())
      callbacks.call(&Callback::on_test_batch_end, step - 1, trainer.logs());
    if (bar != nullptr) bar->update(step, bar->due() ? trainer.logs() : Logs{});
  } while (!training.stop_evaluating && (!limit || step < *limit) && stream->next(batch));
  const Logs logs = trainer.logs();
  if (bar != nullptr) bar->update(step, logs, true);
  callbacks.call(&Callback::on_test_end, logs);
  return logs;
}

// The stream of a training run, with one batch read ahead.
class BatchReader {
 public:
  BatchReader(const FitData& data, const FitOptions& options, uint64_t seed)
      : data_(data), options_(options), batches_(data.train(seed)) {
    stream_ = batches_.stream(options.initial_epoch);
  }

  // Whether there is another batch; reads it ahead.
  bool ready() { return waiting_ = waiting_ || stream_->next(batch_); }
  // Makes it the current batch; false at the end.
  bool next() {
    const bool more = ready();
    waiting_ = false;
    return more;
  }
  const Batch& batch() const { return batch_; }
  std::optional<int64_t> size() const { return batches_.size(); }

  // With a fixed number of steps, an epoch continues where the last one ended.
  void begin_epoch(int64_t epoch) {
    if (!fresh_ && !options_.steps_per_epoch) {
      stream_ = batches_.stream(epoch);
      waiting_ = false;
    }
    fresh_ = false;
  }

  // Continues an interrupted run, whose order of samples came from this seed.
  void go_to(int64_t epoch, int64_t step, uint64_t seed) {
    const int64_t steps = options_.steps_per_epoch.value_or(0);
    int64_t before = (epoch - options_.initial_epoch) * steps + step;
    if (data_.one_pass) {  // the new process has begun it again, and read a batch ahead
      if (before > 0 && std::exchange(waiting_, false)) --before;
    } else {
      batches_ = data_.train(seed);
      stream_ = batches_.stream(steps > 0 ? options_.initial_epoch : epoch);
      waiting_ = false;
    }
    stream_->skip(before);
  }

 private:
  const FitData& data_;
  const FitOptions& options_;
  Dataset batches_;
  std::unique_ptr<Stream> stream_;
  Batch batch_;
  bool waiting_ = false, fresh_ = true;
};

void warn_of_missing_data() {
  warn(text("Your input ran out of data; interrupting training. Make sure that your dataset or ",
            "generator can generate at least `steps_per_epoch * epochs` batches. You may need to ",
            "use `.repeat()` when building your dataset."));
}

// The remaining batches of one epoch; training.step counts them.
void run_epoch(Training& training, BatchReader& reader, const FitOptions& options,
               const Callbacks& callbacks, ProgressBar& bar, bool& interrupted) {
  Trainer& trainer = training.trainer;
  const auto& limit = options.steps_per_epoch;
  const auto wanted = [&] { return !limit || training.step < *limit; };
  // Callbacks are called only if there is a batch.
  while (!training.stop_training && !interrupted && wanted() && reader.ready()) {
    callbacks.call(&Callback::on_train_batch_begin, training.step);
    for (int64_t i = 0; i < trainer.options().steps_per_execution && wanted() && reader.next();
         ++i) {
      trainer.train(reader.batch());
      ++training.step;
    }
    if (callbacks.reads_batch_logs())
      callbacks.call(&Callback::on_train_batch_end, training.step - 1, trainer.logs());
    if (bar.due()) bar.update(training.step, trainer.logs());
    interrupted = InterruptScope::requested();
  }
  if (training.stop_training || interrupted || !limit || training.step >= *limit) return;
  warn_of_missing_data();
  training.stop_training = true;
}

}  // namespace

const std::vector<double>& History::operator[](const std::string& name) const {
  const auto found = history.find(name);
  require(found != history.end(), "History: there is no entry '", name, "'");
  return found->second;
}

void History::on_epoch_end(Training&, int64_t number, Logs& logs) {
  epoch.push_back(number);
  for (const auto& [name, value] : logs) history[name].push_back(value);
}

Batch with_class_weight(Batch batch, const std::map<int64_t, double>& class_weight) {
  if (class_weight.empty()) return batch;
  require(batch.y.is_leaf(), "`class_weight` is only supported for Models with a single output.");
  const Tensor y = batch.y.leaf();
  const Shape& shape = y.shape();
  const bool one_hot = shape.rank() > 1 && shape[shape.rank() - 1] > 1;
  const int64_t width = one_hot || shape.rank() == 0 ? shape[shape.rank() - 1] : 1;
  require(shape.rank() <= 2, "`class_weight` not supported for 3+ dimensional targets.");
  Tensor weights(DType::f32, {shape[0]});
  for (int64_t row = 0; row < shape[0]; ++row) {
    int64_t label = 0;
    if (one_hot) {
      for (int64_t i = 1; i < width; ++i)
        if (y.at(row * width + i) > y.at(row * width + label)) label = i;
    } else {
      label = std::llround(y.at(row));
    }
    const auto found = class_weight.find(label);
    weights.set(row, found == class_weight.end() ? 1 : found->second);
  }
  if (!batch.sample_weight.is_none()) {
    const Tensor given = batch.sample_weight;
    require(given.count() == shape[0], "`class_weight` beside `sample_weight`: expected ", shape[0],
            " weights, got ", given.count());
    for (int64_t row = 0; row < shape[0]; ++row) weights.set(row, weights.at(row) * given.at(row));
  }
  batch.sample_weight = weights;
  return batch;
}

namespace {

FitData from_rows(Batch all, const FitOptions& options) {
  if (!options.sample_weight.is_none()) all.sample_weight = options.sample_weight;
  Dataset::from_tensors(all.x, all.y, all.sample_weight);  // checks the numbers of rows
  FitData data;
  if (options.validation_split > 0) {
    const int64_t rows = all.size();
    const auto kept = static_cast<int64_t>(
        std::floor(static_cast<double>(rows) * (1 - options.validation_split)));
    require(
        kept > 0 && kept < rows, "Training data contains ", rows,
        " samples, which is not sufficient to split it into a validation and training set as ",
        "specified by `validation_split=", options.validation_split,
        "`. Either provide more data, or a different value for the `validation_split` argument.");
    auto [head, tail] = split_rows(all, kept);
    all = std::move(head);
    data.validation =
        Data(tail).batches(options.validation_batch_size.value_or(options.batch_size));
  }
  all = with_class_weight(std::move(all), options.class_weight);
  const Dataset rows = Dataset::from_tensors(all.x, all.y, all.sample_weight);
  data.train = [rows, batch = options.batch_size, shuffle = options.shuffle](uint64_t seed) {
    return (shuffle ? rows.shuffle({}, seed) : rows).batch(batch);
  };
  return data;
}

FitData from_batches(const Data& data, const FitOptions& options) {
  require(options.validation_split == 0,
          "`validation_split` is only supported for tensors, not for a Dataset or a generator");
  require(
      options.sample_weight.is_none(),
      "`sample_weight` is not supported for a Dataset or a generator: its batches must hold the ",
      "weights");
  const Dataset batches = data.batches(options.batch_size);
  const Dataset weighted = options.class_weight.empty()
                               ? batches
                               : batches.map([weights = options.class_weight](Batch b) {
                                   return with_class_weight(std::move(b), weights);
                                 });
  return {.train = [weighted](uint64_t) { return weighted; }, .one_pass = data.one_pass()};
}

}  // namespace

FitData fit_data(const Data& data, const FitOptions& options) {
  check(options);
  FitData out = data.is_rows() ? from_rows(data.rows(), options) : from_batches(data, options);
  if (options.validation_data)
    out.validation = options.validation_data->batches(
        options.validation_batch_size.value_or(options.batch_size));
  return out;
}

History fit(Trainer& trainer, const FitData& data, const FitOptions& options) {
  check(options);
  History history;
  Training training{.trainer = trainer,
                    .epochs = options.epochs,
                    .verbose = options.verbose,
                    .epoch = options.initial_epoch,
                    .shuffle_seed = next_seed(),
                    .history = &history.history};
  const Callbacks callbacks(options.callbacks, training);
  const InterruptScope interrupts;
  BatchReader reader(data, options, training.shuffle_seed);
  require(reader.ready(), "fit: the data are empty: expected at least one batch, got none");
  // A callback that restores a backup needs all variables.
  trainer.build(reader.batch());
  callbacks.call(&Callback::on_train_begin);
  if (training.epoch != options.initial_epoch || training.step > 0)
    reader.go_to(training.epoch, training.step, training.shuffle_seed);
  training.steps = options.steps_per_epoch ? options.steps_per_epoch : reader.size();
  const int verbose = callbacks.show_progress() ? 0 : options.verbose;

  Logs last;
  bool validated = false;
  const auto stopped = [&] { return training.stop_training || history.interrupted; };
  for (; training.epoch < options.epochs && !stopped(); ++training.epoch) {
    const int64_t epoch = training.epoch;
    reader.begin_epoch(epoch);
    if (training.step == 0) {
      if (!reader.ready()) {
        warn_of_missing_data();
        break;
      }
      trainer.reset_metrics();
    }
    callbacks.call(&Callback::on_epoch_begin, epoch);
    if (verbose != 0) std::cout << "Epoch " << epoch + 1 << '/' << options.epochs << '\n';
    ProgressBar bar(std::cout, {.target = training.steps, .verbose = verbose});
    run_epoch(training, reader, options, callbacks, bar, history.interrupted);
    Logs logs = trainer.logs();
    const int64_t steps = training.step;
    if (data.validation && !history.interrupted && (epoch + 1) % options.validation_freq == 0) {
      if (bar.due()) bar.update(steps, logs);
      const auto found =
          run_test(training, *data.validation, options.validation_steps, callbacks, nullptr);
      require(found || validated,
              "fit: the validation data are empty: expected at least one batch, got none");
      validated = true;
      if (!found) warn("The validation data ran out; there is no validation any more.");
      for (const auto& [name, value] : found.value_or(Logs{})) logs["val_" + name] = value;
    }
    training.step = 0;
    callbacks.call(&Callback::on_epoch_end, epoch, logs);
    bar.update(steps, logs, true);
    history.on_epoch_end(training, epoch, logs);
    last = std::move(logs);
    if (!training.steps) training.steps = steps;
  }
  if (!history.epoch.empty()) trainer.finalize();
  callbacks.call(&Callback::on_train_end, last);
  return history;
}

Logs evaluate(Trainer& trainer, const Dataset& data, const EvaluateOptions& options) {
  Training training{.trainer = trainer, .verbose = options.verbose};
  training.steps = options.steps ? options.steps : data.size();
  const Callbacks callbacks(options.callbacks, training);
  const int verbose = callbacks.show_progress() ? 0 : options.verbose;
  ProgressBar bar(std::cout, {.target = training.steps, .verbose = verbose});
  const auto logs =
      run_test(training, data, options.steps, callbacks, verbose != 0 ? &bar : nullptr);
  require(logs.has_value(), "evaluate: the data are empty: expected at least one batch, got none");
  return *logs;
}

}  // namespace keratin
