#pragma once

#include <span>
#include <vector>

#include "keratin/backend/cuda/driver/driver.h"
#include "keratin/tensor/dtype.h"

namespace keratin::cuda {

struct Communicator_;
using CommunicatorHandle = Communicator_*;

// The part of NCCL that is used, as it is called. Numbers are NCCL's; 0 is success.
struct Nccl {
  static constexpr int sum = 0;

  int (*init_all)(CommunicatorHandle*, int count, const int* devices);
  int (*all_reduce)(const void* from, void* to, size_t count, int type, int operation,
                    CommunicatorHandle, StreamHandle);
  int (*group_start)();
  int (*group_end)();
  const char* (*error_string)(int);
};

// nullptr where there is none.
const Nccl* nccl();

// GPUs of this process that sum together. Whoever calls takes turns.
class Clique {
 public:
  // By the driver's numbers. BackendError when NCCL cannot connect them.
  Clique(const Nccl& nccl, const std::vector<int>& gpus);

  // What one GPU has of a tensor, and where it wants the sum.
  struct Part {
    const void* from = nullptr;
    void* to = nullptr;
    size_t count = 0;
    DType dtype = DType::f32;
  };
  static bool sums(DType dtype);
  // Launches the sums of several tensors, each a row of parts in the order of the GPUs.
  void all_reduce(std::span<const Part> parts, std::span<const StreamHandle> streams) const;

 private:
  const Nccl& nccl_;
  std::vector<CommunicatorHandle> communicators_;
};

}  // namespace keratin::cuda
