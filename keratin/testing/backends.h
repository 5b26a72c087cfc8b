#pragma once

#include <string>
#include <vector>

#include "keratin/backend/cuda/cuda.h"

namespace keratin::testing {

// Every backend that this machine has: "cuda" only where there is a GPU. Tests compile with
// `.tf32 = false`, so that all of them mean the same by a product.
inline std::vector<std::string> backends() {
  std::vector<std::string> all = {"reference", "cpu"};
  if (cuda::device_count() > 0) all.emplace_back("cuda");
  return all;
}

}  // namespace keratin::testing
