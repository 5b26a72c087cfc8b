#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "keratin/backend/cuda/cuda.h"

namespace keratin::testing {

// True if there is a GPU. If KERATIN_REQUIRE_GPU is set and there is none, the test fails, so that
// skipped tests are not taken for passed ones.
inline bool has_gpu() {
  if (cuda::device_count() > 0) return true;
  EXPECT_EQ(std::getenv("KERATIN_REQUIRE_GPU"), nullptr) << cuda::why_no_device();
  return false;
}

// For SetUp: skips the test, with the reason, if there is no GPU; or fails, see above.
inline void need_for_gpu(bool there, const std::string& reason) {
  if (there) return;
  ASSERT_EQ(std::getenv("KERATIN_REQUIRE_GPU"), nullptr) << reason;
  GTEST_SKIP() << reason;
}

// Every backend of this machine: "cuda" only if there is a GPU. Tests compile with `.tf32 = false`,
// so that all backends multiply with the same precision.
inline std::vector<std::string> backends() {
  std::vector<std::string> all = {"reference", "cpu"};
  if (has_gpu()) all.emplace_back("cuda");
  return all;
}

}  // namespace keratin::testing
