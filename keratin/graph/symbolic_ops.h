#pragma once

#include "keratin/base/export.h"
#include "keratin/graph/config.h"

// Operations on symbolic tensors: each of these puts one of Keras's operations into the graph.
// They have Keras's names, arguments and defaults, and bring operands to one dtype as Keras does.
// Where an argument is `Symbols`, a number will do as well.
namespace keratin {

KERATIN_API SymbolicTensor operator+(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor operator-(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor operator*(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor operator/(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor operator%(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor operator<(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor operator<=(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor operator>(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor operator>=(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor operator&(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor operator|(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor operator^(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor operator-(const Symbols& x);
KERATIN_API SymbolicTensor operator!(const Symbols& x);

namespace ops {

// A number as Python has it: 2 beside a tensor of integers leaves them integers, 2.0 does not.
class Number {
 public:
  Number(int value) : json_(value) {}      // NOLINT(google-explicit-constructor)
  Number(int64_t value) : json_(value) {}  // NOLINT(google-explicit-constructor)
  Number(double value) : json_(value) {}   // NOLINT(google-explicit-constructor)
  Number(bool value) : json_(value) {}     // NOLINT(google-explicit-constructor)
  const Json& json() const { return json_; }

 private:
  Json json_;
};
using Axes = std::optional<Sizes>;

// Arithmetic and comparisons.
KERATIN_API SymbolicTensor add(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor subtract(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor multiply(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor divide(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor true_divide(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor floor_divide(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor mod(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor fmod(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor power(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor divide_no_nan(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor maximum(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor minimum(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor fmax(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor fmin(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor arctan2(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor heaviside(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor hypot(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor ldexp(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor logaddexp(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor logaddexp2(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor equal(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor not_equal(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor less(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor less_equal(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor greater(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor greater_equal(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor logical_and(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor logical_or(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor logical_xor(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor bitwise_and(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor bitwise_or(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor bitwise_xor(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor left_shift(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor right_shift(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor bitwise_left_shift(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor bitwise_right_shift(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor isclose(const Symbols& x1, const Symbols& x2, double rtol = 1e-5,
                                   double atol = 1e-8, bool equal_nan = false);
KERATIN_API SymbolicTensor where(const Symbols& condition, const Symbols& x1, const Symbols& x2);
// The choice of the first condition that holds.
KERATIN_API SymbolicTensor select(const std::vector<SymbolicTensor>& condlist,
                                  const std::vector<SymbolicTensor>& choicelist,
                                  const Symbols& fallback = 0);
KERATIN_API SymbolicTensor clip(const Symbols& x, const Number& x_min, const Number& x_max);

// Functions of each element.
KERATIN_API SymbolicTensor absolute(const Symbols& x);
KERATIN_API SymbolicTensor abs(const Symbols& x);
KERATIN_API SymbolicTensor fabs(const Symbols& x);
KERATIN_API SymbolicTensor negative(const Symbols& x);
KERATIN_API SymbolicTensor sign(const Symbols& x);
KERATIN_API SymbolicTensor signbit(const Symbols& x);
KERATIN_API SymbolicTensor square(const Symbols& x);
KERATIN_API SymbolicTensor sqrt(const Symbols& x);
KERATIN_API SymbolicTensor cbrt(const Symbols& x);
KERATIN_API SymbolicTensor rsqrt(const Symbols& x);
KERATIN_API SymbolicTensor reciprocal(const Symbols& x);
KERATIN_API SymbolicTensor exp(const Symbols& x);
KERATIN_API SymbolicTensor exp2(const Symbols& x);
KERATIN_API SymbolicTensor expm1(const Symbols& x);
KERATIN_API SymbolicTensor log(const Symbols& x);
KERATIN_API SymbolicTensor log2(const Symbols& x);
KERATIN_API SymbolicTensor log10(const Symbols& x);
KERATIN_API SymbolicTensor log1p(const Symbols& x);
KERATIN_API SymbolicTensor sin(const Symbols& x);
KERATIN_API SymbolicTensor cos(const Symbols& x);
KERATIN_API SymbolicTensor tan(const Symbols& x);
KERATIN_API SymbolicTensor arcsin(const Symbols& x);
KERATIN_API SymbolicTensor arccos(const Symbols& x);
KERATIN_API SymbolicTensor arctan(const Symbols& x);
KERATIN_API SymbolicTensor sinh(const Symbols& x);
KERATIN_API SymbolicTensor cosh(const Symbols& x);
KERATIN_API SymbolicTensor tanh(const Symbols& x);
KERATIN_API SymbolicTensor arcsinh(const Symbols& x);
KERATIN_API SymbolicTensor arccosh(const Symbols& x);
KERATIN_API SymbolicTensor arctanh(const Symbols& x);
KERATIN_API SymbolicTensor sinc(const Symbols& x);
KERATIN_API SymbolicTensor deg2rad(const Symbols& x);
KERATIN_API SymbolicTensor rad2deg(const Symbols& x);
KERATIN_API SymbolicTensor erf(const Symbols& x);
KERATIN_API SymbolicTensor erfc(const Symbols& x);
KERATIN_API SymbolicTensor erfinv(const Symbols& x);
KERATIN_API SymbolicTensor floor(const Symbols& x);
KERATIN_API SymbolicTensor ceil(const Symbols& x);
KERATIN_API SymbolicTensor trunc(const Symbols& x);
KERATIN_API SymbolicTensor logical_not(const Symbols& x);
KERATIN_API SymbolicTensor bitwise_not(const Symbols& x);
KERATIN_API SymbolicTensor bitwise_invert(const Symbols& x);
KERATIN_API SymbolicTensor isnan(const Symbols& x);
KERATIN_API SymbolicTensor isinf(const Symbols& x);
KERATIN_API SymbolicTensor isneginf(const Symbols& x);
KERATIN_API SymbolicTensor isposinf(const Symbols& x);
KERATIN_API SymbolicTensor isfinite(const Symbols& x);
KERATIN_API SymbolicTensor isreal(const Symbols& x);
KERATIN_API SymbolicTensor real(const Symbols& x);
KERATIN_API SymbolicTensor conjugate(const Symbols& x);
KERATIN_API SymbolicTensor copy(const Symbols& x);
KERATIN_API SymbolicTensor stop_gradient(const Symbols& x);
KERATIN_API SymbolicTensor round(const Symbols& x, int64_t decimals = 0);
KERATIN_API SymbolicTensor nan_to_num(const Symbols& x, double nan = 0,
                                      std::optional<double> posinf = {},
                                      std::optional<double> neginf = {});
KERATIN_API SymbolicTensor cast(const Symbols& x, DType dtype);
KERATIN_API SymbolicTensor saturate_cast(const Symbols& x, DType dtype);
KERATIN_API SymbolicTensor array(const Symbols& x, std::optional<DType> dtype = {});
KERATIN_API SymbolicTensor convert_to_tensor(const Symbols& x, std::optional<DType> dtype = {});
KERATIN_API SymbolicTensor zeros_like(const Symbols& x, std::optional<DType> dtype = {});
KERATIN_API SymbolicTensor ones_like(const Symbols& x, std::optional<DType> dtype = {});
KERATIN_API SymbolicTensor empty_like(const Symbols& x, std::optional<DType> dtype = {});
KERATIN_API SymbolicTensor full_like(const Symbols& x, const Symbols& fill_value,
                                     std::optional<DType> dtype = {});

// Activations, and what else keras.ops.nn has.
KERATIN_API SymbolicTensor relu(const Symbols& x);
KERATIN_API SymbolicTensor relu6(const Symbols& x);
KERATIN_API SymbolicTensor sigmoid(const Symbols& x);
KERATIN_API SymbolicTensor silu(const Symbols& x);
KERATIN_API SymbolicTensor softplus(const Symbols& x);
KERATIN_API SymbolicTensor softsign(const Symbols& x);
KERATIN_API SymbolicTensor selu(const Symbols& x);
KERATIN_API SymbolicTensor hard_sigmoid(const Symbols& x);
KERATIN_API SymbolicTensor hard_silu(const Symbols& x);
KERATIN_API SymbolicTensor hard_tanh(const Symbols& x);
KERATIN_API SymbolicTensor log_sigmoid(const Symbols& x);
KERATIN_API SymbolicTensor sparse_plus(const Symbols& x);
KERATIN_API SymbolicTensor sparse_sigmoid(const Symbols& x);
KERATIN_API SymbolicTensor tanh_shrink(const Symbols& x);
KERATIN_API SymbolicTensor elu(const Symbols& x, double alpha = 1);
KERATIN_API SymbolicTensor celu(const Symbols& x, double alpha = 1);
KERATIN_API SymbolicTensor leaky_relu(const Symbols& x, const Number& negative_slope = 0.2);
KERATIN_API SymbolicTensor gelu(const Symbols& x, bool approximate = true);
KERATIN_API SymbolicTensor squareplus(const Symbols& x, double b = 4);
KERATIN_API SymbolicTensor hard_shrink(const Symbols& x, const Number& threshold = 0.5);
KERATIN_API SymbolicTensor soft_shrink(const Symbols& x, const Number& threshold = 0.5);
KERATIN_API SymbolicTensor threshold(const Symbols& x, const Number& threshold,
                                     const Number& default_value);
KERATIN_API SymbolicTensor glu(const Symbols& x, int64_t axis = -1);
KERATIN_API SymbolicTensor sparsemax(const Symbols& x, int64_t axis = -1);
KERATIN_API SymbolicTensor softmax(const Symbols& x, const Axes& axis = -1);
KERATIN_API SymbolicTensor log_softmax(const Symbols& x, const Axes& axis = -1);
KERATIN_API SymbolicTensor normalize(const Symbols& x, const Axes& axis = -1, int64_t order = 2,
                                     std::optional<double> epsilon = {});
KERATIN_API SymbolicTensor batch_normalization(const Symbols& x, const Symbols& mean,
                                               const Symbols& variance, int64_t axis,
                                               const Symbols& offset = {},
                                               const Symbols& scale = {}, double epsilon = 1e-3);
KERATIN_API SymbolicTensor layer_normalization(const Symbols& x, const Symbols& gamma = {},
                                               const Symbols& beta = {}, const Sizes& axis = -1,
                                               std::optional<double> epsilon = {},
                                               bool rms_scaling = false);
KERATIN_API SymbolicTensor rms_normalization(const Symbols& x, const Symbols& scale = {},
                                             const Sizes& axis = -1,
                                             std::optional<double> epsilon = {});
KERATIN_API SymbolicTensor one_hot(const Symbols& x, int64_t num_classes, int64_t axis = -1,
                                   DType dtype = DType::f32);
KERATIN_API SymbolicTensor multi_hot(const Symbols& x, int64_t num_classes, int64_t axis = -1,
                                     DType dtype = DType::f32);
// The mean, then the variance.
KERATIN_API Symbols moments(const Symbols& x, const Dims& axes, bool keepdims = false,
                            bool synchronized = false);
KERATIN_API SymbolicTensor psnr(const Symbols& x1, const Symbols& x2, double max_val);

// Reductions: over all axes (nothing), one, several or none (an empty list).
KERATIN_API SymbolicTensor sum(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
KERATIN_API SymbolicTensor mean(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
KERATIN_API SymbolicTensor var(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
KERATIN_API SymbolicTensor std(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
KERATIN_API SymbolicTensor logsumexp(const Symbols& x, const Axes& axis = {},
                                     bool keepdims = false);
KERATIN_API SymbolicTensor any(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
KERATIN_API SymbolicTensor all(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
KERATIN_API SymbolicTensor amax(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
KERATIN_API SymbolicTensor amin(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
KERATIN_API SymbolicTensor ptp(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
KERATIN_API SymbolicTensor nanmax(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
KERATIN_API SymbolicTensor nanmean(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
KERATIN_API SymbolicTensor nanmin(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
KERATIN_API SymbolicTensor nanprod(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
KERATIN_API SymbolicTensor nanstd(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
KERATIN_API SymbolicTensor nansum(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
KERATIN_API SymbolicTensor nanvar(const Symbols& x, const Axes& axis = {}, bool keepdims = false);
KERATIN_API SymbolicTensor prod(const Symbols& x, const Axes& axis = {}, bool keepdims = false,
                                std::optional<DType> dtype = {});
// With an initial element there may be no others.
KERATIN_API SymbolicTensor max(const Symbols& x, const Axes& axis = {}, bool keepdims = false,
                               std::optional<Number> initial = {});
KERATIN_API SymbolicTensor min(const Symbols& x, const Axes& axis = {}, bool keepdims = false,
                               std::optional<Number> initial = {});
KERATIN_API SymbolicTensor count_nonzero(const Symbols& x, const Axes& axis = {});
KERATIN_API SymbolicTensor average(const Symbols& x, const Axes& axis = {},
                                   const Symbols& weights = {});
// The order is a number, "fro" or nothing, which is Euclidean.
KERATIN_API SymbolicTensor norm(const Symbols& x, const Json& ord = {}, const Axes& axis = {},
                                bool keepdims = false);
KERATIN_API SymbolicTensor argmax(const Symbols& x, std::optional<int64_t> axis = {},
                                  bool keepdims = false);
KERATIN_API SymbolicTensor argmin(const Symbols& x, std::optional<int64_t> axis = {},
                                  bool keepdims = false);

// Along an axis; without one, of all elements in a row.
KERATIN_API SymbolicTensor cumsum(const Symbols& x, std::optional<int64_t> axis = {},
                                  std::optional<DType> dtype = {});
KERATIN_API SymbolicTensor cumprod(const Symbols& x, std::optional<int64_t> axis = {},
                                   std::optional<DType> dtype = {});
KERATIN_API SymbolicTensor nancumsum(const Symbols& x, std::optional<int64_t> axis = {},
                                     std::optional<DType> dtype = {});
KERATIN_API SymbolicTensor nancumprod(const Symbols& x, std::optional<int64_t> axis = {},
                                      std::optional<DType> dtype = {});
KERATIN_API SymbolicTensor diff(const Symbols& x, int64_t n = 1, int64_t axis = -1);
KERATIN_API SymbolicTensor sort(const Symbols& x, std::optional<int64_t> axis = -1);
KERATIN_API SymbolicTensor argsort(const Symbols& x, std::optional<int64_t> axis = -1);

// Searches.
// The values, then the indices.
KERATIN_API Symbols top_k(const Symbols& x, int64_t k, bool sorted = true);
KERATIN_API SymbolicTensor in_top_k(const Symbols& targets, const Symbols& predictions, int64_t k);
KERATIN_API SymbolicTensor isin(const Symbols& x1, const Symbols& x2, bool assume_unique = false,
                                bool invert = false);
KERATIN_API SymbolicTensor digitize(const Symbols& x, const Symbols& bins);
KERATIN_API SymbolicTensor searchsorted(const Symbols& sorted_sequence, const Symbols& values,
                                        const char* side = "left");

// Products.
KERATIN_API SymbolicTensor matmul(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor dot(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor inner(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor outer(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor vdot(const Symbols& x1, const Symbols& x2);
KERATIN_API SymbolicTensor tensordot(const Symbols& x1, const Symbols& x2, int64_t axes = 2);
KERATIN_API SymbolicTensor tensordot(const Symbols& x1, const Symbols& x2, const Dims& axes_of_x1,
                                     const Dims& axes_of_x2);
KERATIN_API SymbolicTensor einsum(const std::string& subscripts,
                                  const std::vector<SymbolicTensor>& operands);

// Shapes and axes.
// With the batch; -1 is what is left.
KERATIN_API SymbolicTensor reshape(const Symbols& x, const Dims& newshape);
KERATIN_API SymbolicTensor ravel(const Symbols& x);
KERATIN_API SymbolicTensor transpose(const Symbols& x, const std::optional<Dims>& axes = {});
KERATIN_API SymbolicTensor swapaxes(const Symbols& x, int64_t axis1, int64_t axis2);
KERATIN_API SymbolicTensor moveaxis(const Symbols& x, const Sizes& source,
                                    const Sizes& destination);
KERATIN_API SymbolicTensor expand_dims(const Symbols& x, const Sizes& axis);
KERATIN_API SymbolicTensor squeeze(const Symbols& x, const Axes& axis = {});
KERATIN_API SymbolicTensor broadcast_to(const Symbols& x, const Dims& shape);
KERATIN_API SymbolicTensor flip(const Symbols& x, const Axes& axis = {});
KERATIN_API SymbolicTensor fliplr(const Symbols& x);
KERATIN_API SymbolicTensor flipud(const Symbols& x);
KERATIN_API SymbolicTensor rot90(const Symbols& x, int64_t k = 1, const Dims& axes = {0, 1});
KERATIN_API SymbolicTensor roll(const Symbols& x, const Sizes& shift, const Axes& axis = {});

// Joining, cutting and repeating.
KERATIN_API SymbolicTensor concatenate(const std::vector<SymbolicTensor>& xs, int64_t axis = 0);
KERATIN_API SymbolicTensor append(const Symbols& x1, const Symbols& x2,
                                  std::optional<int64_t> axis = {});
KERATIN_API SymbolicTensor stack(const std::vector<SymbolicTensor>& xs, int64_t axis = 0);
KERATIN_API SymbolicTensor hstack(const std::vector<SymbolicTensor>& xs);
KERATIN_API SymbolicTensor vstack(const std::vector<SymbolicTensor>& xs);
KERATIN_API SymbolicTensor dstack(const std::vector<SymbolicTensor>& xs);
KERATIN_API Symbols split(const Symbols& x, const Sizes& indices_or_sections, int64_t axis = 0);
KERATIN_API Symbols array_split(const Symbols& x, const Sizes& indices_or_sections,
                                int64_t axis = 0);
KERATIN_API Symbols hsplit(const Symbols& x, const Sizes& indices_or_sections);
KERATIN_API Symbols vsplit(const Symbols& x, const Sizes& indices_or_sections);
KERATIN_API Symbols dsplit(const Symbols& x, const Sizes& indices_or_sections);
KERATIN_API Symbols unstack(const Symbols& x, std::optional<int64_t> num = {}, int64_t axis = 0);
KERATIN_API Symbols meshgrid(const std::vector<SymbolicTensor>& xs, const char* indexing = "xy");
KERATIN_API SymbolicTensor repeat(const Symbols& x, const Sizes& repeats,
                                  std::optional<int64_t> axis = {});
KERATIN_API SymbolicTensor tile(const Symbols& x, const Dims& repeats);
KERATIN_API SymbolicTensor pad(const Symbols& x, const std::vector<Dims>& pad_width,
                               const char* mode = "constant", const Symbols& constant_values = {});

// Parts of a tensor.
KERATIN_API SymbolicTensor take(const Symbols& x, const Symbols& indices,
                                std::optional<int64_t> axis = {});
KERATIN_API SymbolicTensor take_along_axis(const Symbols& x, const Symbols& indices,
                                           std::optional<int64_t> axis = {});
// A window of that shape; x with one replaced. The start may be computed.
KERATIN_API SymbolicTensor slice(const Symbols& x, const Symbols& start_indices, const Dims& shape);
KERATIN_API SymbolicTensor slice_update(const Symbols& x, const Symbols& start_indices,
                                        const Symbols& updates);
KERATIN_API SymbolicTensor tril(const Symbols& x, int64_t k = 0);
KERATIN_API SymbolicTensor triu(const Symbols& x, int64_t k = 0);
KERATIN_API SymbolicTensor diagonal(const Symbols& x, int64_t offset = 0, int64_t axis1 = 0,
                                    int64_t axis2 = 1);
KERATIN_API SymbolicTensor trace(const Symbols& x, int64_t offset = 0, int64_t axis1 = 0,
                                 int64_t axis2 = 1);
// x[i, j:k, …]: get_item(x, {Slice{}, 0}), or x[{Slice{}, 0}].
KERATIN_API SymbolicTensor get_item(const Symbols& x, const std::vector<Index>& index);
KERATIN_API Value get_item(Value x, const std::vector<Index>& index);

}  // namespace ops
}  // namespace keratin
