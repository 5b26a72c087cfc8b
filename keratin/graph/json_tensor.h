#pragma once

#include "keratin/base/json.h"
#include "keratin/tensor/tensor.h"

namespace keratin {

// A tensor from JSON as configs have it: a number, nested lists of numbers, or one of Keras's
// envelopes of an array {"class_name": "__numpy__" or "__tensor__", "config": {"value": …, "dtype":
// …}}.
Tensor tensor_from_json(const Json& json, DType dtype);
// The same in the dtype that an envelope names; without one, numbers are float32, int32 if all are
// whole, or bool if all are true or false. Whole numbers wrap in integers too narrow for them, as
// on TensorFlow.
Tensor tensor_from_json(const Json& json);
// True for one of these envelopes.
bool is_array_envelope(const Json& json);

}  // namespace keratin
