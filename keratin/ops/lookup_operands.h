#pragma once

#include "keratin/ir/operands.h"

// The operands of the ops on strings.
namespace keratin::ops {

template <class T>
struct CrossOperands {
  std::vector<T> inputs;
  T y;

  static CrossOperands read(OperandReader<T> r) {
    return {.inputs = r.other_inputs(), .y = r.output()};
  }
};

template <class T>
struct TextOperands {
  T texts, table, ids;
  T y;

  static TextOperands read(OperandReader<T> r) {
    return {.texts = r.input(), .table = r.input(), .ids = r.input(), .y = r.output()};
  }
};

}  // namespace keratin::ops
