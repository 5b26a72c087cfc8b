#pragma once

#include "keratin/ir/node.h"

#pragma GCC visibility push(default)

// Softmax along one axis, and the losses that are made of it.
namespace keratin::ops {

// exp(x - max x) / Σ exp(x - max x)
Value softmax(Value x, int64_t axis = -1);
// x - max x - log Σ exp(x - max x)
Value log_softmax(Value x, int64_t axis = -1);
// Over several axes at once.
Value softmax(Value x, const Dims& axes);
Value log_softmax(Value x, const Dims& axes);

// log Σ exp(logits) - logits[label], for integer labels of the shape of the logits without their
// last axis. A label that is no class has loss 0 and no gradient.
Value sparse_softmax_cross_entropy(Value logits, Value labels);
// -Σ targets · log_softmax(logits) along the last axis.
Value softmax_cross_entropy(Value logits, Value targets);
// -targets · log σ(logits) - (1 - targets) · log(1 - σ(logits)), element by element.
Value sigmoid_cross_entropy(Value logits, Value targets);

}  // namespace keratin::ops

#pragma GCC visibility pop
