#pragma once

#include "keratin/base/export.h"
#include "keratin/ir/value.h"

// Softmax along one axis, and the losses computed with it.
namespace keratin::ops {

// exp(x - max x) / Σ exp(x - max x)
KERATIN_API Value softmax(Value x, int64_t axis = -1);
// x - max x - log Σ exp(x - max x)
KERATIN_API Value log_softmax(Value x, int64_t axis = -1);
// Over several axes at once.
KERATIN_API Value softmax(Value x, const Dims& axes);
KERATIN_API Value log_softmax(Value x, const Dims& axes);

// log Σ exp(logits) - logits[label], for integer labels of the shape of the logits without their
// last axis. A label that is no class has loss 0 and no gradient.
KERATIN_API Value sparse_softmax_cross_entropy(Value logits, Value labels);
// -Σ targets · log_softmax(logits) along the last axis.
KERATIN_API Value softmax_cross_entropy(Value logits, Value targets);
// -targets · log σ(logits) - (1 - targets) · log(1 - σ(logits)), element by element.
KERATIN_API Value sigmoid_cross_entropy(Value logits, Value targets);

}  // namespace keratin::ops
