#include "keratin/ops/random.h"

#include "keratin/backend/reference/loops.h"
#include "keratin/ops/philox.h"
#include "keratin/ops/random_operands.h"
#include "keratin/ops/records.h"

namespace keratin::reference {

namespace {

void random_bits(const Node&, const ops::RandomBitsOperands<View>& v) {
  const auto seed = static_cast<uint64_t>(v.key.as<int64_t>()[0]);
  const auto offset = static_cast<uint64_t>(v.key.as<int64_t>()[1]);
  for (int64_t i = 0; i < v.y.shape().count(); ++i)
    v.y.as<int32_t>()[i] =
        static_cast<int32_t>(philox_bits(seed, offset + static_cast<uint64_t>(i)));
}

}  // namespace

extern const KernelDef random_bits_loop{.name = "random_bits",
                                        .ops = {&ops::random_bits_op},
                                        .make = make_loop<ops::RandomBitsOperands, random_bits>};

}  // namespace keratin::reference
