#include "keratin/backend/cpu/levels/random.h"

#include "keratin/backend/cpu/call_kernel.h"
#include "keratin/backend/cpu/levels.h"
#include "keratin/ops/random_operands.h"
#include "keratin/ops/records.h"

namespace keratin::cpu {
namespace {

Offer make_random_bits(const Node& node, const KernelOptions& options) {
  return offer_call<ops::RandomBitsOperands>(
      node, text("random bits ", node.type().shape),
      [bits = routines<RandomRoutines>().bits, count = node.type().shape.count(),
       threads = options.threads](const auto& v) {
        const auto* const key = static_cast<const uint64_t*>(v.key.data());
        bits({.out = static_cast<uint32_t*>(v.y.data()),
              .count = count,
              .seed = key[0],
              .offset = key[1],
              .threads = threads});
      });
}

}  // namespace

extern constinit const KernelDef random_bits_kernel{
    .name = "random bits",
    .ops = {&ops::random_bits_op},
    .make = make_random_bits,
};

}  // namespace keratin::cpu
