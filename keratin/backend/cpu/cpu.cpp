#include "keratin/backend/cpu/cpu.h"

#include "keratin/backend/cpu/kernels.h"

namespace keratin {

namespace {

class CpuBackend final : public Backend {
 public:
  std::string_view name() const override { return "cpu"; }

  bool claims(const Node& node) const override {
    const cpu::KernelEntry* entry = cpu::find_kernels(node.op());
    return entry != nullptr && (entry->claims == nullptr || entry->claims(node));
  }

  Offer make(const Node& node, const KernelOptions& options) const override {
    const cpu::KernelEntry* entry = cpu::find_kernels(node.op());
    if (entry == nullptr) return cpu::refuse("no kernel");
    std::string reasons;
    for (const cpu::Maker maker : entry->makers) {
      Offer offer = maker(node, options);
      if (offer.kernel) return offer;
      reasons += (reasons.empty() ? "" : ", ") + offer.refusal;
    }
    return cpu::refuse(reasons);
  }
};

}  // namespace

const Backend& cpu_backend() {
  static const CpuBackend backend;
  return backend;
}

}  // namespace keratin
