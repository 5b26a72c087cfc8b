#include "workload.h"

namespace keratin::bench {

Tensor random(DType dtype, const Shape& shape, int64_t below) {
  Tensor t(dtype, shape);
  uint64_t state = 88172645463325252ULL;
  for (int64_t i = 0; i < t.count(); ++i) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    t.set(i, below > 0 ? static_cast<double>(state % static_cast<uint64_t>(below))
                       : static_cast<double>(state >> 11) * 0x1p-53);
  }
  return t;
}

Loss classes_of_logits() { return losses::SparseCategoricalCrossentropy{.from_logits = true}; }

}  // namespace keratin::bench
