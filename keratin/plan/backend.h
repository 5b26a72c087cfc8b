#pragma once

#include <functional>
#include <memory>
#include <string>

#include "keratin/ir/node.h"
#include "keratin/tensor/buffer.h"

namespace keratin {

// The addresses a step works on: its inputs, then its outputs, then its scratch memory. An output
// nobody uses is nullptr. Addresses may change between runs, so a launch reads them each time; a
// slice of a larger value is aligned to its elements only.
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
  // May this output be written over this input, when nobody else needs the input?
  virtual bool in_place(size_t /*input*/, size_t /*output*/) const { return false; }
  // `pointers` outlives the launch; its entries are set before each run.
  virtual Launch bind(Pointers pointers) const = 0;
};

struct KernelOptions {
  int threads = 1;
  // Results do not depend on the number of threads.
  bool deterministic = false;
};

// A kernel, or the reason why this backend does not run the node.
struct Offer {
  std::unique_ptr<Kernel> kernel;
  std::string refusal;
};

// What runs nodes on one kind of device. Knows ops, not layers; never another backend.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  // Would `make` give a kernel? Cheap: asked of every node before decompositions are chosen.
  virtual bool claims(const Node& node) const = 0;
  virtual Offer make(const Node& node, const KernelOptions& options) const = 0;
};

}  // namespace keratin
