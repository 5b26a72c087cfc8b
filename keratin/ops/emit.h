#pragma once

#include "keratin/ir/module.h"
#include "keratin/ir/node.h"
#include "keratin/ops/records.h"
#include "keratin/tensor/tensor.h"

namespace keratin::ops {

// Appends a node to the block of its inputs (the innermost one, where they differ) and returns its
// outputs. If a body uses a value from outside, the builder of the region closes it.
Node& emit_node(const OpDef& op, const Values& inputs, Attrs attrs = {},
                std::vector<std::unique_ptr<Block>> regions = {});
inline Value emit(const OpDef& op, const Values& inputs, Attrs attrs = {}) {
  return emit_node(op, inputs, std::move(attrs)).out();
}

inline Value emit(ScalarOp op, const Values& inputs, Attrs attrs = {}) {
  return emit(record_of(op), inputs, std::move(attrs));
}

}  // namespace keratin::ops
