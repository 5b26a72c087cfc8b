#include "keratin/backend/cuda/driver/gpu.h"
#include "keratin/backend/cuda/source_kernel.h"
#include "keratin/base/text.h"
#include "keratin/ops/records.h"
#include "keratin/plan/view.h"

namespace keratin::cuda {

namespace {

// Between the host and a device, or two devices. The input is complete, because another queue made
// it; the output's memory may still be in use by what this queue launched before.
class TransferStep final : public Kernel {
 public:
  explicit TransferStep(const Node& node) : node_(node) {}
  std::string describe() const override { return text("cuda transfer to ", node_.type().device); }
  Launch bind(Pointers p) const override {
    return
        [this, views = operands<UnaryOperands>(node_, p)] { run(views.x.data(), views.y.data()); };
  }

 private:
  void run(const void* from, void* to) const {
    const size_t bytes = bytes_of(node_.type());
    if (node_.device().kind == Device::Kind::cpu) {
      gpu(node_.in().type().device).enter();
      return copy_now(to, from, bytes);
    }
    if (bytes == 0) return;
    const StreamHandle stream = current_queue().stream();
    check(driver().copy_async(address(to), address(from), bytes, stream), "transfer");
    check(driver().synchronize(stream), "transfer");
  }

  const Node& node_;
};

Offer make_transfer(const Node& node, const KernelOptions&) {
  return {.kernel = std::make_unique<TransferStep>(node)};
}

}  // namespace

extern const CudaKernel transfer_kernel{
    {.name = "transfer", .ops = {&ops::transfer_op}, .make = make_transfer}};

}  // namespace keratin::cuda
