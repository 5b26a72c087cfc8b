// Random models from the generator of tests/random, replicated: outputs and masks stay the same.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/model/program.h"
#include "keratin/model/summary.h"
#include "tests/random/recipe_testing.h"
#include "tests/replicas/difference_testing.h"
#include "tests/replicas/replica_config_testing.h"

namespace keratin {
namespace {

using testing::all_replica_configs;
using testing::difference;
using testing::ReplicaConfig;
using testing::replicate;
using testing::single_threaded;
using testing::tolerance;

// A batch of the given size, from several seeds of the generator.
Tree<Tensor> samples(const Model& model, uint64_t seed, int64_t count) {
  std::vector<std::vector<Tensor>> batches;
  const int64_t each = data_for(model, seed).flat()[0].shape()[0];
  for (int64_t have = 0; have < count; have += each)
    batches.push_back(data_for(model, seed + static_cast<uint64_t>(have)).flat());
  size_t next = 0;
  return data_for(model, seed).map<Tensor>([&](const Tensor& like) {
    Dims dims = like.shape().dims();
    dims[0] = count;
    Tensor whole(like.dtype(), dims);
    auto* to = static_cast<std::byte*>(whole.raw());
    size_t left = whole.bytes();
    for (const auto& batch : batches) {
      const size_t bytes = std::min(left, batch[next].bytes());
      std::memcpy(to, batch[next].raw(), bytes);
      to += bytes;
      left -= bytes;
    }
    ++next;
    return whole;
  });
}

// Describes the first difference between a recipe's model and its replicas; "" if there is none.
std::string fault(const Recipe& recipe, const std::vector<ReplicaConfig>& configs) {
  try {
    clear_session();
    const Model model = [&] {
      const auto scope = device_scope("gpu:0");
      return cook(recipe);
    }();
    std::map<int64_t, std::pair<Tree<Tensor>, RunResult>> expected;
    for (const int64_t batch : {1, 7, 10, 64}) {
      const Tree<Tensor> x = samples(model, recipe.seed, batch);
      expected[batch] = {x, model.run(x, single_threaded())};
    }
    for (const ReplicaConfig& config : configs) {
      const Model many = replicate(model, config);
      for (const auto& [batch, given] : expected) {
        const RunResult &one = given.second, got = many.run(given.first, single_threaded(config));
        if (difference(got.outputs.flat(), one.outputs.flat()) > tolerance(0, 1e-5))
          return text(config, ", batch ", batch, ": other numbers");
        if (got.masks != one.masks) return text(config, ", batch ", batch, ": another mask");
      }
    }
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

class RandomReplicas : public ::testing::Test {
 protected:
  void SetUp() override {
    handler_ = set_warning_handler({});
    set_logical_devices("gpu", 4);
  }
  void TearDown() override {
    set_logical_devices("gpu", 0);
    set_warning_handler(handler_);
  }

 private:
  WarningHandler handler_;
};

// Ends with the first model that fails, reduced as far as possible.
void compare(uint64_t seed, const std::vector<ReplicaConfig>& configs) {
  const std::string wrong = fault(random_recipe(seed), configs);
  if (wrong.empty()) return;
  const auto fails = [&](const Recipe& r) { return !fault(r, configs).empty(); };
  const Recipe least = shrink(random_recipe(seed), fails);
  FAIL() << "seed " << seed << ": " << wrong << "\nthe smallest model that fails ("
         << fault(least, configs) << "):\n"
         << summary_text(cook(least));
}

TEST_F(RandomReplicas, PredictAsOneDeviceDoes) {
  const char* given = std::getenv("KERATIN_RANDOM_REPLICAS");
  const uint64_t count = given == nullptr ? 600 : std::strtoull(given, nullptr, 10);
  const std::vector<ReplicaConfig> configs = all_replica_configs();
  for (uint64_t seed = 1; seed <= count && !HasFatalFailure(); ++seed)
    compare(seed, {configs[seed % configs.size()]});
}

TEST_F(RandomReplicas, PredictAsOneDeviceInAllConfigurations) {
  for (uint64_t seed = 1001; seed <= 1008 && !HasFatalFailure(); ++seed)
    compare(seed, all_replica_configs());
}

}  // namespace
}  // namespace keratin
