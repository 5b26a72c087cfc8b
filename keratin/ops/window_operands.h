#pragma once

#include "keratin/ir/operands.h"

// The operands of convolutions, poolings and their gradients.
namespace keratin::ops {

template <class T>
struct ConvOperands {
  T x, filter;
  T y;

  static ConvOperands read(OperandReader<T> r) {
    return {.x = r.input(), .filter = r.input(), .y = r.output()};
  }
};

template <class T>
struct ConvGradInputOperands {
  T dy, filter;
  T dx;

  static ConvGradInputOperands read(OperandReader<T> r) {
    return {.dy = r.input(), .filter = r.input(), .dx = r.output()};
  }
};

template <class T>
struct ConvGradFilterOperands {
  T x, dy;
  T dfilter;

  static ConvGradFilterOperands read(OperandReader<T> r) {
    return {.x = r.input(), .dy = r.input(), .dfilter = r.output()};
  }
};

template <class T>
struct MaxPoolOperands {
  T x;
  T y, where;

  static MaxPoolOperands read(OperandReader<T> r) {
    return {.x = r.input(), .y = r.output(), .where = r.output()};
  }
};

template <class T>
struct MaxUnpoolOperands {
  T dy, where;
  T dx;

  static MaxUnpoolOperands read(OperandReader<T> r) {
    return {.dy = r.input(), .where = r.input(), .dx = r.output()};
  }
};

template <class T>
struct MaxRepoolOperands {
  T x, where;
  T y;

  static MaxRepoolOperands read(OperandReader<T> r) {
    return {.x = r.input(), .where = r.input(), .y = r.output()};
  }
};

}  // namespace keratin::ops
