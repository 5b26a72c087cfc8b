#pragma once

#include "keratin/layers/lambda.h"
#include "keratin/layers/registry.h"

// The layers and functions of golden models that are not Keras's own, in C++: the functions of
// tests/golden/maker/spec.py and the layers of maker/custom.py.
namespace keratin::testing {

LambdaFunction golden_function(const std::string& name);
LambdaMask golden_mask(const std::string& name);

// The custom layers; a Lambda gets the functions that `lambdas` names for it: {layer name:
// {"function": …, "mask": …}}.
CustomObjects golden_layers(const Json& lambdas);

}  // namespace keratin::testing
