#pragma once

#include <functional>
#include <vector>

#include "keratin/base/export.h"
#include "keratin/engine/compile.h"
#include "keratin/ir/value.h"

namespace keratin {

// Computes one expression of these tensors: writes a program, compiles it and runs it once.
KERATIN_API Tensor evaluate(const std::vector<Tensor>& inputs,
                            const std::function<Value(const Values& inputs)>& expression,
                            const EngineOptions& options = {});

}  // namespace keratin
