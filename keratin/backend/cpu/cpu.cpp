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

  Choice make(const Node& node, const KernelOptions& options) const override {
    const cpu::KernelEntry* entry = cpu::find_kernels(node.op());
    if (entry == nullptr) return {};
    Choice choice;
    for (const cpu::Maker maker : entry->makers) {
      Offer offer = maker(node, options);
      if (offer.kernel) {
        choice.kernel = std::move(offer.kernel);
        return choice;
      }
      choice.refused.push_back({std::string(node.name()), std::move(offer.refusal)});
    }
    return choice;
  }
};

}  // namespace

const Backend& cpu_backend() {
  static const CpuBackend backend;
  return backend;
}

}  // namespace keratin
