#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>

#include "keratin/base/text.h"
#include "keratin/callbacks/event_writer.h"
#include "keratin/keratin.h"
#include "keratin/testing/golden.h"

// Reads the event files of the TensorBoard callback, and compares them with those of Keras, which
// are recorded in tests/golden/tensorboard.json.
namespace keratin::testing {
namespace {

template <class Number>
Number number_at(const std::string& bytes, size_t at) {
  Number number{};
  if (at + sizeof number > bytes.size()) throw std::runtime_error("the bytes end too early");
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

// The fields of a protobuf message, with numbers as strings.
using Fields = std::multimap<uint64_t, std::string>;

Fields parse(const std::string& bytes) {
  size_t at = 0;
  const auto varint = [&] {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto b = number_at<uint8_t>(bytes, at++);
      value |= static_cast<uint64_t>(b & 127) << shift;
      if (b < 128) return value;
    }
  };
  Fields fields;
  while (at < bytes.size()) {
    const uint64_t key = varint();
    if ((key & 7) == 0) {
      fields.emplace(key >> 3, std::to_string(varint()));
    } else {
      const uint64_t size = (key & 7) == 1 ? 8 : varint();
      fields.emplace(key >> 3, bytes.substr(at, size));
      at += size;
    }
  }
  EXPECT_EQ(at, bytes.size());
  return fields;
}

std::string field(const Fields& fields, uint64_t number) {
  const auto found = fields.find(number);
  return found == fields.end() ? std::string() : found->second;
}

std::vector<std::string> read_records(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  std::vector<std::string> records;
  for (size_t at = 0; at < bytes.size();) {
    const auto size = number_at<uint64_t>(bytes, at);
    EXPECT_EQ(number_at<uint32_t>(bytes, at + 8), masked_crc32c(bytes.substr(at, 8)));
    records.push_back(bytes.substr(at + 12, size));
    EXPECT_EQ(number_at<uint32_t>(bytes, at + 12 + size), masked_crc32c(records.back()));
    at += 16 + size;
  }
  return records;
}

struct Summary {
  std::string plugin, content, dtype;
  std::vector<int64_t> shape;
  std::string bytes, words;
};
// Values by tag and step.
using Summaries = std::map<std::pair<std::string, int64_t>, Summary>;

std::filesystem::path only_file(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry);
  EXPECT_EQ(files.size(), 1u) << folder;
  EXPECT_TRUE(files.at(0).filename().string().starts_with("events.out.tfevents."));
  return files.at(0);
}

Summaries read_summaries(const std::filesystem::path& folder) {
  Summaries out;
  double before = 0;
  for (const std::string& record : read_records(only_file(folder))) {
    const Fields event = parse(record);
    const auto time = number_at<double>(field(event, 1), 0);
    EXPECT_GE(time, before);
    EXPECT_EQ(field(event, 3), before == 0 ? "brain.Event:2" : "");
    before = time;
    if (!event.contains(5)) continue;
    const Fields value = parse(field(parse(field(event, 5)), 1));
    const Fields tensor = parse(field(value, 8)), plugin = parse(field(parse(field(value, 9)), 1));
    Summary summary{.plugin = field(plugin, 1),
                    .content = field(plugin, 2),
                    .dtype = field(tensor, 1),
                    .bytes = field(tensor, 4),
                    .words = field(tensor, 8)};
    const Fields shape = parse(field(tensor, 2));
    for (const auto& [number, size] : shape)
      summary.shape.push_back(std::stoll(field(parse(size), 1)));
    const std::string step = field(event, 2);
    const bool fresh =
        out.emplace(std::pair(field(value, 1), step.empty() ? 0 : std::stoll(step)), summary)
            .second;
    EXPECT_TRUE(fresh) << field(value, 1) << " occurs twice";
  }
  return out;
}

void expect_close(double got, double wanted, const std::string& what) {
  EXPECT_NEAR(got, wanted, 1e-5 * (1 + std::abs(wanted))) << what;
}

void expect_value(const Summary& got, const Tensor& wanted, const std::string& what) {
  const size_t size = wanted.dtype() == DType::f32 ? 4 : 8;
  ASSERT_EQ(got.bytes.size(), size * static_cast<size_t>(wanted.count())) << what;
  for (int64_t i = 0; i < wanted.count(); ++i) {
    const size_t at = size * static_cast<size_t>(i);
    expect_close(size == 4 ? number_at<float>(got.bytes, at) : number_at<double>(got.bytes, at),
                 wanted.at(i), text(what, ", element ", i));
  }
}

void expect_summaries(const Summaries& got, const Json& wanted) {
  EXPECT_EQ(got.size(), wanted.size());
  for (const Json& json : wanted.as_array()) {
    const std::string tag = json.at("tag").as_string();
    const int64_t step = json.at("step").as_int();
    const std::string what = text(tag, " at step ", step);
    const auto found = got.find({tag, step});
    ASSERT_NE(found, got.end()) << "expected " << what;
    const Summary& summary = found->second;
    EXPECT_EQ(summary.plugin, json.at("plugin").as_string()) << what;
    EXPECT_EQ(summary.content, json.at("content").as_string()) << what;
    EXPECT_EQ(summary.dtype, std::to_string(json.at("dtype").as_int())) << what;
    std::vector<int64_t> shape;
    for (const Json& size : json.at("shape").as_array()) shape.push_back(size.as_int());
    EXPECT_EQ(summary.shape, shape) << what;
    if (const Json* value = json.find("value")) {
      expect_value(summary, golden_tensor(*value), what);
    } else if (summary.plugin == "scalars") {
      EXPECT_GT(number_at<float>(summary.bytes, 0), 0) << what;
    }
  }
}

TensorBoardOptions options_of(const Json& json, const std::filesystem::path& folder) {
  TensorBoardOptions options{.log_dir = folder};
  if (const Json* freq = json.find("histogram_freq")) options.histogram_freq = freq->as_int();
  if (const Json* graph = json.find("write_graph")) options.write_graph = graph->as_bool();
  if (const Json* rate = json.find("write_steps_per_second"))
    options.write_steps_per_second = rate->as_bool();
  if (const Json* freq = json.find("update_freq"))
    options.update_freq = freq->is_string() ? UpdateFrequency(freq->as_string())
                                            : UpdateFrequency(static_cast<int>(freq->as_int()));
  return options;
}

std::filesystem::path scratch(const std::string& name) {
  const auto path = std::filesystem::path(::testing::TempDir()) / ("tensorboard_" + name);
  std::filesystem::remove_all(path);
  return path;
}

// The features in reverse order, for validation.
Tensor flipped(const Tensor& x) {
  Tensor out(x.dtype(), x.shape());
  const int64_t width = x.shape()[1];
  for (int64_t i = 0; i < x.count(); ++i)
    out.set(i / width * width + (width - 1 - i % width), x.at(i));
  return out;
}

TEST(TensorBoard, WritesTheEventsOfKeras) {
  for (const Json& record : read_golden("tensorboard.json").as_array()) {
    const std::string name = record.at("name").as_string();
    SCOPED_TRACE(name);
    clear_session();
    Model model(layer_from_json(record.at("config")));
    std::vector<Tensor> weights;
    for (const Json& weight : record.at("weights").as_array())
      weights.push_back(golden_tensor(weight));
    model.set_weights(weights);
    model.compile({.optimizer = SGD({.learning_rate = 0.05}), .loss = "mse", .metrics = {"mae"}});
    const Tensor x = golden_tensor(record.at("x")), y = golden_tensor(record.at("y"));
    const auto folder = scratch(name);
    model.fit(x, y,
              {.batch_size = 3,
               .epochs = 3,
               .verbose = 0,
               .callbacks = {TensorBoard(options_of(record.at("options"), folder))},
               .validation_data = Batch{flipped(x), y},
               .shuffle = false});
    const Summaries train = read_summaries(folder / "train");
    expect_summaries(train, record.at("train"));
    expect_summaries(read_summaries(folder / "validation"), record.at("validation"));
    if (const auto graph = train.find({"keras", 0}); graph != train.end()) {
      EXPECT_EQ(Json::parse(graph->second.words), serialize_layer(*model.layer()));
    }
  }
}

Model one_dense() {
  const SymbolicTensor in = Input({2});
  Model model({.inputs = in, .outputs = Dense({.units = 1})(in)});
  model.compile({.optimizer = SGD({.learning_rate = 0.1}), .loss = "mse"});
  return model;
}

const Tensor samples = Tensor::of<double>(DType::f32, {4, 2}, {1, 0, 0, 1, 1, 1, 2, -1});
const Tensor targets = Tensor::of<double>(DType::f32, {4, 1}, {2, -1, 1, 5});

TEST(TensorBoard, WritesEpochsForAnyLastBatch) {
  const auto folder = scratch("thirds");
  one_dense().fit(samples, targets,
                  {.batch_size = 1,
                   .epochs = 2,
                   .verbose = 0,
                   .callbacks = {TensorBoard({.log_dir = folder, .update_freq = 3})}});
  const Summaries train = read_summaries(folder / "train");
  for (const int64_t step : {3, 6}) EXPECT_TRUE(train.contains({"batch_loss", step})) << step;
  for (const int64_t epoch : {0, 1}) EXPECT_TRUE(train.contains({"epoch_loss", epoch})) << epoch;
  EXPECT_FALSE(std::filesystem::exists(folder / "validation"));
}

TEST(TensorBoard, WritesEvaluationsWithoutTraining) {
  const auto folder = scratch("evaluate");
  Model model = one_dense();
  model.evaluate(samples, targets, {.verbose = 0, .callbacks = {TensorBoard({.log_dir = folder})}});
  EXPECT_TRUE(read_summaries(folder / "validation").contains({"evaluation_loss_vs_iterations", 0}));
}

TEST(TensorBoard, WritesTheRateOfEachOptimizer) {
  const auto folder = scratch("several");
  Model model = one_dense();
  const Optimizer first = SGD({.learning_rate = 0.1}, {.name = "first"});
  const Optimizer second = SGD({.learning_rate = 0.2}, {.name = "second"});
  const OptimizerMap map{.default_optimizer = first, .optimizer_map = {{".*bias", second}}};
  model.compile({.optimizer = MultiOptimizer({.optimizer_map = map}), .loss = "mse"});
  model.fit(samples, targets, {.verbose = 0, .callbacks = {TensorBoard({.log_dir = folder})}});
  const Summaries train = read_summaries(folder / "train");
  EXPECT_TRUE(train.contains({"epoch_learning_rate_first", 0}));
  EXPECT_TRUE(train.contains({"epoch_learning_rate_second", 0}));
}

// Events are flushed during training, so they survive a crash.
TEST(TensorBoard, FlushesEventsDuringTraining) {
  const auto folder = scratch("crash");
  size_t after_batch = 0;
  const auto look =
      LambdaCallback({.on_train_batch_end = [&](Training&, int64_t step, const Logs&) {
        if (step == 1) after_batch = read_summaries(folder / "train").count({"batch_loss", 2});
      }});
  one_dense().fit(samples, targets,
                  {.batch_size = 1,
                   .verbose = 0,
                   .callbacks = {TensorBoard({.log_dir = folder, .update_freq = "batch"}), look}});
  EXPECT_EQ(after_batch, 1u);
}

TEST(TensorBoard, RefusesBadOptionsBeforeTraining) {
  Model model = one_dense();
  const auto before = model.get_weights();
  EXPECT_THROW(model.fit(samples, targets,
                         {.verbose = 0, .callbacks = {TensorBoard({.log_dir = "/dev/null"})}}),
               UserError);
  EXPECT_EQ(model.get_weights(), before);
  EXPECT_THROW(TensorBoard({.update_freq = "sometimes"}), UserError);
  EXPECT_THROW(TensorBoard({.update_freq = 0}), UserError);
  EXPECT_THROW(TensorBoard({.histogram_freq = -1}), UserError);
  EXPECT_THROW(TensorBoard({.log_dir = ""}), UserError);
}

}  // namespace
}  // namespace keratin::testing
