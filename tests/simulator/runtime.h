// What a compiled kernel and the driver know of each other. Both sides include it, and kernels have
// no standard library.
#pragma once

namespace keratin::simulator {

struct Index3 {
  unsigned x = 0, y = 0, z = 0;
};

// The state of a thread that a kernel's source sees.
struct ThreadView {
  Index3 thread, block, block_size, grid_size;
  char* shared = nullptr;  // of the block, besides what the source declares
};

enum class Touch { read, write, atomic };

// Where threads meet, and instructions that need more than one of them or more than plain C++.
struct Runtime {
  const ThreadView* self = nullptr;                         // the thread that is running
  const void *stack_begin = nullptr, *stack_end = nullptr;  // its own memory

  // What a thread does to memory, if it is looked at.
  void (*touch)(const void* address, unsigned long bytes, Touch how) = nullptr;

  void (*meet_block)() = nullptr;
  // `in_order`: what one wrote before can be read by others then.
  void (*meet_cluster)(bool in_order) = nullptr;
  // The lanes of a warp that `mask` names meet at `what`, each with up to 32 bytes; the answer is
  // 32 slots of 32 bytes, one for each lane, and stays as it is until they have met again.
  const char* (*meet_warp)(unsigned mask, const char* what, const void* mine,
                           unsigned bytes) = nullptr;
  // Which lanes brought something when the warp met last.
  unsigned (*lanes_met)() = nullptr;

  // Addresses in shared memory, as 32 bits.
  unsigned (*to_shared)(const void* generic) = nullptr;
  float (*load_of_cluster)(unsigned address, unsigned block) = nullptr;
  void (*load_matrices)(unsigned address, unsigned count, bool transposed,
                        unsigned* words) = nullptr;

  // Copies that are done when they are waited for.
  void (*fetch)(unsigned to, const void* from, unsigned bytes, unsigned there) = nullptr;
  void (*end_fetches)() = nullptr;
  void (*wait_for_fetches)(unsigned groups_left) = nullptr;

  // Tensor cores: sums += a · b for 16 x 8 numbers, which a warp shares.
  void (*multiply_tf32)(float* sums, const unsigned* a, const unsigned* b) = nullptr;
  void (*multiply_f16)(float* sums, const unsigned* a, const unsigned* b) = nullptr;
  void (*multiply_bf16)(float* sums, const unsigned* a, const unsigned* b) = nullptr;

  // Conversions, as bits.
  unsigned (*to_f16)(float) = nullptr;
  float (*from_f16)(unsigned) = nullptr;
  unsigned (*to_bf16)(float) = nullptr;
  unsigned (*to_tf32)(float) = nullptr;
  double (*erfinv)(double) = nullptr;
};

// A function of a module.
struct KernelInfo {
  const char* name;
  void (*call)(void** arguments);
  const unsigned* sizes;  // of the arguments, in bytes
  unsigned arguments;
  unsigned max_threads;  // of a block; 0 is any
  unsigned cluster;      // blocks
};

// What a module exports as `keratin_module`.
struct ModuleInfo {
  Runtime** runtime;  // to be set
  const char* begin;  // of the module in memory; its constants end where shared begins
  char *shared_begin, *shared_end;  // what its source declares
  const KernelInfo* kernels;
  unsigned count;
};

}  // namespace keratin::simulator
