#include "keratin/ops/all_reduce.h"
#include "keratin/graph/layer.h"

#include <gtest/gtest.h>

#include "keratin/base/text.h"
#include "keratin/engine/compile.h"
#include "keratin/engine/devices.h"
#include "keratin/ops/collective.h"
#include "keratin/ops/ops.h"
#include "keratin/ops/registry.h"
#include "keratin/ops/transfer.h"
#include "keratin/passes/decompose_unclaimed.h"
#include "keratin/passes/eliminate_dead.h"
#include "keratin/testing/check_pass.h"
#include "keratin/testing/expect_error.h"

namespace keratin::ops {
namespace {

constexpr Device gpu0{Device::Kind::gpu, 0}, gpu1{Device::Kind::gpu, 1};

class AllReduceTest : public ::testing::Test {
 protected:
  AllReduceTest() { set_logical_devices("gpu", 2); }
  ~AllReduceTest() override { set_logical_devices("gpu", device_count_); }

 private:
  const int device_count_ = static_cast<int>(devices(Device::Kind::gpu).size());
};

TEST_F(AllReduceTest, EachDeviceGetsTheSums) {
  for (const std::string backend : {"cpu", "reference"}) {
    Module m;
    const Value x = m.input({DType::f32, {2}}), y = m.input({DType::f32, {2}});
    const Value z = m.input({DType::f32, {}});
    const auto sums = all_reduce(
        {{transfer(x, gpu0), transfer(y, gpu1)}, {transfer(z, gpu0), transfer(z, gpu1)}});
    ASSERT_EQ(sums.size(), 2U);
    for (const Values& sum : sums) {
      EXPECT_EQ(sum[0].type().device, gpu0);
      EXPECT_EQ(sum[1].type().device, gpu1);
      for (const Value& copy : sum) m.output(transfer(copy * 10.0, {}));
    }
    const auto made = compile(std::move(m), {.backend = backend})(std::vector{
        Tensor::of<float>(DType::f32, {2}, {1, 2}), Tensor::of<float>(DType::f32, {2}, {30, 40}),
        Tensor::of<float>(DType::f32, {}, {7})});
    EXPECT_EQ(made[0].to_vector(), (std::vector<double>{310, 420}));
    EXPECT_EQ(made[1].to_vector(), (std::vector<double>{310, 420}));
    EXPECT_EQ(made[2].to_vector(), (std::vector<double>{140}));
    EXPECT_EQ(made[3].to_vector(), (std::vector<double>{140}));
  }
}

// On GPUs a bucket is one node, which a backend may run as one step; elsewhere it is transfers.
TEST_F(AllReduceTest, IsEmittedByTheCollectiveForGpus) {
  const auto emitted = [](Device first, Device second) {
    Module m;
    const Value x = m.input({DType::f32, {2}, first}), y = m.input({DType::f32, {2}, second});
    collective::all_reduce_bucket(std::vector<Values>{{x, y}, {x, y}});
    std::vector<std::string> names;
    for (const auto& node : m.block().nodes()) names.emplace_back(node->name());
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(emitted(gpu0, gpu1), Names{"all_reduce"});
  const Names transfers{"transfer", "add", "transfer", "transfer", "add", "transfer"};
  EXPECT_EQ(emitted({}, {Device::Kind::cpu, 1}), transfers);
  EXPECT_EQ(emitted(gpu0, {}), transfers);
}

TEST_F(AllReduceTest, DecomposesIntoTransfersAndAdditions) {
  const auto decompose = [](Module m) {
    return eliminate_dead(decompose_unclaimed(std::move(m), [](const Node&) { return false; }));
  };
  testing::check_pass(decompose,
                      R"(module(%x: f32[3]@gpu:0, %y: f32[3]@gpu:1) {
      %a, %b, %c, %d = all_reduce(%x, %y, %x, %y) {devices = [gpu:0, gpu:1]}
      return %a, %b, %d
    })",
                      R"(module(%x: f32[3]@gpu:0, %y: f32[3]@gpu:1) {
      %0 = transfer(%y) {device = gpu:0} : f32[3]@gpu:0
      %1 = add(%x, %0) : f32[3]@gpu:0
      %2 = transfer(%1) {device = gpu:1} : f32[3]@gpu:1
      %3 = transfer(%x) {device = gpu:1} : f32[3]@gpu:1
      %4 = add(%3, %y) : f32[3]@gpu:1
      return %1, %2, %4
    })");
}

TEST_F(AllReduceTest, RejectsInputsThatAreNotABucket) {
  const auto refused = [](const std::string& line, const std::string& message) {
    testing::expect_user_error(
        [&] {
          parse(text("module(%x: f32[3]@gpu:0, %y: f32[3]@gpu:1, %z: f32[2]@gpu:1) {", line,
                     " return %a }"));
        },
        message);
  };
  refused("%a = all_reduce(%x) {devices = [gpu:0, gpu:1]}",
          "1 inputs are not a multiple of 2 devices");
  refused("%a = all_reduce(%x) {devices = []}", "1 inputs are not a multiple of 0 devices");
  refused("%a, %b = all_reduce(%x, %z) {devices = [gpu:0, gpu:1]}", "must have one type");
  refused("%a, %b = all_reduce(%x, %y) {devices = [gpu:0, gpu:0]}", "gpu:0 is named twice");
}

}  // namespace
}  // namespace keratin::ops
