#include "keratin/backend/cuda/cuda.h"

#include "keratin/backend/cuda/driver/gpu.h"
#include "keratin/backend/cuda/kernels.h"
#include "keratin/ops/records.h"

namespace keratin {

namespace {

using namespace cuda;

// Strings stay in the host's memory; a GPU may only hold where they are.
bool works_on_strings(const Node& node) {
  return has_strings(node) && &node.op() != &ops::transfer_op;
}

std::vector<const KernelDef*> kernel_defs() { return {kernels().begin(), kernels().end()}; }

class CudaBackend final : public Backend {
 public:
  std::string_view name() const override { return "cuda"; }

  bool claims(const Node& node) const override {
    return !works_on_strings(node) && kernels_.claims(node);
  }
  Choice make(const Node& node, const KernelOptions& options) const override {
    if (works_on_strings(node)) return {};
    return kernels_.make(node, options);
  }

  std::unique_ptr<DeviceQueue> open(Device device) const override {
    return std::make_unique<cuda::Queue>(device);
  }

  std::shared_ptr<void> keep(Device device, const Tensor& tensor) const override {
    std::shared_ptr<void> memory = allocate(device, tensor.bytes());
    copy_now(memory.get(), tensor.raw(), tensor.bytes());
    return memory;
  }

  void move(Device device, void* to, const void* from, size_t bytes) const override {
    gpu(device).enter();
    copy_now(to, from, bytes);
  }

  void copy(void* to, const void* from, size_t bytes) const override {
    if (bytes > 0)
      check(driver().copy_async(address(to), address(from), bytes, current_queue().stream()),
            "copy");
  }

  void fetch(void* to, const void* from, size_t bytes) const override {
    current_queue().download(to, from, bytes);
    current_queue().finish();
  }

 private:
  const KernelList kernels_ = KernelList(kernel_defs());
};

}  // namespace

const Backend& cuda_backend() {
  static const CudaBackend backend;
  return backend;
}

}  // namespace keratin
