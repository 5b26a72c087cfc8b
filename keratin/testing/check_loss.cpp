#include "keratin/testing/check_loss.h"

#include <gtest/gtest.h>

#include "keratin/autodiff/gradients.h"
#include "keratin/base/text.h"
#include "keratin/losses/loss.h"
#include "keratin/testing/backends.h"
#include "keratin/testing/expect_values.h"
#include "keratin/testing/golden.h"

namespace keratin::testing {
namespace {

std::optional<Value> next(const Json& call, const char* key, std::vector<Tensor>& data,
                          Module& module) {
  if (!call.contains(key)) return std::nullopt;
  data.push_back(golden_tensor(call.at(key)));
  return module.input({data.back().dtype(), data.back().shape()});
}

void check_call(const Loss& loss, const Json& entry, const Json& call, double tolerance) {
  Module module;
  std::vector<Tensor> data;
  const Value y_true = *next(entry, "y_true", data, module);
  const Value y_pred = *next(entry, "y_pred", data, module);
  LossWeights weights;
  weights.sample_weight = next(call, "sample_weight", data, module);
  weights.mask = next(call, "mask", data, module);
  if (call.contains("dialect")) weights.dialect = Dialect::keras2;
  const Value value = loss(y_true, y_pred, weights);
  module.output(value);
  module.output(gradients(value, {y_pred})[0]);
  for (const std::string& backend : backends()) {
    const auto results = compile(module.clone(), {.backend = backend, .tf32 = false})(data);
    expect_close(results[0], golden_tensor(call.at("value")), tolerance, text("value, ", backend));
    expect_close(results[1], golden_tensor(call.at("gradient")), tolerance,
                 text("gradient, ", backend));
  }
}

// The envelope with some keys of its config set.
Json with(Json envelope, const Json& values) {
  for (const auto& [key, value] : values.as_object()) envelope["config"][key] = value;
  return envelope;
}

void check_loss_case(const Json& entry, double tolerance) {
  const Json& config = entry.at("config");
  const Json whole = with(config, entry.at("lost"));
  const Loss loss = Loss::from_json(whole);
  EXPECT_EQ(loss.to_json(), whole);  // Keras's config, with the keys that Keras loses
  EXPECT_EQ(loss.name(), config.at("config").at("name").as_string());
  EXPECT_EQ(Loss::from_json(loss.to_json()).to_json(), whole);
  size_t number = 0;
  for (const Json& call : entry.at("calls").as_array()) {
    SCOPED_TRACE(text("call ", number++, ", reduction ", call.at("reduction")));
    const Json reduced = with(whole, Json::Object{{"reduction", call.at("reduction")}});
    check_call(Loss::from_json(reduced), entry, call, tolerance);
  }
}

}  // namespace

void check_loss(const std::string& class_name, double tolerance) {
  static const Json golden = read_golden("losses.json");
  size_t found = 0;
  for (const auto& [key, entry] : golden.as_object()) {
    if (!entry.contains("calls") || entry.at("name").as_string() != class_name) continue;
    SCOPED_TRACE(key);
    check_loss_case(entry, tolerance);
    ++found;
  }
  EXPECT_GE(found, 3U) << class_name << " has too few golden cases";
}

}  // namespace keratin::testing
