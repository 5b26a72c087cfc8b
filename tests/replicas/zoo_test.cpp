// Every recorded model is replicated over stand-ins for GPUs: the answers stay the same.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "keratin/base/warning.h"
#include "keratin/distribute/multi_gpu_model.h"
#include "keratin/testing/zoo.h"
#include "tests/replicas/difference_testing.h"

namespace keratin {
namespace {

using testing::load_zoo_model;
using testing::ZooModel;

// As many samples as asked for, by going round in those there are.
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

// The largest difference, in units of the largest value.
double difference(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.shape(), b.shape());
  const std::vector<double> x = a.to_vector(), y = b.to_vector();
  double scale = 1, most = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i]) != std::isnan(y[i])) return std::numeric_limits<double>::infinity();
    scale = std::max(scale, std::abs(y[i]));
    most = std::max(most, std::abs(x[i] - y[i]));
  }
  return most / scale;
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

TEST_P(ReplicaZoo, AnswersAsOneDeviceDoes) {
  const ZooModel zoo = load_zoo_model(GetParam());
  const bool in_half = GetParam().find("mixed_precision") != std::string::npos;
  const double most = testing::tolerance(1e-6, in_half ? 5e-3 : 1e-5);
  for (const int gpus : {2, 3, 4})
    for (const bool cpu_merge : {true, false}) {
      const Model parallel = multi_gpu_model(zoo.model, {.gpus = gpus, .cpu_merge = cpu_merge});
      for (const int64_t batch : {1, 7, 10}) {
        const auto inputs =
            zoo.inputs.map<Tensor>([&](const Tensor& t) { return samples(t, batch); });
        const RunResult one = zoo.model.run(inputs), many = parallel.run(inputs);
        const auto expected = one.outputs.flat(), got = many.outputs.flat();
        ASSERT_EQ(got.size(), expected.size());
        for (size_t i = 0; i < got.size(); ++i)
          EXPECT_LE(difference(got[i], expected[i]), most)
              << gpus << " devices, batch " << batch << ", output " << i;
        ASSERT_EQ(many.masks.size(), one.masks.size());
        for (size_t i = 0; i < one.masks.size(); ++i) {
          ASSERT_EQ(many.masks[i].has_value(), one.masks[i].has_value()) << "mask " << i;
          if (!one.masks[i]) continue;
          EXPECT_EQ(many.masks[i]->to_vector(), one.masks[i]->to_vector());
        }
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
