#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "keratin/base/export.h"
#include "keratin/ir/value.h"
#include "keratin/ops/pointwise.h"  // relu, sigmoid, tanh
#include "keratin/ops/softmax.h"    // softmax, log_softmax

// The activations of Keras, with the names and defaults of keras.ops. All are composites: fusion
// makes each one loop. Where a formula has corners, the gradient at a corner is what Keras gives on
// JAX.
namespace keratin::ops {

// x above the threshold, at most max_value; slope · (x - threshold) below.
KERATIN_API Value relu(Value x, double negative_slope,
                       std::optional<double> max_value = std::nullopt, double threshold = 0);
KERATIN_API Value relu6(Value x);                                    // min(max(x, 0), 6)
KERATIN_API Value leaky_relu(Value x, double negative_slope = 0.2);  // x >= 0 ? x : slope · x
KERATIN_API Value elu(Value x, double alpha = 1);   // x > 0 ? x : alpha · (exp x - 1)
KERATIN_API Value celu(Value x, double alpha = 1);  // x > 0 ? x : alpha · (exp(x / alpha) - 1)
KERATIN_API Value selu(Value x);                    // 1.0507… · elu(x, 1.6732…)
KERATIN_API Value gelu(Value x,
                       bool approximate = true);      // x · Φ(x), or its approximation with tanh
KERATIN_API Value silu(Value x);                      // x · σ(x)
KERATIN_API Value mish(Value x);                      // x · tanh(softplus(x))
KERATIN_API Value softplus(Value x);                  // log(1 + exp x)
KERATIN_API Value softsign(Value x);                  // x / (1 + |x|)
KERATIN_API Value squareplus(Value x, double b = 4);  // (x + √(x² + b)) / 2
KERATIN_API Value sparse_plus(Value x);               // 0, (x + 1)² / 4 or x
KERATIN_API Value log_sigmoid(Value x);               // -softplus(-x)
KERATIN_API Value sparse_sigmoid(Value x);            // (x + 1) / 2, within [0, 1]
KERATIN_API Value hard_sigmoid(Value x);              // x / 6 + 1/2, within [0, 1]
KERATIN_API Value hard_silu(Value x);                 // x · hard_sigmoid(x)
KERATIN_API Value hard_tanh(Value x);                 // x, within [-1, 1]
KERATIN_API Value tanh_shrink(Value x);               // x - tanh x
KERATIN_API Value hard_shrink(Value x, double threshold = 0.5);  // |x| > threshold ? x : 0
KERATIN_API Value soft_shrink(Value x,
                              double threshold = 0.5);  // x moved by the threshold towards 0
KERATIN_API Value threshold(Value x, double threshold,
                            double default_value);  // x > threshold ? x : default
KERATIN_API Value exponential(Value x);             // exp x
KERATIN_API Value linear(Value x);                  // x

// a · σ(b), where a and b are the halves of x along the axis.
KERATIN_API Value glu(Value x, int64_t axis = -1);
// The point of the simplex nearest to x: max(x - τ, 0) with the τ for which it sums to 1.
// (Keras 3.15 computes another τ where several elements stay, so that its result does not sum
// to 1.)
KERATIN_API Value sparsemax(Value x, int64_t axis = -1);

// An activation by its Keras name, with its defaults: "relu", "swish", …
KERATIN_API Value activation(std::string_view name, Value x);
// The names `activation` knows, sorted.
KERATIN_API std::vector<std::string_view> activation_names();

}  // namespace keratin::ops
