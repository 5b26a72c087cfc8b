#pragma once

#include "keratin/base/json.h"
#include "keratin/tensor/tensor.h"

namespace keratin {

// Data as configs hold it: a number, nested lists of numbers, or one of Keras's envelopes of an
// array {"class_name": "__numpy__" or "__tensor__", "config": {"value": …, "dtype": …}}.
Tensor tensor_from_json(const Json& json, DType dtype);
// In the dtype an envelope names; numbers alone are float32, int32 if all are whole, or bool if all
// are true or false. Whole numbers wrap in integers too narrow for them, as on TensorFlow.
Tensor tensor_from_json(const Json& json);
// Is it one of the envelopes?
bool is_array_envelope(const Json& json);

}  // namespace keratin
