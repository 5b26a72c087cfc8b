#pragma once

#include "keratin/graph/call.h"

namespace keratin {

// Variables that lie on several devices are differentiated by each of their parts: these are read
// before a model is called, in this order.
Values read_all_parts(const std::vector<Variable>& variables, Tracer& tracer);

// The gradients by these parts, put together to one for each variable, which lies as that does.
// Those of mirrors are summed over the devices, in buckets: what the backward pass makes first is
// summed while it goes on. Undefined where there is none.
Values gradients_of(const std::vector<Variable>& variables, const Values& by_parts, Tracer& tracer);

}  // namespace keratin
