#pragma once

#include <vector>

#include "keratin/backend/cuda/driver/driver.h"

namespace keratin::cuda {

struct Peer {
  int device;
  ContextHandle context;
};

// Lets GPUs copy from each other's memory by themselves, where the machine can do that. Copies work
// without it too: then the driver sends them through the host.
void connect(const Driver& driver, const std::vector<Peer>& gpus);

}  // namespace keratin::cuda
