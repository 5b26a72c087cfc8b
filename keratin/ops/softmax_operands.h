#pragma once

#include "keratin/ir/operands.h"

// The operands of the gradients of softmax and log_softmax, and of cross entropy.
namespace keratin::ops {

template <class T>
struct SoftmaxGradOperands {
  T y, dy;
  T dx;

  static SoftmaxGradOperands read(OperandReader<T> r) {
    return {.y = r.input(), .dy = r.input(), .dx = r.output()};
  }
};

template <class T>
struct CrossEntropyOperands {
  T logits, labels;
  T loss, log_sum;

  static CrossEntropyOperands read(OperandReader<T> r) {
    return {.logits = r.input(), .labels = r.input(), .loss = r.output(), .log_sum = r.output()};
  }
};

template <class T>
struct CrossEntropyGradOperands {
  T logits, labels, log_sum, dloss;
  T dlogits;

  static CrossEntropyGradOperands read(OperandReader<T> r) {
    return {.logits = r.input(),
            .labels = r.input(),
            .log_sum = r.input(),
            .dloss = r.input(),
            .dlogits = r.output()};
  }
};

}  // namespace keratin::ops
