#pragma once

#include "keratin/base/export.h"
#include "keratin/graph/config.h"

// Arithmetic on symbolic tensors: each of these puts one of Keras's operations into the graph.
// Where an argument is `Symbols`, a number will do as well.
namespace keratin {

KERATIN_API SymbolicTensor operator+(const Symbols& a, const Symbols& b);
KERATIN_API SymbolicTensor operator-(const Symbols& a, const Symbols& b);
KERATIN_API SymbolicTensor operator*(const Symbols& a, const Symbols& b);
KERATIN_API SymbolicTensor operator/(const Symbols& a, const Symbols& b);
KERATIN_API SymbolicTensor operator%(const Symbols& a, const Symbols& b);
KERATIN_API SymbolicTensor operator-(const Symbols& x);
KERATIN_API SymbolicTensor operator<(const Symbols& a, const Symbols& b);
KERATIN_API SymbolicTensor operator<=(const Symbols& a, const Symbols& b);
KERATIN_API SymbolicTensor operator>(const Symbols& a, const Symbols& b);
KERATIN_API SymbolicTensor operator>=(const Symbols& a, const Symbols& b);
KERATIN_API SymbolicTensor operator&(const Symbols& a, const Symbols& b);
KERATIN_API SymbolicTensor operator|(const Symbols& a, const Symbols& b);
KERATIN_API SymbolicTensor operator^(const Symbols& a, const Symbols& b);
KERATIN_API SymbolicTensor operator!(const Symbols& x);

namespace ops {

KERATIN_API SymbolicTensor add(const Symbols& a, const Symbols& b);
KERATIN_API SymbolicTensor subtract(const Symbols& a, const Symbols& b);
KERATIN_API SymbolicTensor multiply(const Symbols& a, const Symbols& b);
KERATIN_API SymbolicTensor divide(const Symbols& a, const Symbols& b);
KERATIN_API SymbolicTensor floor_divide(const Symbols& a, const Symbols& b);
KERATIN_API SymbolicTensor mod(const Symbols& a, const Symbols& b);
KERATIN_API SymbolicTensor power(const Symbols& a, const Symbols& b);
KERATIN_API SymbolicTensor maximum(const Symbols& a, const Symbols& b);
KERATIN_API SymbolicTensor minimum(const Symbols& a, const Symbols& b);
KERATIN_API SymbolicTensor logaddexp(const Symbols& a, const Symbols& b);
KERATIN_API SymbolicTensor matmul(const Symbols& a, const Symbols& b);
KERATIN_API SymbolicTensor dot(const Symbols& a, const Symbols& b);
KERATIN_API SymbolicTensor outer(const Symbols& a, const Symbols& b);
KERATIN_API SymbolicTensor tensordot(const Symbols& a, const Symbols& b, int64_t axes = 2);
KERATIN_API SymbolicTensor tensordot(const Symbols& a, const Symbols& b, const Dims& axes_of_a,
                                     const Dims& axes_of_b);
KERATIN_API SymbolicTensor equal(const Symbols& a, const Symbols& b);
KERATIN_API SymbolicTensor not_equal(const Symbols& a, const Symbols& b);
KERATIN_API SymbolicTensor logical_and(const Symbols& a, const Symbols& b);
KERATIN_API SymbolicTensor logical_or(const Symbols& a, const Symbols& b);
KERATIN_API SymbolicTensor logical_xor(const Symbols& a, const Symbols& b);
KERATIN_API SymbolicTensor logical_not(const Symbols& x);
KERATIN_API SymbolicTensor isnan(const Symbols& x);
KERATIN_API SymbolicTensor isinf(const Symbols& x);
KERATIN_API SymbolicTensor isfinite(const Symbols& x);
KERATIN_API SymbolicTensor where(const Symbols& condition, const Symbols& a, const Symbols& b);

KERATIN_API SymbolicTensor negative(const Symbols& x);
KERATIN_API SymbolicTensor abs(const Symbols& x);
KERATIN_API SymbolicTensor sign(const Symbols& x);
KERATIN_API SymbolicTensor square(const Symbols& x);
KERATIN_API SymbolicTensor sqrt(const Symbols& x);
KERATIN_API SymbolicTensor rsqrt(const Symbols& x);
KERATIN_API SymbolicTensor reciprocal(const Symbols& x);
KERATIN_API SymbolicTensor exp(const Symbols& x);
KERATIN_API SymbolicTensor log(const Symbols& x);
KERATIN_API SymbolicTensor log1p(const Symbols& x);
KERATIN_API SymbolicTensor sin(const Symbols& x);
KERATIN_API SymbolicTensor cos(const Symbols& x);
KERATIN_API SymbolicTensor tanh(const Symbols& x);
KERATIN_API SymbolicTensor erf(const Symbols& x);
KERATIN_API SymbolicTensor floor(const Symbols& x);
KERATIN_API SymbolicTensor ceil(const Symbols& x);
KERATIN_API SymbolicTensor round(const Symbols& x);
KERATIN_API SymbolicTensor stop_gradient(const Symbols& x);

KERATIN_API SymbolicTensor relu(const Symbols& x);
KERATIN_API SymbolicTensor relu6(const Symbols& x);
KERATIN_API SymbolicTensor sigmoid(const Symbols& x);
KERATIN_API SymbolicTensor silu(const Symbols& x);
KERATIN_API SymbolicTensor softplus(const Symbols& x);
KERATIN_API SymbolicTensor softsign(const Symbols& x);
KERATIN_API SymbolicTensor selu(const Symbols& x);
KERATIN_API SymbolicTensor elu(const Symbols& x, double alpha = 1);
KERATIN_API SymbolicTensor leaky_relu(const Symbols& x, double negative_slope = 0.2);
KERATIN_API SymbolicTensor gelu(const Symbols& x, bool approximate = true);

// All axes (nothing), one, several or none (an empty list).
using Axes = std::optional<Sizes>;
KERATIN_API SymbolicTensor softmax(const Symbols& x, const Axes& axis = -1);
KERATIN_API SymbolicTensor log_softmax(const Symbols& x, const Axes& axis = -1);
KERATIN_API SymbolicTensor sum(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
KERATIN_API SymbolicTensor mean(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
// With an initial element there may be no others.
KERATIN_API SymbolicTensor max(const Symbols& x, const Axes& axis = {}, bool keepdims = false,
                               std::optional<double> initial = {});
KERATIN_API SymbolicTensor min(const Symbols& x, const Axes& axis = {}, bool keepdims = false,
                               std::optional<double> initial = {});
KERATIN_API SymbolicTensor prod(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
KERATIN_API SymbolicTensor any(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
KERATIN_API SymbolicTensor all(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
KERATIN_API SymbolicTensor var(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
KERATIN_API SymbolicTensor std(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
KERATIN_API SymbolicTensor logsumexp(const Symbols& x, const Axes& axis = {},
                                     bool keepdims = false);
KERATIN_API SymbolicTensor argmax(const Symbols& x, std::optional<int64_t> axis = {},
                                  bool keepdims = false);
KERATIN_API SymbolicTensor argmin(const Symbols& x, std::optional<int64_t> axis = {},
                                  bool keepdims = false);
KERATIN_API SymbolicTensor count_nonzero(const Symbols& x, const Axes& axis = {});
KERATIN_API SymbolicTensor average(const Symbols& x, std::optional<int64_t> axis = {},
                                   const Symbols& weights = {});
KERATIN_API SymbolicTensor norm(const Symbols& x, std::optional<int64_t> ord = {},
                                const Axes& axis = {}, bool keepdims = false);
KERATIN_API SymbolicTensor normalize(const Symbols& x, const Axes& axis = -1, int64_t order = 2);
KERATIN_API SymbolicTensor cumsum(const Symbols& x, std::optional<int64_t> axis = {});
KERATIN_API SymbolicTensor cumprod(const Symbols& x, std::optional<int64_t> axis = {});
KERATIN_API SymbolicTensor diff(const Symbols& x, int64_t n = 1, int64_t axis = -1);
// Without an axis, of all elements in a row.
KERATIN_API SymbolicTensor sort(const Symbols& x, std::optional<int64_t> axis = -1);
KERATIN_API SymbolicTensor argsort(const Symbols& x, std::optional<int64_t> axis = -1);
KERATIN_API Symbols top_k(const Symbols& x, int64_t k);  // values, then indices

KERATIN_API SymbolicTensor reshape(const Symbols& x,
                                   const Dims& newshape);  // with the batch; -1: what is left
KERATIN_API SymbolicTensor transpose(const Symbols& x, const std::optional<Dims>& axes = {});
KERATIN_API SymbolicTensor expand_dims(const Symbols& x, const Sizes& axis);
KERATIN_API SymbolicTensor squeeze(const Symbols& x, const Axes& axis = {});
KERATIN_API SymbolicTensor concatenate(const std::vector<SymbolicTensor>& xs, int64_t axis = 0);
KERATIN_API SymbolicTensor stack(const std::vector<SymbolicTensor>& xs, int64_t axis = 0);
KERATIN_API Symbols split(const Symbols& x, const Sizes& indices_or_sections, int64_t axis = 0);
KERATIN_API Symbols unstack(const Symbols& x, std::optional<int64_t> num = {}, int64_t axis = 0);
KERATIN_API Symbols meshgrid(const std::vector<SymbolicTensor>& xs, const char* indexing = "xy");
KERATIN_API SymbolicTensor broadcast_to(const Symbols& x, const Dims& shape);
KERATIN_API SymbolicTensor swapaxes(const Symbols& x, int64_t axis1, int64_t axis2);
KERATIN_API SymbolicTensor moveaxis(const Symbols& x, const Sizes& source,
                                    const Sizes& destination);
KERATIN_API SymbolicTensor roll(const Symbols& x, const Sizes& shift, const Axes& axis = {});
KERATIN_API SymbolicTensor pad(const Symbols& x, const std::vector<Dims>& pad_width,
                               const char* mode = "constant");
KERATIN_API SymbolicTensor tril(const Symbols& x, int64_t k = 0);
KERATIN_API SymbolicTensor triu(const Symbols& x, int64_t k = 0);
KERATIN_API SymbolicTensor diagonal(const Symbols& x, int64_t offset = 0, int64_t axis1 = 0,
                                    int64_t axis2 = 1);
KERATIN_API SymbolicTensor trace(const Symbols& x, int64_t offset = 0, int64_t axis1 = 0,
                                 int64_t axis2 = 1);
KERATIN_API SymbolicTensor flip(const Symbols& x, const Axes& axis = {});
KERATIN_API SymbolicTensor repeat(const Symbols& x, int64_t repeats, int64_t axis);
KERATIN_API SymbolicTensor tile(const Symbols& x, const Dims& repeats);
KERATIN_API SymbolicTensor take(const Symbols& x, const Symbols& indices, int64_t axis);
KERATIN_API SymbolicTensor take_along_axis(const Symbols& x, const Symbols& indices, int64_t axis);
// A window of that shape; x with one replaced. The start may be computed.
KERATIN_API SymbolicTensor slice(const Symbols& x, const Symbols& start_indices, const Dims& shape);
KERATIN_API SymbolicTensor slice_update(const Symbols& x, const Symbols& start_indices,
                                        const Symbols& updates);
KERATIN_API SymbolicTensor one_hot(const Symbols& x, int64_t num_classes);
KERATIN_API SymbolicTensor einsum(const std::string& subscripts,
                                  const std::vector<SymbolicTensor>& operands);
KERATIN_API SymbolicTensor cast(const Symbols& x, DType dtype);
KERATIN_API SymbolicTensor clip(const Symbols& x, double x_min, double x_max);
KERATIN_API SymbolicTensor zeros_like(const Symbols& x);
KERATIN_API SymbolicTensor ones_like(const Symbols& x);
// x[i, j:k, …]: get_item(x, {Slice{}, 0}), or x[{Slice{}, 0}].
KERATIN_API SymbolicTensor get_item(const Symbols& x, const std::vector<Index>& index);

}  // namespace ops
}  // namespace keratin
