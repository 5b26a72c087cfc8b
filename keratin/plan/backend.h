#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <string>

#include "keratin/ir/node.h"
#include "keratin/tensor/tensor.h"

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
  // On a GPU: products of f32 are made from 11 significant bits, and added up in f32.
  bool tf32 = true;
  // Is a value the same in many runs, as weights are that the program only reads? What a kernel
  // prepares from it is then prepared once. Empty where nothing is kept.
  std::function<bool(const Value&)> lasts = {};
};

class DeviceQueue;  // see device_queue.h

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

  // What follows is for devices with memory of their own; otherwise kernels run at once, on the
  // host's memory.
  virtual std::unique_ptr<DeviceQueue> open(Device) const;
  // A copy of the bytes on the device.
  virtual std::shared_ptr<void> keep(Device, const Tensor&) const { return nullptr; }
  // Between the host and the device, at once.
  virtual void move(Device, void* to, const void* from, size_t bytes) const {
    std::memcpy(to, from, bytes);
  }
  // Copies within a device, in the order of the launches.
  virtual void copy(void* to, const void* from, size_t bytes) const {
    std::memcpy(to, from, bytes);
  }
  // Brings bytes to the host, after all that was launched.
  virtual void fetch(void* to, const void* from, size_t bytes) const {
    std::memcpy(to, from, bytes);
  }
};

}  // namespace keratin
