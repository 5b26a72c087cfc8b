#include <gtest/gtest.h>

#include "keratin/keratin.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

// Records each call with its batch or epoch, and the names of its logs.
class Recorder final : public Callback {
 public:
  std::vector<std::string> events;
  int64_t stop_after = -1;

  void on_train_begin(Training&) override { add("train_begin"); }
  void on_train_end(Training&, const Logs& logs) override { add("train_end", -1, logs); }
  void on_epoch_begin(Training&, int64_t e) override { add("epoch_begin", e); }
  void on_epoch_end(Training&, int64_t e, Logs& logs) override { add("epoch_end", e, logs); }
  void on_train_batch_begin(Training&, int64_t s) override { add("train_batch_begin", s); }
  void on_train_batch_end(Training&, int64_t s, const Logs& logs) override {
    add("train_batch_end", s, logs);
  }
  void on_test_begin(Training&) override { add("test_begin"); }
  void on_test_end(Training&, const Logs& logs) override { add("test_end", -1, logs); }
  void on_test_batch_begin(Training&, int64_t s) override { add("test_batch_begin", s); }
  void on_test_batch_end(Training& training, int64_t s, const Logs& logs) override {
    add("test_batch_end", s, logs);
    training.stop_evaluating = s == stop_after;
  }
  void on_predict_begin(Prediction& p) override {
    add("predict_begin");
    EXPECT_EQ(p.steps, 2);
  }
  void on_predict_end(Prediction&) override { add("predict_end"); }
  void on_predict_batch_begin(Prediction&, int64_t s) override { add("predict_batch_begin", s); }
  void on_predict_batch_end(Prediction& p, int64_t s, const Tree<Tensor>& outputs) override {
    add("predict_batch_end", s);
    rows.push_back(outputs.leaf().shape()[0]);
    p.stop_predicting = s == stop_after;
  }
  std::vector<int64_t> rows;

 private:
  void add(const std::string& what, int64_t at = -1, const Logs& logs = {}) {
    events.push_back(what + (at < 0 ? "" : ' ' + std::to_string(at)));
    for (const auto& item : logs) events.back() += ' ' + item.first;
  }
};

Model one_dense() {
  const SymbolicTensor in = Input({2});
  return Model({.inputs = in, .outputs = Dense({.units = 1})(in)});
}

Tensor zeros(const Shape& shape) { return Tensor::zeros(DType::f32, shape); }

using Events = std::vector<std::string>;

// The order and logs of Keras 3.15.1.
TEST(CallbackOrder, IsKerasOrderInFitEvaluateAndPredict) {
  Model model = one_dense();
  model.compile({.loss = "mse", .metrics = {"mae"}});
  const Tensor x = zeros({5, 2}), y = zeros({5, 1});
  const auto fit = std::make_shared<Recorder>();
  model.fit(x, y,
            {.batch_size = 3, .verbose = 0, .callbacks = {fit}, .validation_data = Batch{x, y}});
  const Events test = {
      "test_begin",         "test_batch_begin 0",        "test_batch_end 0 loss mae",
      "test_batch_begin 1", "test_batch_end 1 loss mae", "test_end loss mae"};
  Events expected = {"train_begin",         "epoch_begin 0",
                     "train_batch_begin 0", "train_batch_end 0 loss mae",
                     "train_batch_begin 1", "train_batch_end 1 loss mae"};
  expected.insert(expected.end(), test.begin(), test.end());
  expected.push_back("epoch_end 0 loss mae val_loss val_mae");
  expected.push_back("train_end loss mae val_loss val_mae");
  EXPECT_EQ(fit->events, expected);
  const auto evaluate = std::make_shared<Recorder>();
  model.evaluate(x, y, {.batch_size = 3, .verbose = 0, .callbacks = {evaluate}});
  EXPECT_EQ(evaluate->events, test);
  const auto predict = std::make_shared<Recorder>();
  model.predict(x, {.batch_size = 3, .callbacks = {predict}});
  EXPECT_EQ(predict->events,
            (Events{"predict_begin", "predict_batch_begin 0", "predict_batch_end 0",
                    "predict_batch_begin 1", "predict_batch_end 1", "predict_end"}));
  EXPECT_EQ(predict->rows, (std::vector<int64_t>{3, 2}));
}

TEST(CallbackOrder, CallbacksStopEvaluateAndPredict) {
  Model model = one_dense();
  const auto stops = std::make_shared<Recorder>();
  stops->stop_after = 0;
  const Tensor out = model.predict(zeros({5, 2}), {.batch_size = 3, .callbacks = {stops}});
  EXPECT_EQ(out.shape(), Shape({3, 1}));
  EXPECT_EQ(stops->events.back(), "predict_end");
  model.compile({.loss = "mse"});
  stops->events.clear();
  model.evaluate(zeros({5, 2}), zeros({5, 1}),
                 {.batch_size = 3, .verbose = 0, .callbacks = {stops}});
  EXPECT_EQ(stops->events.size(), 4u);
}

TEST(CallbackOrder, FunctionsSeeEvaluateAndPredict) {
  Model model = one_dense();
  model.compile({.loss = "mse"});
  Events events;
  const auto functions = LambdaCallback(
      {.on_test_begin = [&](Training&) { events.push_back("test_begin"); },
       .on_test_end = [&](Training&, const Logs&) { events.push_back("test_end"); },
       .on_test_batch_begin = [&](Training&, int64_t) { events.push_back("test_batch_begin"); },
       .on_test_batch_end =
           [&](Training&, int64_t, const Logs& logs) {
             events.push_back(logs.contains("loss") ? "test_batch_end" : "no logs");
           },
       .on_predict_begin = [&](Prediction&) { events.push_back("predict_begin"); },
       .on_predict_end = [&](Prediction&) { events.push_back("predict_end"); },
       .on_predict_batch_begin = [&](Prediction&,
                                     int64_t) { events.push_back("predict_batch_begin"); },
       .on_predict_batch_end =
           [&](Prediction&, int64_t, const Tree<Tensor>&) {
             events.push_back("predict_batch_end");
           }});
  model.evaluate(zeros({2, 2}), zeros({2, 1}), {.verbose = 0, .callbacks = {functions}});
  model.predict(zeros({2, 2}), {.callbacks = {functions}});
  EXPECT_EQ(events,
            (Events{"test_begin", "test_batch_begin", "test_batch_end", "test_end", "predict_begin",
                    "predict_batch_begin", "predict_batch_end", "predict_end"}));
}

TEST(CallbackOrder, PredictNamesANullCallback) {
  testing::expect_user_error(
      [] {
        one_dense().predict(zeros({1, 2}), {.callbacks = {nullptr}});
      },
      "predict: callbacks[0] is null");
}

}  // namespace
}  // namespace keratin
