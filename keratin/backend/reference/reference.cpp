#include "keratin/backend/reference/reference.h"

#include <unordered_map>

#include "keratin/backend/reference/families.h"
#include "keratin/base/text.h"

namespace keratin {

namespace {

using reference::Call;
using reference::Entry;
using reference::Loop;

// clang-format off
// One family per line.
constexpr std::span<const Entry> (*families[])() = {
    reference::reduce_loops,
    reference::movement_loops,
    reference::matmul_loops,
    reference::conv_loops,
    reference::pool_loops,
    reference::slicing_loops,
    reference::indexing_loops,
    reference::cumulative_loops,
    reference::sort_loops,
    reference::random_loops,
};
// clang-format on

class ReferenceKernel final : public Kernel {
 public:
  ReferenceKernel(const Node& node, Loop loop) : node_(node), loop_(loop) {}
  std::string describe() const override { return text("reference ", node_.name()); }
  bool in_place(size_t input, size_t) const override {
    // Element by element, each read before it is written.
    return loop_ == reference::pointwise && node_.in(input).shape() == node_.type().shape &&
           size_of(node_.in(input).dtype()) == size_of(node_.type().dtype);
  }
  Launch bind(Pointers pointers) const override {
    return [this, pointers] { loop_(Call{node_, pointers}); };
  }

 private:
  const Node& node_;
  Loop loop_;
};

class ReferenceBackend final : public Backend {
 public:
  ReferenceBackend() {
    for (const auto family : families)
      for (const Entry& entry : family()) loops_.emplace(entry.op, entry.loop);
  }

  std::string_view name() const override { return "reference"; }
  bool claims(const Node& node) const override { return find(node) != nullptr; }
  Choice make(const Node& node, const KernelOptions&) const override {
    if (const Loop loop = find(node))
      return {.kernel = std::make_unique<ReferenceKernel>(node, loop)};
    return {.refused = {{"reference", "not a primitive"}}};
  }

 private:
  Loop find(const Node& node) const {
    if (node.op().scalar) return reference::pointwise;
    const auto found = loops_.find(&node.op());
    return found == loops_.end() ? nullptr : found->second;
  }

  std::unordered_map<const OpDef*, Loop> loops_;
};

}  // namespace

const Backend& reference_backend() {
  static const ReferenceBackend backend;
  return backend;
}

}  // namespace keratin
