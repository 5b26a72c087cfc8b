#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "keratin/base/text.h"
#include "keratin/ir/node.h"

namespace keratin {

// The addresses a step works on: its inputs, then its outputs, then its scratch memory. An output
// nobody uses is nullptr. Addresses may change between runs, so a launch reads them each time; a
// slice of a larger value is aligned to its elements only. Kernels read them by name: see view.h.
using Pointers = void* const*;

// One step, tied to the memory of one session. Called again and again: no allocation, no lock.
using Launch = std::function<void()>;

// How to run one node, chosen when the plan is built. Immutable: sessions on many threads share it.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // What it is, for people: "matmul + bias + relu, tiles 14x32".
  virtual std::string describe() const = 0;
  virtual size_t scratch_bytes() const { return 0; }
  // True if this output may be written over this input, when nothing else reads the input.
  virtual bool in_place(size_t /*input*/, size_t /*output*/) const { return false; }
  // `pointers` outlives the launch; its entries are set before each run.
  virtual Launch bind(Pointers pointers) const = 0;
};

struct KernelOptions {
  int threads = 1;
  // Results do not depend on the number of threads.
  bool deterministic = false;
  // On a GPU: matmuls multiply f32 with 11 significant bits, and added up in f32.
  bool tf32 = true;
  // Whether a value is stable: it changes only when state that the program reads is assigned. A
  // preparation that reads stable values only is then skipped. Empty if no values are kept.
  std::function<bool(const Value&)> is_stable = {};
};

// A kernel, or the reason why it does not run the node.
struct Offer {
  std::unique_ptr<Kernel> kernel;
  std::string refusal = {};
};

// A kernel for the nodes of some ops. A backend is an ordered list of these records; the choice of
// a kernel, what a backend claims, and `keratin plan --explain` derive from the list.
struct KernelDef {
  std::string_view name;  // "softmax rows": for people, unique in its backend
  // The ops whose nodes it runs; none means nodes of any op that `refuses` does not refuse.
  std::array<const OpDef*, 8> ops = {};
  // The reason why it does not run the node, or nothing. Cheap: asked of every node before
  // decompositions are chosen.
  std::optional<std::string> (*refuses)(const Node&) = nullptr;
  // Called when the plan is built, for nodes that are not refused. May refuse too, where the reason
  // shows only then: a library that is not there, a candidate that is slower than the next one.
  Offer (*make)(const Node&, const KernelOptions&) = nullptr;
};

// Whether a node reads or gives strings, which only loops of the reference backend do.
bool has_strings(const Node& node);

// Why a kernel was not taken.
struct Refusal {
  std::string kernel, reason;
};

// What a backend takes for a node: the kernel, if there is one, and what would have been better.
struct Choice {
  std::unique_ptr<Kernel> kernel;
  std::string name = {};  // of the kernel's record
  std::vector<Refusal> refused = {};
};

// The kernels of a backend, best first; the first one that does not refuse a node runs it.
class KernelList {
 public:
  explicit KernelList(std::span<const KernelDef* const> kernels);

  bool claims(const Node& node) const;
  Choice make(const Node& node, const KernelOptions& options) const;

 private:
  const std::vector<const KernelDef*>& candidates(const OpDef& op) const;

  std::vector<const KernelDef*> for_any_op_;
  std::unordered_map<const OpDef*, std::vector<const KernelDef*>> by_op_;
};

// For `make`: an offer of no kernel, with the reason as text.
template <class... Parts>
Offer refuse(const Parts&... parts) {
  return {.kernel = nullptr, .refusal = text(parts...)};
}

}  // namespace keratin
