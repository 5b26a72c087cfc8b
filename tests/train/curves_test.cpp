#include <gtest/gtest.h>

#include <cmath>

#include "keratin/base/text.h"
#include "keratin/io/compile_config.h"
#include "keratin/keratin.h"
#include "keratin/testing/backends.h"
#include "keratin/testing/golden.h"

// Compares training with Keras: tests/golden/training.json has the logs of every step and epoch,
// and the final values of the weights and the optimizer's variables.
namespace keratin::testing {
namespace {

const Json& records() {
  static const Json all = read_golden("training.json");
  return all;
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const Json& record : records().as_array()) out.push_back(record.at("name").as_string());
  return out;
}

const Json& find(const std::string& name) {
  for (const Json& record : records().as_array())
    if (record.at("name").as_string() == name) return record;
  fail("no case is named ", name);
}

// Numbers differ by the order of sums. In 16 bits, Keras rounds after every operation and Keratin
// after every fused loop, so a forward and backward pass has about a dozen roundings, each of half
// a unit in the last place.
double tolerance_of(const Json& record) {
  const std::string config = record.at("config").dump();
  const auto uses = [&](const char* policy) { return config.find(policy) != std::string::npos; };
  constexpr double roundings = 12;
  if (uses("mixed_bfloat16")) return roundings * std::ldexp(1.0, -9);
  if (uses("mixed_float16")) return roundings * std::ldexp(1.0, -12);
  return uses("float64") ? 2e-6 : 2e-4;
}

template <class T>
PerOutput<T> per_output(const Json* json, const std::function<T(const Json&)>& read) {
  if (json == nullptr || json->is_null()) return {};
  if (json->is_array()) {
    std::vector<T> each;
    for (const Json& item : json->as_array()) each.push_back(read(item));
    return each;
  }
  if (json->is_object() && !json->contains("class_name")) {
    std::map<std::string, T> by_name;
    for (const auto& [name, item] : json->as_object()) by_name.emplace(name, read(item));
    return by_name;
  }
  return read(*json);
}

Metrics metrics(const Json* json) {
  const auto list = [](const Json& items) {
    std::vector<Metric> out;
    for (const Json& item : items.as_array()) out.push_back(Metric(item.as_string()));
    return out;
  };
  if (json == nullptr) return {};
  if (json->is_array()) return list(*json);
  std::map<std::string, Metrics::List> by_name;
  for (const auto& [name, items] : json->as_object()) by_name.emplace(name, list(items));
  return by_name;
}

CompileOptions training_options(const Json& json, const std::string& backend) {
  const Json* chunk = json.find("steps_per_execution");
  return {
      .optimizer = Optimizer::from_json(json.at("optimizer")),
      .loss = per_output<Loss>(
          json.find("loss"),
          [](const Json& j) { return j.is_string() ? Loss(j.as_string()) : Loss::from_json(j); }),
      .loss_weights = per_output<double>(json.find("loss_weights"),
                                         [](const Json& j) { return j.as_double(); }),
      .metrics = metrics(json.find("metrics")),
      .weighted_metrics = metrics(json.find("weighted_metrics")),
      .steps_per_execution = chunk == nullptr ? 1 : chunk->as_int(),
      .engine = {.backend = backend, .tf32 = false}};
}

FitOptions fit_options(const Json& json) {
  FitOptions options{.batch_size = json.at("batch_size").as_int(),
                     .epochs = json.at("epochs").as_int(),
                     .verbose = 0,
                     .shuffle = false};
  if (const Json* split = json.find("validation_split"))
    options.validation_split = split->as_double();
  if (const Json* weights = json.find("class_weight"))
    for (const auto& [label, weight] : weights->as_object())
      options.class_weight[std::stoll(label)] = weight.as_double();
  if (const Json* validation = json.find("validation"))
    options.validation_data =
        Batch{golden_tensor((*validation)[0]), golden_tensor((*validation)[1])};
  return options;
}

void expect_logs(const Logs& got, const Json& wanted, double tolerance, const std::string& when) {
  ASSERT_EQ(got.size(), wanted.as_object().size()) << when;
  for (const auto& [name, json] : wanted.as_object()) {
    ASSERT_TRUE(got.contains(name)) << when << ": expected a log named " << name;
    const double value = json.as_double();
    EXPECT_NEAR(got.at(name), value, tolerance * (1 + std::abs(value))) << when << ": " << name;
  }
}

void expect_tensor(const Tensor& got, const Json& json, double tolerance, const std::string& what) {
  const Tensor wanted = golden_tensor(json);
  ASSERT_EQ(got.shape(), wanted.shape()) << what;
  for (int64_t i = 0; i < wanted.count(); ++i)
    ASSERT_NEAR(got.at(i), wanted.at(i), tolerance * (1 + std::abs(wanted.at(i))))
        << what << ", element " << i;
}

class Recorder final : public Callback {
 public:
  void on_train_batch_end(Training&, int64_t, const Logs& logs) override { steps.push_back(logs); }
  void on_epoch_end(Training&, int64_t, Logs& logs) override { epochs.push_back(logs); }
  std::vector<Logs> steps, epochs;
};

class Curves : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(Curves, MatchKeras) {
  const auto& [name, backend] = GetParam();
  const Json& record = find(name);
  const double tolerance = tolerance_of(record);
  clear_session();
  Model model(layer_from_json(record.at("config")));
  std::vector<Tensor> weights;
  for (const Json& weight : record.at("weights").as_array())
    weights.push_back(golden_tensor(weight));
  model.set_weights(weights);
  model.compile(training_options(record.at("compile"), backend));

  const Tree<Tensor> x = golden_structure(record.at("x")), y = golden_structure(record.at("y"));
  FitOptions options = fit_options(record.at("fit"));
  options.sample_weight = golden_structure(record.at("sample_weight"));
  const auto recorder = std::make_shared<Recorder>();
  options.callbacks = {recorder};
  model.fit(x, y, options);

  ASSERT_EQ(recorder->steps.size(), record.at("steps").size());
  for (size_t i = 0; i < recorder->steps.size(); ++i)
    expect_logs(recorder->steps[i], record.at("steps")[i], tolerance, text("step ", i));
  ASSERT_EQ(recorder->epochs.size(), record.at("epochs").size());
  for (size_t i = 0; i < recorder->epochs.size(); ++i)
    expect_logs(recorder->epochs[i], record.at("epochs")[i], tolerance, text("epoch ", i));
  expect_logs(
      model.evaluate(
          x, y,
          {.batch_size = options.batch_size, .verbose = 0, .sample_weight = options.sample_weight}),
      record.at("evaluated"), tolerance, "evaluate");
  const std::vector<Tensor> after = model.get_weights();
  ASSERT_EQ(after.size(), record.at("weights_after").size());
  for (size_t i = 0; i < after.size(); ++i)
    expect_tensor(after[i], record.at("weights_after")[i], tolerance,
                  record.at("weights_after")[i].at("path").as_string());
  const auto& slots = model.optimizer().variables();
  ASSERT_EQ(slots.size(), record.at("optimizer_after").size());
  for (size_t i = 0; i < slots.size(); ++i) {
    const Json& wanted = record.at("optimizer_after")[i];
    EXPECT_EQ(slots[i].path(), wanted.at("path").as_string());
    expect_tensor(slots[i].value(), wanted, tolerance, slots[i].path());
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, Curves,
                         ::testing::Combine(::testing::ValuesIn(names()),
                                            ::testing::ValuesIn(backends())),
                         [](const auto& info) {
                           return std::get<0>(info.param) + '_' + std::get<1>(info.param);
                         });

}  // namespace
}  // namespace keratin::testing
