#pragma once

#include <functional>
#include <vector>

#include "keratin/engine/compile.h"

#pragma GCC visibility push(default)

namespace keratin {

// Computes one expression of these tensors: writes it as a program, compiles and runs that once.
Tensor evaluate(const std::vector<Tensor>& inputs,
                const std::function<Value(const Values& inputs)>& expression,
                const EngineOptions& options = {});

}  // namespace keratin

#pragma GCC visibility pop
