#pragma once

#include <memory>

#include "keratin/backend/cpu/tile/conv_desc.h"

namespace keratin::cpu {

enum class ConvDirection : uint8_t { forward, grad_input, grad_filter };

// The three arrays of a convolution: two are read, the one of the direction is written.
struct ConvArgs {
  const void* x = nullptr;
  const void* filter = nullptr;
  const void* y = nullptr;
  void* result = nullptr;
  const void* bias = nullptr;    // one value per filter
  const void* addend = nullptr;  // laid out as y
  void* scratch = nullptr;       // scratch_bytes(), aligned to 64
  BlockHook hook;
};

// A convolution or one of its gradients, ready to run on any number of threads at once, each with
// its own scratch.
class Conv {
 public:
  virtual ~Conv() = default;
  virtual size_t scratch_bytes() const = 0;
  virtual void run(const ConvArgs& args) const = 0;
  // True if the result may be the memory of the addend.
  virtual bool takes_addend_in_place() const { return true; }
  virtual std::string describe() const = 0;

  // For a packed filter: its size, the packing, and everything that its bytes depend on beside the
  // filter.
  virtual size_t packed_bytes() const { return 0; }
  virtual void pack(const void* /*filter*/, void* /*packed*/) const {}
  virtual std::string describe_packing() const { return ""; }
};

// Why tiles cannot compute a convolution; empty when they can.
std::string refuse_conv(const ConvDesc& desc);

struct ConvOptions {
  int threads = 1;
  bool deterministic = false;  // the result does not depend on the number of threads
  Level level = levels().back();
};

// Whether the filter may come packed, and whether it is packed in every run unless it does.
bool takes_packed_filter(const ConvDesc& desc);
bool packs_filter(const ConvDesc& desc, const ConvOptions& options);
std::unique_ptr<Conv> make_conv(const ConvDesc& desc, ConvDirection direction,
                                const ConvOptions& options);

}  // namespace keratin::cpu
