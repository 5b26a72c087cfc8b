#include "keratin/tensor/device.h"

#include <gtest/gtest.h>

#include "keratin/base/text.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;

TEST(Device, IsReadFromItsName) {
  EXPECT_EQ(Device("gpu:3"), (Device{Device::Kind::gpu, 3}));
  EXPECT_EQ(Device("/cpu:0"), Device{});
  EXPECT_EQ(text(Device("/GPU:12")), "gpu:12");
  for (const char* name : {"", "gpu", "gpu:", "gpu:-1", "gpu:1x", "tpu:0", "//gpu:0", "gpu:99999"})
    expect_user_error([&] { Device{std::string_view(name)}; },
                      text("Device: expected a name like 'cpu:0' or 'gpu:1', got '", name, "'"));
}

TEST(DeviceScope, EndsWhereItBegan) {
  EXPECT_EQ(DeviceScope::current(), std::nullopt);
  {
    const DeviceScope outer(Device("gpu:0"));
    EXPECT_EQ(DeviceScope::current(), Device("gpu:0"));
    {
      const DeviceScope inner(Device("cpu:1"));
      EXPECT_EQ(DeviceScope::current(), Device("cpu:1"));
    }
    EXPECT_EQ(DeviceScope::current(), Device("gpu:0"));
  }
  EXPECT_EQ(DeviceScope::current(), std::nullopt);
}

}  // namespace
}  // namespace keratin
