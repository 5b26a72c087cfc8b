#pragma once

#include "keratin/ops/movement.h"
#include "keratin/passes/rules.h"

// The rules of `simplify`, by subject.
namespace keratin {

std::span<const RuleFor> number_rules();
std::span<const RuleFor> shape_rules();
std::span<const RuleFor> pool_rules();
std::span<const RuleFor> norm_rules();

// x broadcast to the shape of the node's output.
inline Value spread(const Node& n, Value x) { return ops::broadcast_to(x, n.type().shape.dims()); }

}  // namespace keratin
