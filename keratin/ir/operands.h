#pragma once

#include "keratin/ir/node.h"

namespace keratin {

// Reads the operands of a node in order: its inputs, then its outputs.
//
// An op names its operands once, in a struct template, and everybody uses these names:
//
//   template <class T>
//   struct GruOperands {
//     T xw, h0, recurrent, bias, mask;  // inputs; bias and mask may be absent
//     T ys, h, gates, states;           // outputs
//
//     static GruOperands read(OperandReader<T> r) {
//       const bool reset_after = r.node().template attr<GruAttrs>().reset_after;
//       return {.xw = r.input(), .h0 = r.input(), .recurrent = r.input(),
//               .bias = r.input_if(reset_after), .mask = r.optional_input(),
//               .ys = r.output(), .h = r.output(), .gates = r.output(), .states = r.output()};
//     }
//   };
//
// `operands<GruOperands>(node)` has the node's values, for shape rules, decompositions and
// gradients. Kernels get views of memory (plan/view.h).
template <class T>
class OperandReader;

template <>
class OperandReader<Value> {
 public:
  explicit OperandReader(const Node& node) : node_(node) {}

  const Node& node() const { return node_; }
  Value input() { return node_.in(input_++); }
  Value input_if(bool present) { return present ? input() : Value(); }
  Value optional_input() { return input_if(input_ < node_.input_count()); }
  Values other_inputs() {
    Values rest;
    while (input_ < node_.input_count()) rest.push_back(input());
    return rest;
  }
  Value output() { return node_.out(output_++); }
  Values other_outputs() {
    Values rest;
    while (output_ < node_.output_count()) rest.push_back(output());
    return rest;
  }
  Value output_if(bool present) { return present ? output() : Value(); }

 private:
  const Node& node_;
  size_t input_ = 0, output_ = 0;
};

// One input and one output.
template <class T>
struct UnaryOperands {
  T x, y;

  static UnaryOperands read(OperandReader<T> r) { return {.x = r.input(), .y = r.output()}; }
};

// Two inputs and one output, as matmul and most pointwise ops have.
template <class T>
struct BinaryOperands {
  T a, b, y;

  static BinaryOperands read(OperandReader<T> r) {
    return {.a = r.input(), .b = r.input(), .y = r.output()};
  }
};

// The operands of select: a where the condition holds, b elsewhere.
template <class T>
struct SelectOperands {
  T condition, a, b, y;

  static SelectOperands read(OperandReader<T> r) {
    return {.condition = r.input(), .a = r.input(), .b = r.input(), .y = r.output()};
  }
};

// Any number of inputs and one output, as concat has.
template <class T>
struct JoinOperands {
  std::vector<T> inputs;
  T y;

  static JoinOperands read(OperandReader<T> r) {
    return {.inputs = r.other_inputs(), .y = r.output()};
  }
};

// Any number of both: fused regions, and all_reduce.
template <class T>
struct ListOperands {
  std::vector<T> inputs, outputs;

  static ListOperands read(OperandReader<T> r) {
    return {.inputs = r.other_inputs(), .outputs = r.other_outputs()};
  }
};

template <template <class> class Operands>
Operands<Value> operands(const Node& node) {
  return Operands<Value>::read(OperandReader<Value>(node));
}

}  // namespace keratin
