#include "keratin/ops/activations.h"
#include "keratin/base/text.h"

#include <algorithm>
#include <numbers>

namespace keratin::ops {

namespace {

// f is not differentiated at x where the condition is false, since exp would overflow.
template <class F>
Value below_zero(Value x, F f) {
  const Value positive = x > 0.0;
  return where(positive, x, f(where(positive, scalar_like(x, 0), x)));
}

struct Named {
  std::string_view name;
  Value (*apply)(Value);
};

// clang-format off
constexpr Named by_name[] = {
    {"celu", [](Value x) { return celu(x); }},
    {"elu", [](Value x) { return elu(x); }},
    {"exponential", exponential},
    {"gelu", [](Value x) { return gelu(x, /*approximate=*/false); }},
    {"glu", [](Value x) { return glu(x); }},
    {"hard_shrink", [](Value x) { return hard_shrink(x); }},
    {"hard_sigmoid", hard_sigmoid},
    {"hard_silu", hard_silu},
    {"hard_swish", hard_silu},
    {"hard_tanh", hard_tanh},
    {"leaky_relu", [](Value x) { return leaky_relu(x); }},
    {"linear", linear},
    {"log_sigmoid", log_sigmoid},
    {"log_softmax", [](Value x) { return log_softmax(x); }},
    {"mish", mish},
    {"relu", relu},
    {"relu6", relu6},
    {"selu", selu},
    {"sigmoid", sigmoid},
    {"silu", silu},
    {"soft_shrink", [](Value x) { return soft_shrink(x); }},
    {"softmax", [](Value x) { return softmax(x); }},
    {"softplus", softplus},
    {"softsign", softsign},
    {"sparse_plus", sparse_plus},
    {"sparse_sigmoid", sparse_sigmoid},
    {"sparsemax", [](Value x) { return sparsemax(x); }},
    {"squareplus", [](Value x) { return squareplus(x); }},
    {"swish", silu},
    {"tanh", tanh},
    {"tanh_shrink", tanh_shrink},
};
// clang-format on

}  // namespace

Value relu(Value x, double negative_slope, std::optional<double> max_value, double threshold) {
  if (negative_slope != 0 && !max_value && threshold == 0) return leaky_relu(x, negative_slope);
  Value y = threshold == 0 ? relu(x) : ops::threshold(x, threshold, 0);
  if (max_value) y = clip(y, 0, *max_value);
  return negative_slope == 0 ? y : y - relu(threshold - x) * negative_slope;
}

Value relu6(Value x) { return minimum(relu(x), scalar_like(x, 6)); }

Value leaky_relu(Value x, double negative_slope) { return where(x >= 0.0, x, x * negative_slope); }

Value elu(Value x, double alpha) {
  return below_zero(x, [=](Value v) { return expm1(v) * alpha; });
}

Value celu(Value x, double alpha) {
  return below_zero(x, [=](Value v) { return expm1(v / alpha) * alpha; });
}

Value selu(Value x) {
  return elu(x, 1.6732632423543772848170429916717) * 1.0507009873554804934193349852946;
}

Value gelu(Value x, bool approximate) {
  if (!approximate) return x * 0.5 * (erf(x * (1 / std::numbers::sqrt2)) + 1.0);
  const double scale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;  // √(2 / π)
  return x * 0.5 * (tanh((x + x * square(x) * 0.044715) * scale) + 1.0);
}

Value silu(Value x) { return x * sigmoid(x); }
Value mish(Value x) { return x * tanh(softplus(x)); }

// Takes exp of no positive number. maximum, not relu, since at 0 maximum passes on half of the
// gradient, which is the right slope.
Value softplus(Value x) { return maximum(x, scalar_like(x, 0)) + log1p(exp(-abs(x))); }
Value log_sigmoid(Value x) { return -softplus(-x); }

Value softsign(Value x) { return x / (abs(x) + 1.0); }

// max(x, 0) + b / 2 / (√(x² + b) + |x|): written so, nothing cancels below zero.
Value squareplus(Value x, double b) {
  require(b >= 0, "squareplus: b must not be negative, got ", b);
  const Value positive = maximum(x, scalar_like(x, 0));
  return b == 0 ? positive : positive + 0.5 * b / (sqrt(square(x) + b) + abs(x));
}

Value sparse_plus(Value x) {
  const Value middle = square(x + 1.0) * 0.25;
  return where(x >= 1.0, x, where(x <= -1.0, scalar_like(x, 0), middle));
}

Value sparse_sigmoid(Value x) { return clip((x + 1.0) * 0.5, 0, 1); }
Value hard_sigmoid(Value x) { return relu6(x + 3.0) / 6.0; }
Value hard_silu(Value x) { return x * hard_sigmoid(x); }
Value hard_tanh(Value x) { return clip(x, -1, 1); }
Value tanh_shrink(Value x) { return x - tanh(x); }
Value hard_shrink(Value x, double threshold) {
  return where(abs(x) > threshold, x, scalar_like(x, 0));
}
Value soft_shrink(Value x, double threshold) {
  const Value zero = scalar_like(x, 0);
  return where(x > threshold, x - threshold, where(x < -threshold, x + threshold, zero));
}
Value threshold(Value x, double threshold, double default_value) {
  return where(x > threshold, x, scalar_like(x, default_value));
}
Value exponential(Value x) { return exp(x); }
Value linear(Value x) { return x; }

Value activation(std::string_view name, Value x) {
  const auto found = std::find_if(std::begin(by_name), std::end(by_name),
                                  [&](const Named& entry) { return entry.name == name; });
  require(found != std::end(by_name), "activation: '", name, "' is none");
  return found->apply(x);
}

std::vector<std::string_view> activation_names() {
  std::vector<std::string_view> names;
  for (const Named& entry : by_name) names.push_back(entry.name);
  return names;
}

}  // namespace keratin::ops
