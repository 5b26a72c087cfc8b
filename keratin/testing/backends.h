#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "keratin/backend/cuda/cuda.h"

namespace keratin::testing {

// Is there a GPU? Where KERATIN_REQUIRE_GPU is set the test fails if not, so that nobody takes
// tests that were skipped for tests that passed.
inline bool has_gpu() {
  if (cuda::device_count() > 0) return true;
  EXPECT_EQ(std::getenv("KERATIN_REQUIRE_GPU"), nullptr) << cuda::why_no_device();
  return false;
}

// For SetUp: without something that tests on a GPU need they are skipped, with the reason, or fail.
inline void need_for_gpu(bool there, const std::string& reason) {
  if (there) return;
  ASSERT_EQ(std::getenv("KERATIN_REQUIRE_GPU"), nullptr) << reason;
  GTEST_SKIP() << reason;
}

// Every backend that this machine has: "cuda" only where there is a GPU. Tests compile with
// `.tf32 = false`, so that all of them mean the same by a product.
inline std::vector<std::string> backends() {
  std::vector<std::string> all = {"reference", "cpu"};
  if (has_gpu()) all.emplace_back("cuda");
  return all;
}

}  // namespace keratin::testing
