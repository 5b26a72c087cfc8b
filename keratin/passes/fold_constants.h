#pragma once

#include <functional>

#include "keratin/ir/module.h"
#include "keratin/tensor/tensor.h"

namespace keratin {

// Runs one node whose inputs are all constants. The engine gives it: passes know no backend.
using Evaluate = std::function<std::vector<Tensor>(const Node&)>;

// Computes now what depends on constants only, as long as it is little work and makes no big data
// out of small: a broadcast stays a broadcast. Results differ from the running backend's as far as
// `evaluate` does.
Module fold_constants(Module module, const Evaluate& evaluate);

}  // namespace keratin
