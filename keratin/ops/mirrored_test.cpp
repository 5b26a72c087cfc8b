#include "keratin/ops/mirrored.h"
#include "keratin/graph/layer.h"

#include <gtest/gtest.h>

#include "keratin/autodiff/gradients.h"
#include "keratin/engine/compile.h"
#include "keratin/engine/devices.h"
#include "keratin/ops/ops.h"
#include "keratin/ops/shards.h"
#include "keratin/ops/transfer.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/waves.h"

namespace keratin::ops {
namespace {

constexpr Device cpu0{}, cpu1{Device::Kind::cpu, 1}, cpu2{Device::Kind::cpu, 2};

class MirroredTest : public ::testing::Test {
 protected:
  MirroredTest() {
    set_logical_devices("cpu", 3);
    x = module.input({DType::f32, {2, 3}}, "x");
    there = transfer(x, cpu1);
    both = mirrored({x, there});
  }
  ~MirroredTest() override { set_logical_devices("cpu", 1); }
  size_t transfers() const {
    size_t count = 0;
    for (const auto& node : module.block().nodes()) count += node->name() == "transfer" ? 1 : 0;
    return count;
  }

  Module module;
  Value x, there, both;
};

TEST_F(MirroredTest, EmitsOpsOncePerCopy) {
  const Value y = sum(square(both) * 2.0, {1});
  ASSERT_TRUE(is_mirrored(y));
  const Values& copies = y.node().inputs();
  ASSERT_EQ(copies.size(), 2U);
  EXPECT_EQ(copies[0].type().device, cpu0);
  EXPECT_EQ(copies[1].type().device, cpu1);
  EXPECT_EQ(transfers(), 1U);  // that of the copy itself

  // A constant has no device of its own: the op is where the copy is.
  EXPECT_EQ((1.0 - both).node().in(1).type().device, cpu1);

  // An input that is not mirrored is transferred to each device; the result is mirrored.
  const Value w = module.input({DType::f32, {2}}, "w");
  EXPECT_TRUE(is_mirrored(y + w));
  EXPECT_EQ(transfers(), 2U);
}

TEST_F(MirroredTest, WholeOnTakesTheCopyOnThatDevice) {
  EXPECT_EQ(whole_on(both, cpu0), x);
  EXPECT_EQ(whole_on(both, cpu1), there);
  const Value sent = whole_on(both, cpu2);
  EXPECT_EQ(sent.node().name(), "transfer");
  EXPECT_EQ(sent.node().in(), x);
  EXPECT_EQ(transfer(both, cpu1), there);
  EXPECT_TRUE(is_distributed(both));
  EXPECT_FALSE(is_sharded(both));
  EXPECT_EQ(mirrored({x}), x);
}

// Ops with several outputs or regions get the first copy.
TEST_F(MirroredTest, OtherOpsTakeTheFirstCopy) {
  const auto top = top_k(both, 2);
  EXPECT_EQ(top.values.node().in(), x);
}

TEST_F(MirroredTest, GradientIsThatOfOneValue) {
  const Value y = sum(both * both);
  module.output(y);
  for (const Value& g : gradients(y, {x})) module.output(g);
  const Tensor data = testing::waves({2, 3});
  for (const char* backend : {"cpu", "reference"}) {
    const auto out = compile(module.clone(), {.backend = backend})({data});
    double expected = 0;
    for (int64_t i = 0; i < 6; ++i) {
      expected += data.at(i) * data.at(i);
      EXPECT_NEAR(out[1].at(i), 2 * data.at(i), 1e-6) << backend;
    }
    EXPECT_NEAR(out[0].at(0), expected, 1e-6) << backend;
  }
}

TEST_F(MirroredTest, RejectsCopiesOfDifferentTypes) {
  testing::expect_user_error(
      [&] {
        mirrored({x, sum(there)});
      },
      "mirrored: copies must have one type");
}

}  // namespace
}  // namespace keratin::ops
