#include <cstring>

#include "keratin/base/text.h"
#include "keratin/model/model.h"
#include "keratin/model/program_cache.h"
#include "keratin/train/callback.h"

namespace keratin {
namespace {

// The outputs of batches, concatenated along the first axis. Scalar outputs give one number per
// batch, as in Keras on TensorFlow.
Tree<Tensor> joined(const std::vector<PendingOutputs>& batches) {
  std::vector<Tree<Tensor>> outputs;
  for (const PendingOutputs& batch : batches) outputs.push_back(batch.get());
  std::vector<std::vector<Tensor>> flat;
  for (const Tree<Tensor>& batch : outputs) flat.push_back(batch.flat());
  size_t output = 0;
  return outputs[0].map<Tensor>([&](const Tensor& first) {
    Dims dims = first.shape().dims();
    const bool scalar = dims.empty();
    if (scalar && flat.size() > 1) dims.push_back(static_cast<int64_t>(flat.size()));
    if (!scalar) dims[0] = 0;
    for (const auto& batch : flat)
      if (!scalar) dims[0] += batch[output].shape()[0];
    Tensor whole(first.dtype(), dims);
    std::byte* to = whole.buffer().data();
    for (const auto& batch : flat) {
      std::memcpy(to, batch[output].raw(), batch[output].bytes());
      to += batch[output].bytes();
    }
    ++output;
    return whole.own_strings();
  });
}

// A tensor of `count` rows from `first` on, which shares their memory.
Tensor rows_of(const Tensor& t, int64_t first, int64_t count) {
  Dims dims = t.shape().dims();
  dims[0] = count;
  const Shape shape(dims);
  const size_t row = static_cast<size_t>(shape.count(1, shape.rank())) * size_of(t.dtype());
  const auto whole = std::make_shared<Buffer>(t.buffer());
  const std::shared_ptr<void> rows(whole, whole->data() + row * static_cast<size_t>(first));
  return {t.dtype(), shape, Buffer::wrap(rows, row * static_cast<size_t>(count))};
}

std::shared_ptr<const Program> find_program(ProgramCache& programs, const Tree<Tensor>& inputs,
                                            const Model& model, const PredictOptions& options) {
  return programs.find(
      arguments_of(inputs),
      {.training = options.training, .dialect = model.dialect(), .engine = options.engine});
}

// Calls the callbacks of `predict`. A batch's outputs are waited for only if there are callbacks.
class PredictCallbacks {
 public:
  PredictCallbacks(const LayerPtr& model, const PredictOptions& options,
                   std::optional<int64_t> batches)
      : all_(options.callbacks), prediction_{model, options.steps ? options.steps : batches} {
    for (const CallbackPtr& c : all_)
      require(c != nullptr, "predict: callbacks[", &c - all_.data(), "] is null");
    for (const CallbackPtr& c : all_) c->on_predict_begin(prediction_);
  }
  bool stopped() const { return prediction_.stop_predicting; }
  void before_batch(int64_t step) {
    for (const CallbackPtr& c : all_) c->on_predict_batch_begin(prediction_, step);
  }
  void after_batch(int64_t step, const PendingOutputs& outputs) {
    if (all_.empty()) return;
    const Tree<Tensor> values = outputs.get();
    for (const CallbackPtr& c : all_) c->on_predict_batch_end(prediction_, step, values);
  }
  void end() {
    for (const CallbackPtr& c : all_) c->on_predict_end(prediction_);
  }

 private:
  const std::vector<CallbackPtr>& all_;
  Prediction prediction_;
};

}  // namespace

Tree<Tensor> Model::predict_on_batch(const Tree<Tensor>& inputs,
                                     const PredictOptions& options) const {
  return find_program(predict_programs(), inputs, *this, options)
      ->run(arguments_of(inputs))
      .outputs;
}

Tree<Tensor> Model::predict(const Tree<Tensor>& inputs, const PredictOptions& options) const {
  std::optional<int64_t> rows;
  inputs.each([&](const Tensor& t) {
    if (!rows && t.shape().rank() > 0) rows = t.shape()[0];
  });
  if (!options.steps && options.callbacks.empty() && options.batch_size > 0 &&
      rows.value_or(0) <= options.batch_size)
    return predict_on_batch(inputs, options);
  return predict(Data(Batch{inputs}), options);
}

Tree<Tensor> Model::predict(const Data& data, const PredictOptions& options) const {
  require(options.batch_size > 0, "predict: `batch_size` must be positive, got ",
          options.batch_size);
  require(options.steps.value_or(1) > 0, "predict: `steps` must be positive, got ",
          options.steps.value_or(1));
  const Dataset batches = data.batches(options.batch_size);
  PredictCallbacks callbacks(layer(), options, batches.size());
  std::vector<PendingOutputs> outputs;
  const auto goes_on = [&] {
    return !callbacks.stopped() &&
           (!options.steps || static_cast<int64_t>(outputs.size()) < *options.steps);
  };
  // A device may compute one batch while the next one is prepared.
  const auto start_batch = [&](const Tree<Tensor>& x) {
    const auto step = static_cast<int64_t>(outputs.size());
    callbacks.before_batch(step);
    outputs.push_back(find_program(predict_programs(), x, *this, options)->start(arguments_of(x)));
    callbacks.after_batch(step, outputs.back());
  };
  if (data.is_rows()) {
    const int64_t size = data.rows().size();
    for (int64_t first = 0; first < size && goes_on(); first += options.batch_size)
      start_batch(data.rows().x.map<Tensor>([&](const Tensor& t) {
        return rows_of(t, first, std::min(options.batch_size, size - first));
      }));
  } else {
    const auto stream = batches.stream();
    for (Batch batch; goes_on() && stream->next(batch);) start_batch(batch.x);
  }
  require(!outputs.empty(), "predict: the data are empty: no batch came");
  callbacks.end();
  return joined(outputs);
}

}  // namespace keratin
