#pragma once

#include <ostream>

#include "keratin/tensor/shape.h"

namespace keratin::ops {

// Any numbers in a message, where a Shape would refuse some: [2,-7].
struct Listed {
  const Dims& numbers;
};

inline std::ostream& operator<<(std::ostream& out, const Listed& list) {
  out << '[';
  for (size_t i = 0; i < list.numbers.size(); ++i) out << (i == 0 ? "" : ",") << list.numbers[i];
  return out << ']';
}

}  // namespace keratin::ops
