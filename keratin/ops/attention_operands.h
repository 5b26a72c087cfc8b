#pragma once

#include "keratin/ir/operands.h"
#include "keratin/ops/attention.h"

// The operands of attention and its gradient. Mask and bias are absent where the attributes say so.
namespace keratin::ops {

template <class T>
struct AttentionOperands {
  T query, key, value, mask, bias;
  T y, log_sum;

  static AttentionOperands read(OperandReader<T> r) {
    const auto& attrs = r.node().template attr<AttentionAttrs>();
    return {.query = r.input(),
            .key = r.input(),
            .value = r.input(),
            .mask = r.input_if(attrs.mask),
            .bias = r.input_if(attrs.bias),
            .y = r.output(),
            .log_sum = r.output()};
  }
};

template <class T>
struct AttentionGradOperands {
  T query, key, value, mask, y, log_sum, dy;
  T dquery, dkey, dvalue;

  static AttentionGradOperands read(OperandReader<T> r) {
    const auto& attrs = r.node().template attr<AttentionAttrs>();
    return {.query = r.input(),
            .key = r.input(),
            .value = r.input(),
            .mask = r.input_if(attrs.mask),
            .y = r.input(),
            .log_sum = r.input(),
            .dy = r.input(),
            .dquery = r.output(),
            .dkey = r.output(),
            .dvalue = r.output()};
  }
};

}  // namespace keratin::ops
