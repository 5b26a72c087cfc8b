#pragma once

#include "keratin/graph/layer.h"

// What happens around a layer's `call`: see Tracer::invoke.
namespace keratin {

// The value of a flag among the arguments of a call: true, or a number that is not 0, as in Python.
bool is_true(const Tree<Traced>& flag, const Layer& layer, std::string_view name);

// Floats are cast to the dtype; all else stays as it is.
Value cast_float(Value x, DType dtype);

// Calls a layer that calls no others: its outputs, each with its mask, and its penalty on them.
Tree<Traced> call_with_masks(const Layer& layer, const Call& call, const Call& for_masks);

}  // namespace keratin
