#pragma once

#include "keratin/ir/operands.h"

// The operands of the ops that draw random numbers.
namespace keratin::ops {

template <class T>
struct RandomBitsOperands {
  T key;
  T y;

  static RandomBitsOperands read(OperandReader<T> r) { return {.key = r.input(), .y = r.output()}; }
};

template <class T>
struct DropoutOperands {
  T x, key;
  T y;

  static DropoutOperands read(OperandReader<T> r) {
    return {.x = r.input(), .key = r.input(), .y = r.output()};
  }
};

}  // namespace keratin::ops
