#include "keratin/tensor/memory.h"

#include <gtest/gtest.h>

#include "keratin/base/text.h"
#include "keratin/tensor/buffer.h"

namespace keratin {
namespace {

TEST(Memory, CountsWhatADeviceHolds) {
  const Device device("gpu:7");
  reset_memory_peak(device);
  EXPECT_EQ(memory_use(device).used, 0u);
  {
    const Buffer a = Buffer::allocate(1000, device), copy = a;
    EXPECT_EQ(memory_use(device).used, 1000u);
    { const Buffer b = Buffer::zeros(24, device); }
    EXPECT_EQ(memory_use(device).used, 1000u);
  }
  EXPECT_EQ(memory_use(device).used, 0u);
  EXPECT_EQ(memory_use(device).peak, 1024u);
  EXPECT_EQ(memory_use(device).limit, std::nullopt);
  reset_memory_peak(device);
  EXPECT_EQ(memory_use(device).peak, 0u);
}

TEST(Memory, RefusesMoreThanTheLimit) {
  const Device device("gpu:8");
  set_memory_limit(device, 4096);
  const Buffer first = Buffer::allocate(4000, device);
  try {
    Buffer::allocate(97, device);
    FAIL() << "more was given than there is";
  } catch (const BackendError& error) {
    EXPECT_STREQ(error.what(),
                 "gpu:8: out of memory, 97 bytes were requested and 96 of 4096 are free");
  }
  EXPECT_EQ(memory_use(device).used, 4000u);
  EXPECT_EQ(memory_use(device).limit, 4096u);
  const Buffer rest = Buffer::allocate(96, device);
  set_memory_limit(device, 10);  // less than is in use
  EXPECT_THROW(Buffer::allocate(1, device), BackendError);
  set_memory_limit(device, std::nullopt);
  EXPECT_NO_THROW(Buffer::allocate(5000, device));
}

}  // namespace
}  // namespace keratin
