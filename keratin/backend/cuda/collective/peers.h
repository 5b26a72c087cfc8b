#pragma once

#include <vector>

#include "keratin/backend/cuda/driver/driver.h"

namespace keratin::cuda {

struct Peer {
  int device;
  ContextHandle context;
};

// Lets GPUs copy from each other's memory directly, where the machine can. Without it, the driver
// copies through the host.
void connect(const Driver& driver, const std::vector<Peer>& gpus);

}  // namespace keratin::cuda
