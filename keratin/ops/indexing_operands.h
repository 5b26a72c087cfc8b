#pragma once

#include "keratin/ir/operands.h"

// The operands of the ops that read and write at computed positions.
namespace keratin::ops {

// Of gather and take_along_axis.
template <class T>
struct GatherOperands {
  T x, indices;
  T y;

  static GatherOperands read(OperandReader<T> r) {
    return {.x = r.input(), .indices = r.input(), .y = r.output()};
  }
};

// Of scatter_add and scatter_add_along_axis.
template <class T>
struct ScatterOperands {
  T x, indices, updates;
  T y;

  static ScatterOperands read(OperandReader<T> r) {
    return {.x = r.input(), .indices = r.input(), .updates = r.input(), .y = r.output()};
  }
};

template <class T>
struct DynamicSliceOperands {
  T x, start;
  T y;

  static DynamicSliceOperands read(OperandReader<T> r) {
    return {.x = r.input(), .start = r.input(), .y = r.output()};
  }
};

template <class T>
struct DynamicUpdateSliceOperands {
  T x, update, start;
  T y;

  static DynamicUpdateSliceOperands read(OperandReader<T> r) {
    return {.x = r.input(), .update = r.input(), .start = r.input(), .y = r.output()};
  }
};

template <class T>
struct TopKOperands {
  T x;
  T values, indices;

  static TopKOperands read(OperandReader<T> r) {
    return {.x = r.input(), .values = r.output(), .indices = r.output()};
  }
};

}  // namespace keratin::ops
