#pragma once

#include <span>
#include <vector>

#include "keratin/backend/cuda/driver/driver.h"
#include "keratin/tensor/dtype.h"

namespace keratin::cuda {

struct Communicator_;
using CommunicatorHandle = Communicator_*;

// The functions of NCCL that are used. Numbers are NCCL's; 0 is success.
struct Nccl {
  static constexpr int sum = 0;

  int (*init_all)(CommunicatorHandle*, int count, const int* devices);
  int (*all_reduce)(const void* from, void* to, size_t count, int type, int operation,
                    CommunicatorHandle, StreamHandle);
  int (*group_start)();
  int (*group_end)();
  const char* (*error_string)(int);
};

// nullptr where NCCL is not installed.
const Nccl* nccl();

// GPUs of this process that reduce together. Callers take turns.
class Clique {
 public:
  // `gpus` are the driver's numbers. Throws BackendError if NCCL cannot connect them.
  Clique(const Nccl& nccl, const std::vector<int>& gpus);

  // One GPU's addend of a tensor, and where its copy of the sum goes.
  struct Addend {
    const void* from = nullptr;
    void* to = nullptr;
    size_t count = 0;
    DType dtype = DType::f32;
  };
  static bool sums(DType dtype);
  // Launches the sums of several tensors, each a row of addends in the order of the GPUs.
  void all_reduce(std::span<const Addend> addends, std::span<const StreamHandle> streams) const;

 private:
  const Nccl& nccl_;
  std::vector<CommunicatorHandle> communicators_;
};

}  // namespace keratin::cuda
