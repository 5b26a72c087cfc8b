#pragma once

#include "keratin/graph/config.h"

#pragma GCC visibility push(default)

// Arithmetic on symbolic tensors: each of these puts one of Keras's operations into the graph.
// Where an argument is `Symbols`, a number will do as well.
namespace keratin {

// Python's a:b:c, … and None in an index.
struct Slice {
  std::optional<int64_t> start = {}, stop = {}, step = {};
};
struct Ellipsis {};
struct NewAxis {};
inline constexpr Ellipsis ellipsis;
inline constexpr NewAxis new_axis;

// One item of an index: a position, a Slice, `ellipsis` or `new_axis`.
class Index {
 public:
  Index(int position) : json_(position) {}      // NOLINT(google-explicit-constructor)
  Index(int64_t position) : json_(position) {}  // NOLINT(google-explicit-constructor)
  Index(const Slice& slice);                    // NOLINT(google-explicit-constructor)
  Index(Ellipsis);                              // NOLINT(google-explicit-constructor)
  Index(NewAxis) {}                             // NOLINT(google-explicit-constructor)
  const Json& json() const { return json_; }

 private:
  Json json_;
};

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
SymbolicTensor power(const Symbols& a, const Symbols& b);
SymbolicTensor maximum(const Symbols& a, const Symbols& b);
SymbolicTensor minimum(const Symbols& a, const Symbols& b);
SymbolicTensor matmul(const Symbols& a, const Symbols& b);
SymbolicTensor equal(const Symbols& a, const Symbols& b);
SymbolicTensor not_equal(const Symbols& a, const Symbols& b);
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
SymbolicTensor softmax(const Symbols& x, int64_t axis = -1);
SymbolicTensor log_softmax(const Symbols& x, int64_t axis = -1);

// Over all axes, one or several.
using Axes = std::optional<Sizes>;
SymbolicTensor sum(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
SymbolicTensor mean(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
SymbolicTensor max(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
SymbolicTensor min(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
SymbolicTensor prod(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
SymbolicTensor any(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
SymbolicTensor all(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
SymbolicTensor var(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
SymbolicTensor logsumexp(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
SymbolicTensor argmax(const Symbols& x, std::optional<int64_t> axis = {}, bool keepdims = false);

SymbolicTensor reshape(const Symbols& x, const Dims& newshape);  // with the batch; -1: what is left
SymbolicTensor transpose(const Symbols& x, const std::optional<Dims>& axes = {});
SymbolicTensor expand_dims(const Symbols& x, const Sizes& axis);
SymbolicTensor squeeze(const Symbols& x, const Axes& axis = {});
SymbolicTensor concatenate(const std::vector<SymbolicTensor>& xs, int64_t axis = 0);
SymbolicTensor stack(const std::vector<SymbolicTensor>& xs, int64_t axis = 0);
Symbols split(const Symbols& x, const Sizes& indices_or_sections, int64_t axis = 0);
SymbolicTensor flip(const Symbols& x, const Axes& axis = {});
SymbolicTensor repeat(const Symbols& x, int64_t repeats, int64_t axis);
SymbolicTensor tile(const Symbols& x, const Dims& repeats);
SymbolicTensor take(const Symbols& x, const Symbols& indices, int64_t axis);
SymbolicTensor one_hot(const Symbols& x, int64_t num_classes);
SymbolicTensor einsum(const std::string& subscripts, const std::vector<SymbolicTensor>& operands);
SymbolicTensor cast(const Symbols& x, DType dtype);
SymbolicTensor clip(const Symbols& x, double x_min, double x_max);
SymbolicTensor zeros_like(const Symbols& x);
SymbolicTensor ones_like(const Symbols& x);
// x[i, j:k, …]: get_item(x, {Slice{}, 0}).
SymbolicTensor get_item(const Symbols& x, const std::vector<Index>& index);

}  // namespace ops
}  // namespace keratin

#pragma GCC visibility pop
