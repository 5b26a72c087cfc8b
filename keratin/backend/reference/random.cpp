#include "keratin/ops/random.h"

#include "keratin/backend/reference/families.h"
#include "keratin/ops/philox.h"
#include "keratin/ops/records.h"

namespace keratin::reference {

namespace {

void random_bits(const Call& call) {
  const auto seed = static_cast<uint64_t>(call.in<int64_t>(0)[0]);
  const auto offset = static_cast<uint64_t>(call.in<int64_t>(0)[1]);
  for (int64_t i = 0; i < call.node.type().shape.count(); ++i)
    call.out<int32_t>()[i] =
        static_cast<int32_t>(philox_bits(seed, offset + static_cast<uint64_t>(i)));
}

constexpr Entry table[] = {{&ops::random_bits_op, random_bits}};

}  // namespace

std::span<const Entry> random_loops() { return table; }

}  // namespace keratin::reference
