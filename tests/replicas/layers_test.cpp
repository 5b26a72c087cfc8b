// Every class of layers, as a model of each of its cases, on two virtual GPUs: the outputs and
// masks are those of one device.
#include <gtest/gtest.h>

#include <utility>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/testing/layer_models.h"
#include "tests/replicas/difference_testing.h"
#include "tests/replicas/replica_config_testing.h"

namespace keratin {
namespace {

using testing::LayerCase;
using testing::LayerModel;
using testing::LeftOut;
using testing::ReplicaConfig;

// What no split of a batch can give: a replica sees its own slice alone.
const std::vector<LeftOut>& left_out() {
  static const std::vector<LeftOut> all = [] {
    std::vector<LeftOut> out;
    const auto add = [&](const char* class_name, const char* reason,
                         std::initializer_list<const char*> names) {
      for (const char* name : names) out.push_back({class_name, name, reason});
    };
    add("BatchNormalization", "has the statistics of its slice",
        {"training", "momentum and epsilon", "no scale", "no center", "image", "image, axis 1",
         "masked", "masked, axis 1", "a mask for rows", "one row", "two calls", "mixed_bfloat16",
         "renorm", "renorm, clipped"});
    add("TimeDistributed", "has the statistics of its slice", {"batch normalization, training"});
    add("TimeDistributed", "works along the batch", {"along the batch"});
    add("Equalization", "has the histogram of its slice",
        {"training", "channels_first", "integers", "dict", "mixed_float16", "float64",
         "small range", "few bins", "bytes"});
    const char* vector = "takes a vector for one sample";
    add("CategoryEncoding", vector, {"multi_hot, vector", "count, vector", "weights of a vector"});
    add("Discretization", vector, {"multi_hot, vector", "count, vector"});
    add("Hashing", vector, {"multi_hot, vector", "count, vector"});
    add("IntegerLookup", vector, {"vector, count"});
    const char* rounding = "rounds the sum of kernel and update elsewhere";
    for (const char* name : {"Dense", "Conv1D", "Conv2D", "Conv3D"})
      add(name, rounding, {"lora, mixed_float16"});
    add("Embedding", rounding, {"lora, mixed_bfloat16"});
    return out;
  }();
  return all;
}

// The samples that all inputs have; none if they differ, if the batch is fixed, or if the case is
// of one image or signal without a batch.
std::optional<int64_t> batch_of(const LayerCase& layer_case, const LayerModel& made) {
  const auto is_of = [&](std::string_view what) {
    return layer_case.name.find(what) != std::string::npos;
  };
  if (testing::is_stateful(layer_case.config) || is_of("one image") || is_of("one larger image") ||
      is_of("one signal"))
    return {};
  std::optional<int64_t> batch;
  bool same = true;
  made.inputs.each([&](const Tensor& t) {
    const int64_t count = t.shape().rank() == 0 ? 0 : t.shape()[0];
    same = same && count > 0 && batch.value_or(count) == count;
    batch = count;
  });
  return same ? batch : std::nullopt;
}

// Five samples, so that slices differ and none is one sample; strings stay as they are.
Tree<Tensor> five_samples(const Tree<Tensor>& inputs) {
  bool strings = false;
  inputs.each([&](const Tensor& t) { strings = strings || t.dtype() == DType::string; });
  if (strings) return inputs;
  return inputs.map<Tensor>([](const Tensor& t) {
    Dims dims = t.shape().dims();
    const std::vector<double> all = t.to_vector();
    const size_t wanted = all.size() / static_cast<size_t>(std::exchange(dims[0], 5)) * 5;
    std::vector<double> values;
    for (size_t i = 0; i < wanted; ++i) values.push_back(all[i % all.size()]);
    return Tensor::of(t.dtype(), Shape(dims), values);
  });
}

// What differs between a run on replicas and one on one device; empty if nothing does.
std::string disagreement(const RunResult& got, const RunResult& expected, double most) {
  const auto ours = got.outputs.flat(), theirs = expected.outputs.flat();
  for (size_t i = 0; i < theirs.size(); ++i) {
    if (ours.at(i).dtype() == DType::string && !(ours[i] == theirs[i]))
      return text("output ", i, " differs");
    if (ours[i].dtype() != theirs[i].dtype())
      return text("output ", i, " is ", ours[i].dtype(), ", not ", theirs[i].dtype());
    if (ours[i].shape() != theirs[i].shape())
      return text("output ", i, " has shape ", ours[i].shape(), ", not ", theirs[i].shape());
    if (theirs[i].dtype() == DType::string) continue;
    const double off = testing::difference({ours[i]}, {theirs[i]});
    if (off > most) return text("output ", i, " is off by ", off);
  }
  for (size_t i = 0; i < expected.masks.size(); ++i)
    if (got.masks.at(i) != expected.masks[i]) return text("mask ", i, " differs");
  return "";
}

class ReplicasOfLayers : public ::testing::TestWithParam<std::string_view> {
 protected:
  void SetUp() override {
    handler_ = set_warning_handler({});
    set_logical_devices("gpu", 2);
  }
  void TearDown() override {
    set_logical_devices("gpu", 0);
    set_warning_handler(handler_);
  }

  static std::string check(const LayerModel& made) {
    const testing::SavedState state(made.model);
    const RunResult expected = made.model.run(made.inputs, testing::single_threaded());
    // Each replica draws other random numbers. They do not show in these cases, but in roundings.
    const bool random = made.model.layer()->variables().size() > made.model.weights().size();
    const double most = testing::tolerance(random ? 2e-6 : 0, 1e-2);
    for (const bool cpu_merge : {true, false})
      for (const bool cpu_relocation : {false, true}) {
        const ReplicaConfig config{2, cpu_merge, cpu_relocation};
        state.restore();
        const Model many = testing::replicate(made.model, config);
        const std::string problem =
            disagreement(many.run(made.inputs, testing::single_threaded(config)), expected, most);
        if (!problem.empty()) return text(config, ": ", problem);
      }
    return "";
  }

 private:
  WarningHandler handler_;
};

TEST_P(ReplicasOfLayers, GiveTheOutputsOfOneDevice) {
  const auto cases = testing::layer_cases(std::string(GetParam()));
  int run = 0;
  for (const LayerCase& layer_case : cases) {
    SCOPED_TRACE(layer_case.name);
    if (testing::find_left_out(testing::not_in_models(), layer_case) != nullptr) continue;
    std::string problem;
    try {
      const LayerModel made = [&] {
        const auto scope = device_scope("gpu:0");
        return testing::layer_model(layer_case);
      }();
      if (!batch_of(layer_case, made)) continue;
      ++run;
      problem = check({made.model, five_samples(made.inputs)});
    } catch (const std::exception& error) {
      problem = error.what();
    }
    const LeftOut* out = testing::find_left_out(left_out(), layer_case);
    if (out == nullptr)
      EXPECT_EQ(problem, "");
    else
      EXPECT_NE(problem, "") << "is left out although it passes: " << out->reason;
  }
  EXPECT_TRUE(cases.empty() || run > 0) << "no case can be split";
}

INSTANTIATE_TEST_SUITE_P(All, ReplicasOfLayers, ::testing::ValuesIn(layer_names()),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace keratin
