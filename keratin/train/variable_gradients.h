#pragma once

#include "keratin/graph/call.h"

namespace keratin {

// A variable that is stored on several devices is differentiated by each of its shards: these are
// read before a model is called, in this order.
Values read_all_shards(const std::vector<Variable>& variables, Tracer& tracer);

// The variables, and the shards of those that are stored on several devices.
std::vector<Variable> with_shards(const std::vector<Variable>& variables);

// Joins the gradients by these shards to one for each variable, sharded or mirrored as the variable
// is. Gradients of mirrored variables are summed over the devices in buckets, in the order in which
// the backward pass makes them, so that summing overlaps it. Undefined where there is no gradient.
Values join_gradients(const std::vector<Variable>& variables, const Values& by_shard,
                      Tracer& tracer);

}  // namespace keratin
