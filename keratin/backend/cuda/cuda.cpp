#include "keratin/backend/cuda/cuda.h"

#include <unordered_map>

#include "keratin/backend/cuda/attention/attention.h"
#include "keratin/backend/cuda/collective/all_reduce.h"
#include "keratin/backend/cuda/conv/conv.h"
#include "keratin/backend/cuda/driver/gpu.h"
#include "keratin/backend/cuda/families.h"
#include "keratin/backend/cuda/kernels.h"
#include "keratin/backend/cuda/matmul/matmul.h"
#include "keratin/backend/cuda/step.h"
#include "keratin/base/text.h"
#include "keratin/ops/records.h"

namespace keratin {

namespace {

using namespace cuda;

// Between the host and a device, or two devices. Whoever made the input has finished, being on
// another queue; the output's memory may still be in use by what this queue launched before.
class TransferStep final : public Kernel {
 public:
  explicit TransferStep(const Node& node) : node_(node) {}
  std::string describe() const override { return text("cuda transfer to ", node_.type().device); }
  Launch bind(Pointers p) const override {
    return [this, p] { run(p); };
  }

 private:
  void run(Pointers p) const {
    const size_t bytes = bytes_of(node_.type());
    if (node_.device().kind == Device::Kind::cpu) {
      gpu(node_.in().type().device).enter();
      return copy_now(p[1], p[0], bytes);
    }
    if (bytes == 0) return;
    const StreamHandle stream = current_queue().stream();
    check(driver().copy_async(address(p[1]), address(p[0]), bytes, stream), "transfer");
    check(driver().synchronize(stream), "transfer");
  }

  const Node& node_;
};

class CudaBackend final : public Backend {
 public:
  std::string_view name() const override { return "cuda"; }

  bool claims(const Node& node) const override {
    return &node.op() == &ops::transfer_op || find_text(node) != nullptr ||
           claims_conv_epilogue(node) || claims_epilogue(node) || claims_summed(node) ||
           claims_all_reduce(node);
  }

  Choice make(const Node& node, const KernelOptions& options) const override {
    if (&node.op() == &ops::transfer_op) return {.kernel = std::make_unique<TransferStep>(node)};
    if (&node.op() == &ops::matmul_op)
      if (auto kernel = make_matmul(node, options)) return {.kernel = std::move(kernel)};
    if (auto kernel = make_epilogue(node, options)) return {.kernel = std::move(kernel)};
    if (auto kernel = make_summed(node, options)) return {.kernel = std::move(kernel)};
    if (auto kernel = make_conv_step(node, options)) return {.kernel = std::move(kernel)};
    if (auto kernel = make_all_reduce(node)) return {.kernel = std::move(kernel)};
    const TextMaker maker = find_text(node);
    if (maker == make_attention)
      return {.kernel = make_step(node, attention_text(node, options.tf32))};
    if (maker != nullptr) return {.kernel = make_step(node, maker(node))};
    return {};
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
};

}  // namespace

const Backend& cuda_backend() {
  static const CudaBackend backend;
  return backend;
}

}  // namespace keratin
