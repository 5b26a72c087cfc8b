#pragma once

#include <functional>

#include "keratin/ir/module.h"
#include "keratin/ir/node.h"
#include "keratin/tensor/tensor.h"

namespace keratin {

// Runs one node whose inputs are all constants. The engine provides it: passes know no backend.
using Evaluate = std::function<std::vector<Tensor>(const Node&)>;

// Computes nodes that depend on constants only, if that is little work and does not make large data
// of small data: broadcasts stay. Results differ from those of the backend that runs the program as
// far as `evaluate` does.
Module fold_constants(Module module, const Evaluate& evaluate);

}  // namespace keratin
