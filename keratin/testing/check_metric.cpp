#include "keratin/testing/check_metric.h"

#include <gtest/gtest.h>

#include <cstring>

#include "keratin/base/text.h"
#include "keratin/metrics/metric.h"
#include "keratin/testing/backends.h"
#include "keratin/testing/check_op.h"
#include "keratin/testing/golden.h"

namespace keratin::testing {
namespace {

constexpr int64_t batches = 20;

const Json& golden() {
  static const Json json = read_golden("metrics.json");
  return json;
}

// The first rows of one batch of a tensor of batches.
Tensor batch_rows(const Tensor& all, int64_t batch, std::optional<int64_t> rows) {
  Dims dims = all.shape().dims();
  dims.erase(dims.begin());
  const size_t bytes = all.bytes() / static_cast<size_t>(batches);
  if (rows) dims[0] = *rows;
  Tensor out(all.dtype(), dims);
  std::memcpy(out.raw(), static_cast<const char*>(all.raw()) + static_cast<size_t>(batch) * bytes,
              out.bytes());
  return out;
}

// Every third batch has weights, every fourth a mask; the last one is short.
SampleData batch_of(const Json& data, int64_t i, bool of_values) {
  const auto rows = i == batches - 1 ? std::optional<int64_t>(2) : std::nullopt;
  const auto get = [&](const char* key) {
    return batch_rows(golden_tensor(data.at(key)), i, rows);
  };
  SampleData sample{{}, get("y_pred")};
  if (!of_values) sample.y_true = get("y_true");
  if (i % 3 == 1) sample.weight = get("sample_weight");
  if (i % 4 == 2) sample.mask = get("mask");
  return sample;
}

// Keras writes an array for a list.
Json with_lists(Json envelope) {
  const Json* weights = envelope.at("config").find("label_weights");
  if (weights != nullptr && weights->is_object()) {
    const Json list = weights->at("config").at("value");
    envelope["config"]["label_weights"] = list;
  }
  return envelope;
}

void check_run(const Json& entry, const Json& config, const std::string& backend,
               double tolerance) {
  SCOPED_TRACE(backend);
  const Metric metric = Metric::from_json(config);
  MetricState& state = metric.state();
  const Json& data = golden().at("data " + entry.at("data").as_string());
  const bool of_values = state.class_name() == "Mean" || state.class_name() == "Sum";
  const EngineOptions options{.backend = backend, .tf32 = false};
  const auto check_result = [&](const std::string& i) {
    if (const Json* result = entry.at("results").find(i))
      expect_close(state.current(options), golden_tensor(*result), tolerance,
                   text("result after batch ", i));
  };
  for (int64_t i = 0; i < batches; ++i) {
    state.update_with(batch_of(data, i, of_values), options);
    check_result(std::to_string(i));
  }
  const auto& expected = entry.at("variables").as_array();
  ASSERT_EQ(state.variables().size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const Variable& variable = state.variables()[i];
    EXPECT_EQ(variable.name(), expected[i].at("name").as_string());
    EXPECT_EQ(variable.path(), text(metric.name(), '/', variable.name()));
    expect_close(variable.value(), golden_tensor(expected[i]), tolerance, variable.name());
  }
  state.reset();
  state.update_with(batch_of(data, 0, of_values), options);
  check_result("0");
}

void check_metric_case(const Json& entry, double tolerance) {
  const Json written = with_lists(entry.at("config"));
  Json whole = entry.at("config");
  for (const auto& [key, value] : entry.at("lost").as_object()) whole["config"][key] = value;
  const Metric metric = Metric::from_json(whole);
  EXPECT_EQ(metric.to_json(), written);
  EXPECT_EQ(Metric::from_json(metric.to_json()).to_json(), written);
  EXPECT_EQ(Metric(metric.state().fresh_copy()).to_json(), written);
  const Json& direction = entry.at("direction");
  const Json names[] = {nullptr, "up", "down"};
  EXPECT_EQ(names[static_cast<size_t>(metric.state().direction())], direction);
  for (const std::string& backend : backends()) check_run(entry, whole, backend, tolerance);
}

}  // namespace

void check_metric(const std::string& class_name, double tolerance) {
  size_t found = 0;
  for (const auto& [key, entry] : golden().as_object()) {
    if (!entry.contains("results") || entry.at("name").as_string() != class_name) continue;
    SCOPED_TRACE(key);
    check_metric_case(entry, tolerance);
    ++found;
  }
  EXPECT_GE(found, 2U) << class_name << " has too few golden cases";
}

}  // namespace keratin::testing
