#include "keratin/backend/cpu/cpu.h"

#include "keratin/backend/cpu/kernels.h"

namespace keratin {

namespace {

class CpuBackend final : public Backend {
 public:
  std::string_view name() const override { return "cpu"; }
  bool claims(const Node& node) const override {
    return !has_strings(node) && cpu::kernels().claims(node);
  }
  Choice make(const Node& node, const KernelOptions& options) const override {
    if (has_strings(node)) return {};
    return cpu::kernels().make(node, options);
  }
};

}  // namespace

const Backend& cpu_backend() {
  static const CpuBackend backend;
  return backend;
}

}  // namespace keratin
