#pragma once

#include "keratin/graph/config.h"

#pragma GCC visibility push(default)

// Arithmetic on symbolic tensors: each of these puts one of Keras's operations into the graph.
// Where an argument is `Symbols`, a number will do as well.
namespace keratin {

SymbolicTensor operator+(const Symbols& a, const Symbols& b);
SymbolicTensor operator-(const Symbols& a, const Symbols& b);
SymbolicTensor operator*(const Symbols& a, const Symbols& b);
SymbolicTensor operator/(const Symbols& a, const Symbols& b);
SymbolicTensor operator%(const Symbols& a, const Symbols& b);
SymbolicTensor operator-(const Symbols& x);
SymbolicTensor operator<(const Symbols& a, const Symbols& b);
SymbolicTensor operator<=(const Symbols& a, const Symbols& b);
SymbolicTensor operator>(const Symbols& a, const Symbols& b);
SymbolicTensor operator>=(const Symbols& a, const Symbols& b);
SymbolicTensor operator&(const Symbols& a, const Symbols& b);
SymbolicTensor operator|(const Symbols& a, const Symbols& b);
SymbolicTensor operator^(const Symbols& a, const Symbols& b);
SymbolicTensor operator!(const Symbols& x);

namespace ops {

SymbolicTensor add(const Symbols& a, const Symbols& b);
SymbolicTensor subtract(const Symbols& a, const Symbols& b);
SymbolicTensor multiply(const Symbols& a, const Symbols& b);
SymbolicTensor divide(const Symbols& a, const Symbols& b);
SymbolicTensor floor_divide(const Symbols& a, const Symbols& b);
SymbolicTensor mod(const Symbols& a, const Symbols& b);
SymbolicTensor power(const Symbols& a, const Symbols& b);
SymbolicTensor maximum(const Symbols& a, const Symbols& b);
SymbolicTensor minimum(const Symbols& a, const Symbols& b);
SymbolicTensor logaddexp(const Symbols& a, const Symbols& b);
SymbolicTensor matmul(const Symbols& a, const Symbols& b);
SymbolicTensor dot(const Symbols& a, const Symbols& b);
SymbolicTensor outer(const Symbols& a, const Symbols& b);
SymbolicTensor tensordot(const Symbols& a, const Symbols& b, int64_t axes = 2);
SymbolicTensor tensordot(const Symbols& a, const Symbols& b, const Dims& axes_of_a,
                         const Dims& axes_of_b);
SymbolicTensor equal(const Symbols& a, const Symbols& b);
SymbolicTensor not_equal(const Symbols& a, const Symbols& b);
SymbolicTensor logical_and(const Symbols& a, const Symbols& b);
SymbolicTensor logical_or(const Symbols& a, const Symbols& b);
SymbolicTensor logical_xor(const Symbols& a, const Symbols& b);
SymbolicTensor logical_not(const Symbols& x);
SymbolicTensor isnan(const Symbols& x);
SymbolicTensor isinf(const Symbols& x);
SymbolicTensor isfinite(const Symbols& x);
SymbolicTensor where(const Symbols& condition, const Symbols& a, const Symbols& b);

SymbolicTensor negative(const Symbols& x);
SymbolicTensor abs(const Symbols& x);
SymbolicTensor sign(const Symbols& x);
SymbolicTensor square(const Symbols& x);
SymbolicTensor sqrt(const Symbols& x);
SymbolicTensor rsqrt(const Symbols& x);
SymbolicTensor reciprocal(const Symbols& x);
SymbolicTensor exp(const Symbols& x);
SymbolicTensor log(const Symbols& x);
SymbolicTensor log1p(const Symbols& x);
SymbolicTensor sin(const Symbols& x);
SymbolicTensor cos(const Symbols& x);
SymbolicTensor tanh(const Symbols& x);
SymbolicTensor erf(const Symbols& x);
SymbolicTensor floor(const Symbols& x);
SymbolicTensor ceil(const Symbols& x);
SymbolicTensor round(const Symbols& x);
SymbolicTensor stop_gradient(const Symbols& x);

SymbolicTensor relu(const Symbols& x);
SymbolicTensor relu6(const Symbols& x);
SymbolicTensor sigmoid(const Symbols& x);
SymbolicTensor silu(const Symbols& x);
SymbolicTensor softplus(const Symbols& x);
SymbolicTensor softsign(const Symbols& x);
SymbolicTensor selu(const Symbols& x);
SymbolicTensor elu(const Symbols& x, double alpha = 1);
SymbolicTensor leaky_relu(const Symbols& x, double negative_slope = 0.2);
SymbolicTensor gelu(const Symbols& x, bool approximate = true);

// All axes (nothing), one, several or none (an empty list).
using Axes = std::optional<Sizes>;
SymbolicTensor softmax(const Symbols& x, const Axes& axis = -1);
SymbolicTensor log_softmax(const Symbols& x, const Axes& axis = -1);
SymbolicTensor sum(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
SymbolicTensor mean(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
// With an initial element there may be no others.
SymbolicTensor max(const Symbols& x, const Axes& axis = {}, bool keepdims = false,
                   std::optional<double> initial = {});
SymbolicTensor min(const Symbols& x, const Axes& axis = {}, bool keepdims = false,
                   std::optional<double> initial = {});
SymbolicTensor prod(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
SymbolicTensor any(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
SymbolicTensor all(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
SymbolicTensor var(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
SymbolicTensor std(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
SymbolicTensor logsumexp(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
SymbolicTensor argmax(const Symbols& x, std::optional<int64_t> axis = {}, bool keepdims = false);
SymbolicTensor argmin(const Symbols& x, std::optional<int64_t> axis = {}, bool keepdims = false);
SymbolicTensor count_nonzero(const Symbols& x, const Axes& axis = {});
SymbolicTensor average(const Symbols& x, std::optional<int64_t> axis = {},
                       const Symbols& weights = {});
SymbolicTensor norm(const Symbols& x, std::optional<int64_t> ord = {}, const Axes& axis = {},
                    bool keepdims = false);
SymbolicTensor normalize(const Symbols& x, const Axes& axis = -1, int64_t order = 2);
SymbolicTensor cumsum(const Symbols& x, std::optional<int64_t> axis = {});
SymbolicTensor cumprod(const Symbols& x, std::optional<int64_t> axis = {});
SymbolicTensor diff(const Symbols& x, int64_t n = 1, int64_t axis = -1);
// Without an axis, of all elements in a row.
SymbolicTensor sort(const Symbols& x, std::optional<int64_t> axis = -1);
SymbolicTensor argsort(const Symbols& x, std::optional<int64_t> axis = -1);
Symbols top_k(const Symbols& x, int64_t k);  // values, then indices

SymbolicTensor reshape(const Symbols& x, const Dims& newshape);  // with the batch; -1: what is left
SymbolicTensor transpose(const Symbols& x, const std::optional<Dims>& axes = {});
SymbolicTensor expand_dims(const Symbols& x, const Sizes& axis);
SymbolicTensor squeeze(const Symbols& x, const Axes& axis = {});
SymbolicTensor concatenate(const std::vector<SymbolicTensor>& xs, int64_t axis = 0);
SymbolicTensor stack(const std::vector<SymbolicTensor>& xs, int64_t axis = 0);
Symbols split(const Symbols& x, const Sizes& indices_or_sections, int64_t axis = 0);
Symbols unstack(const Symbols& x, std::optional<int64_t> num = {}, int64_t axis = 0);
Symbols meshgrid(const std::vector<SymbolicTensor>& xs, const char* indexing = "xy");
SymbolicTensor broadcast_to(const Symbols& x, const Dims& shape);
SymbolicTensor swapaxes(const Symbols& x, int64_t axis1, int64_t axis2);
SymbolicTensor moveaxis(const Symbols& x, const Sizes& source, const Sizes& destination);
SymbolicTensor roll(const Symbols& x, const Sizes& shift, const Axes& axis = {});
SymbolicTensor pad(const Symbols& x, const std::vector<Dims>& pad_width,
                   const char* mode = "constant");
SymbolicTensor tril(const Symbols& x, int64_t k = 0);
SymbolicTensor triu(const Symbols& x, int64_t k = 0);
SymbolicTensor diagonal(const Symbols& x, int64_t offset = 0, int64_t axis1 = 0, int64_t axis2 = 1);
SymbolicTensor trace(const Symbols& x, int64_t offset = 0, int64_t axis1 = 0, int64_t axis2 = 1);
SymbolicTensor flip(const Symbols& x, const Axes& axis = {});
SymbolicTensor repeat(const Symbols& x, int64_t repeats, int64_t axis);
SymbolicTensor tile(const Symbols& x, const Dims& repeats);
SymbolicTensor take(const Symbols& x, const Symbols& indices, int64_t axis);
SymbolicTensor take_along_axis(const Symbols& x, const Symbols& indices, int64_t axis);
// A window of that shape; x with one replaced. The start may be computed.
SymbolicTensor slice(const Symbols& x, const Symbols& start_indices, const Dims& shape);
SymbolicTensor slice_update(const Symbols& x, const Symbols& start_indices, const Symbols& updates);
SymbolicTensor one_hot(const Symbols& x, int64_t num_classes);
SymbolicTensor einsum(const std::string& subscripts, const std::vector<SymbolicTensor>& operands);
SymbolicTensor cast(const Symbols& x, DType dtype);
SymbolicTensor clip(const Symbols& x, double x_min, double x_max);
SymbolicTensor zeros_like(const Symbols& x);
SymbolicTensor ones_like(const Symbols& x);
// x[i, j:k, …]: get_item(x, {Slice{}, 0}), or x[{Slice{}, 0}].
SymbolicTensor get_item(const Symbols& x, const std::vector<Index>& index);

}  // namespace ops
}  // namespace keratin

#pragma GCC visibility pop
