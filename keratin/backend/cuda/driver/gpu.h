#pragma once

#include <map>
#include <mutex>

#include "keratin/backend/cuda/collective/peers.h"
#include "keratin/backend/cuda/driver/driver.h"
#include "keratin/backend/cuda/driver/memory_pool.h"
#include "keratin/backend/cuda/source.h"
#include "keratin/plan/device_queue.h"

namespace keratin::cuda {

// One GPU of the machine: its context, what it can do, and the kernels loaded into it.
class Gpu {
 public:
  explicit Gpu(int ordinal);

  void enter() const { check(driver().set_context(context_), "cuCtxSetCurrent"); }
  bool try_to_enter() const { return driver().set_context(context_) == 0; }
  Peer peer() const { return {device_, context_}; }
  int ordinal() const { return ordinal_; }
  const std::string& chip() const { return chip_; }
  // The largest shared memory that a block may request.
  int64_t shared_bytes() const { return shared_bytes_; }
  // True if kernels may start early and wait themselves: see `wait_for_others` in
  // kernels/prelude.cu.
  bool kernels_wait() const { return major_ >= 9; }
  // True if the blocks of a cluster can read each other's shared memory.
  bool has_clusters() const { return major_ >= 9; }

  // Memory outside of arenas: of the GPU, and pinned memory of the host. The caller has
  // entered.
  Pool& memory() { return memory_; }
  Pool& host_memory() { return host_memory_; }

  // The functions of a source, one per launch; compiled unless they are known.
  std::vector<FunctionHandle> functions(const Source& source);

 private:
  const int ordinal_;  // among the machine's
  int device_ = 0;
  ContextHandle context_ = nullptr;
  std::string chip_;  // "sm_90"
  int64_t shared_bytes_ = 0;
  int major_ = 0;  // of the compute capability
  Pool memory_, host_memory_;
  std::mutex lock_;
  std::map<std::string, ModuleHandle> modules_;  // by code
};

// Copies between any two memories, and waits for it. The caller has entered a GPU.
void copy_now(void* to, const void* from, size_t bytes);

// The GPU behind a device: virtual devices share those of the machine.
Gpu& gpu(Device device);

// Memory of a device, counted as the device's and freed with its last owner, who has waited for all
// work on it. Throws BackendError if there is too little.
std::shared_ptr<void> allocate(Device device, size_t bytes);

// One session's stream of work on a GPU.
class Queue final : public DeviceQueue {
 public:
  explicit Queue(Device device);
  ~Queue() override;

  std::byte* allocate(size_t bytes) override;
  std::byte* allocate_host(size_t bytes) override;
  void enter() override;
  void upload(void* to, const void* from, size_t bytes) override;
  void download(void* to, const void* from, size_t bytes) override;
  void send_staged(void* to, const void* from, size_t bytes, const WaitForBytes& wait) override;
  void wait_sent() override;
  void receive_staged() override;
  void wait() override;
  void throw_errors() override;
  bool record(std::span<const Launch> steps, const Dependencies& after) override;
  void replay() override;

  StreamHandle stream() const { return stream_; }
  // Where kernels report an index that is out of range: the node, the index, the size.
  long long* const& fault() const { return fault_; }

 private:
  std::byte* own(std::shared_ptr<void> memory);
  void capture(std::span<const Launch> steps, const Dependencies& after);

  const Device device_;
  Gpu& gpu_;
  StreamHandle stream_ = nullptr;
  long long* fault_ = nullptr;                 // of the host, seen by the device
  std::vector<std::shared_ptr<void>> memory_;  // of the device and of the host
  GraphExecHandle graph_ = nullptr;

  // Bytes are staged in `staged_` while launches run, which then copy them to `staged_for_`.
  StreamHandle staging_stream_ = nullptr;
  EventHandle arrived_ = nullptr, taken_ = nullptr;
  std::byte* staged_ = nullptr;
  void* staged_for_ = nullptr;
  size_t staged_bytes_ = 0;
};

// The queue that the calling thread launches into.
Queue& current_queue();

}  // namespace keratin::cuda
