// Every recorded model, replicated in every configuration over virtual GPUs: the outputs stay
// the same.
#include <gtest/gtest.h>

#include <map>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/testing/zoo.h"
#include "tests/replicas/difference_testing.h"
#include "tests/replicas/replica_config_testing.h"

namespace keratin {
namespace {

using testing::difference;
using testing::load_zoo_model;
using testing::ReplicaConfig;
using testing::replicate;
using testing::single_threaded;
using testing::ZooModel;

// A batch of the given size, cycling through the samples.
Tensor samples(const Tensor& from, int64_t count) {
  Dims dims = from.shape().dims();
  const int64_t have = dims[0], row = have == 0 ? 0 : from.shape().count() / have;
  dims[0] = count;
  const std::vector<double> all = from.to_vector();
  std::vector<double> out;
  for (int64_t i = 0; i < count; ++i)
    for (int64_t j = 0; j < row; ++j) out.push_back(all[static_cast<size_t>(i % have * row + j)]);
  return Tensor::of(from.dtype(), Shape(dims), out);
}

class ReplicaZoo : public ::testing::TestWithParam<std::string> {
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

void expect_same(const RunResult& got, const RunResult& expected, double most) {
  EXPECT_LE(difference(got.outputs.flat(), expected.outputs.flat()), most);
  ASSERT_EQ(got.masks.size(), expected.masks.size());
  for (size_t i = 0; i < got.masks.size(); ++i) {
    ASSERT_EQ(got.masks[i].has_value(), expected.masks[i].has_value()) << "mask " << i;
    if (!got.masks[i]) continue;
    EXPECT_EQ(*got.masks[i], *expected.masks[i]) << "mask " << i;
  }
}

TEST_P(ReplicaZoo, PredictsAsOneDeviceDoes) {
  const ZooModel zoo = [] {
    const auto scope = device_scope("gpu:0");
    return load_zoo_model(GetParam());
  }();
  const bool in_half = GetParam().find("mixed_precision") != std::string::npos;
  const double most = testing::tolerance(0, in_half ? 5e-3 : 1e-5);
  std::map<int64_t, std::pair<Tree<Tensor>, RunResult>> expected;
  for (const int64_t batch : {1, 7, 10, 64}) {
    const auto x = zoo.inputs.map<Tensor>([&](const Tensor& t) { return samples(t, batch); });
    expected[batch] = {x, zoo.model.run(x, single_threaded())};
  }
  for (const ReplicaConfig& config : testing::all_replica_configs()) {
    const Model many = replicate(zoo.model, config);
    for (const auto& [batch, one] : expected) {
      SCOPED_TRACE(text(config, ", batch ", batch));
      expect_same(many.run(one.first, single_threaded(config)), one.second, most);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ReplicaZoo, ::testing::ValuesIn(testing::zoo_names()),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name)
                             if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                           return name;
                         });

}  // namespace
}  // namespace keratin
