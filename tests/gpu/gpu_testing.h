#pragma once

#include <gtest/gtest.h>

#include "keratin/backend/cuda/cuda.h"

namespace keratin::testing {

// Tests that need a GPU; elsewhere they are skipped, with the reason.
class OnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda::device_count() == 0) GTEST_SKIP() << cuda::why_no_device();
  }
};

}  // namespace keratin::testing
