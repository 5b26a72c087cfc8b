#pragma once

#include <functional>
#include <optional>

#include "keratin/plan/preparation.h"
#include "keratin/plan/view.h"

namespace keratin::cpu {

// Packs one operand of a node before its step, where it is stable: the preparation of matmuls and
// convolutions.
class Packing final : public Preparation {
 public:
  using Pack = std::function<void(const void* from, void* to)>;

  // `what` is everything that the packed bytes depend on beside the operand.
  Packing(const Node& node, size_t input, size_t bytes, std::string what, Pack pack)
      : node_(node), input_(input), bytes_(bytes), what_(std::move(what)), pack_(std::move(pack)) {}

  std::string describe() const override { return "pack " + what_; }
  size_t scratch_bytes() const override { return bytes_; }
  bool reads(size_t input) const override { return input == input_; }
  bool replaces(size_t input) const override { return input == input_; }
  Launch bind(Pointers pointers) const override {
    return
        [this, from = pointers + input_, to = scratch_slot(node_, pointers)] { pack_(*from, *to); };
  }

 private:
  const Node& node_;
  size_t input_, bytes_;
  std::string what_;
  Pack pack_;
};

}  // namespace keratin::cpu
