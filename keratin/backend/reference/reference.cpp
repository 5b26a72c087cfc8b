#include "keratin/backend/reference/reference.h"

#include "keratin/backend/reference/kernels.h"

namespace keratin {

namespace {

class ReferenceBackend final : public Backend {
 public:
  std::string_view name() const override { return "reference"; }
  bool claims(const Node& node) const override { return kernels_.claims(node); }
  Choice make(const Node& node, const KernelOptions& options) const override {
    return kernels_.make(node, options);
  }

 private:
  const KernelList kernels_ = KernelList(reference::kernels());
};

}  // namespace

const Backend& reference_backend() {
  static const ReferenceBackend backend;
  return backend;
}

}  // namespace keratin
