#include "keratin/engine/devices.h"

#include <gtest/gtest.h>

#include "keratin/graph/variable_shards.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;

class LogicalDevices : public ::testing::Test {
 protected:
  LogicalDevices() { set_logical_devices("gpu", 2); }
  ~LogicalDevices() override { set_logical_devices("gpu", 0); }
};

TEST_F(LogicalDevices, HaveTheRequestedNumber) {
  EXPECT_EQ(devices(Device::Kind::gpu), (std::vector{Device("gpu:0"), Device("gpu:1")}));
  EXPECT_EQ(devices(), (std::vector{Device("cpu:0"), Device("gpu:0"), Device("gpu:1")}));
}

TEST_F(LogicalDevices, RefuseBadKindsAndNumbers) {
  expect_user_error([] { set_logical_devices("tpu", 2); },
                    "set_logical_devices: the kind must be 'cpu' or 'gpu', got 'tpu'");
  expect_user_error([] { set_logical_devices("cpu", 0); },
                    "set_logical_devices: expected 1 to 1024 devices of kind 'cpu', got 0");
  expect_user_error([] { set_logical_devices("gpu", -1); },
                    "set_logical_devices: expected 0 to 1024 devices of kind 'gpu', got -1");
  expect_user_error([] { set_logical_devices("gpu", 1025); }, "0 to 1024");
  EXPECT_EQ(devices().size(), 3U) << "nothing has changed";
}

TEST_F(LogicalDevices, VariablesNeedExistingDevices) {
  const Variable v({.name = "v", .shape = {4}, .initializer = "ones", .device = Device("gpu:1")});
  EXPECT_EQ(v.value().at(3), 1);
  const uint64_t moves = Variable::moves();
  const std::string none = "variable 'v': there is no device gpu:7; there are 3, the last is gpu:1";
  const size_t before = memory_use(Device("gpu:7")).used;
  expect_user_error([&] { v.move_to(Device("gpu:7")); }, none);
  expect_user_error([&] { mirror_variable(v, {Device("gpu:0"), Device("gpu:7")}); }, none);
  expect_user_error([&] { shard_variable(v, 0, {Device("gpu:7"), Device("gpu:0")}); }, none);
  expect_user_error([] { Variable({.name = "v", .shape = {4}, .device = Device("gpu:7")}); }, none);
  EXPECT_EQ(v.device(), Device("gpu:1"));
  EXPECT_EQ(shards_of(v), nullptr);
  EXPECT_EQ(Variable::moves(), moves);
  EXPECT_EQ(memory_use(Device("gpu:7")).used, before);
  v.move_to(Device("gpu:0"));
  EXPECT_EQ(v.value().at(3), 1);
}

// A removed device cannot be used any more.
TEST_F(LogicalDevices, MayBecomeFewer) {
  const Variable v({.name = "v", .shape = {4}, .device = Device("gpu:1")});
  set_logical_devices("gpu", 1);
  v.move_to(Device("gpu:0"));
  expect_user_error([&] { v.move_to(Device("gpu:1")); }, "variable 'v': there is no device gpu:1");
}

}  // namespace
}  // namespace keratin
