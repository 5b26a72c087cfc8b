#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "keratin/base/export.h"
#include "keratin/ir/value.h"

// Keras's operations that are written in other ops, under Keras's names, with its arguments and
// defaults. Like all functions on values they take operands of one dtype.
namespace keratin::ops {

// Pointwise.
KERATIN_API Value absolute(Value x);  // |x|, of bools too
KERATIN_API Value fabs(Value x);
KERATIN_API Value cbrt(Value x);     // sign(x) · |x|^(1/3)
KERATIN_API Value deg2rad(Value x);  // x · π / 180
KERATIN_API Value rad2deg(Value x);  // x · 180 / π
KERATIN_API Value erfc(Value x);     // 1 - erf x
KERATIN_API Value exp2(Value x);     // 2^x
KERATIN_API Value log2(Value x);
KERATIN_API Value log10(Value x);
KERATIN_API Value sinc(Value x);     // sin(πx) / (πx), and 1 at 0
KERATIN_API Value signbit(Value x);  // true for negative values and -0.0
KERATIN_API Value isneginf(Value x);
KERATIN_API Value isposinf(Value x);
KERATIN_API Value isreal(Value x);                   // true everywhere
KERATIN_API Value round(Value x, int64_t decimals);  // to `decimals` digits after the point
KERATIN_API Value nan_to_num(Value x, double nan = 0, std::optional<double> posinf = {},
                             std::optional<double> neginf = {});  // else the largest and smallest
KERATIN_API Value conjugate(Value x);                             // x: there are no complex numbers
KERATIN_API Value real(Value x);
KERATIN_API Value copy(Value x);

KERATIN_API Value true_divide(Value x1, Value x2);
KERATIN_API Value divide_no_nan(Value x1, Value x2);  // 0 where the divisor is 0
KERATIN_API Value fmod(Value x1, Value x2);           // the dividend's sign
KERATIN_API Value fmax(Value x1, Value x2);           // the other one where one is NaN
KERATIN_API Value fmin(Value x1, Value x2);
KERATIN_API Value heaviside(Value x1, Value x2);   // 0 below 0, x2 at 0, 1 above
KERATIN_API Value hypot(Value x1, Value x2);       // √(x1² + x2²)
KERATIN_API Value ldexp(Value x1, Value x2);       // x1 · 2^x2
KERATIN_API Value logaddexp(Value x1, Value x2);   // log(exp x1 + exp x2)
KERATIN_API Value logaddexp2(Value x1, Value x2);  // log2(2^x1 + 2^x2)
KERATIN_API Value bitwise_invert(Value x);
KERATIN_API Value left_shift(Value x1, Value x2);
KERATIN_API Value right_shift(Value x1, Value x2);  // keeps the sign
KERATIN_API Value logical_and(Value x1, Value x2);  // of numbers: which are not 0
KERATIN_API Value logical_or(Value x1, Value x2);
KERATIN_API Value logical_xor(Value x1, Value x2);
KERATIN_API Value logical_not(Value x);
// |x1 - x2| <= atol + rtol · |x2|
KERATIN_API Value isclose(Value x1, Value x2, double rtol = 1e-5, double atol = 1e-8,
                          bool equal_nan = false);
// The choice of the first condition that holds; where none does, the default, or 0.
KERATIN_API Value select(const Values& condlist, const Values& choicelist, Value fallback = {});

KERATIN_API Value array(Value x, std::optional<DType> dtype = {});
KERATIN_API Value convert_to_tensor(Value x, std::optional<DType> dtype = {});
// A cast that gives the nearest value of the dtype to what it cannot hold.
KERATIN_API Value saturate_cast(Value x, DType dtype);
KERATIN_API Value zeros_like(Value x, DType dtype);
KERATIN_API Value ones_like(Value x, std::optional<DType> dtype = {});
KERATIN_API Value empty_like(Value x, std::optional<DType> dtype = {});  // zeros
KERATIN_API Value full_like(Value x, Value fill_value, std::optional<DType> dtype = {});

// Reductions over some axes; no axes means all of them.
KERATIN_API Value amax(Value x, const Dims& axis = {}, bool keepdims = false);
KERATIN_API Value amin(Value x, const Dims& axis = {}, bool keepdims = false);
// The largest (smallest) of the elements and `initial`, a scalar; there may be no elements.
KERATIN_API Value max(Value x, const Dims& axis, bool keepdims, Value initial);
KERATIN_API Value min(Value x, const Dims& axis, bool keepdims, Value initial);
KERATIN_API Value ptp(Value x, const Dims& axis = {}, bool keepdims = false);  // max - min
KERATIN_API Value std(Value x, const Dims& axis = {}, bool keepdims = false);  // √var
KERATIN_API Value count_nonzero(Value x, const Dims& axis = {});               // i32
// Σ x · weights / Σ weights. Weights of one axis may be a vector along it.
KERATIN_API Value average(Value x, const Dims& axis = {}, Value weights = {});
// The mean and the variance. Of i32 and i64 both are integers.
KERATIN_API Values moments(Value x, const Dims& axes, bool keepdims = false);
// Without an axis, the position among all elements in a row.
KERATIN_API Value argmax(Value x, std::optional<int64_t> axis = {}, bool keepdims = false);
KERATIN_API Value argmin(Value x, std::optional<int64_t> axis = {}, bool keepdims = false);
// Reductions that leave out NaN. Of nothing but NaN the sum is 0, the product 1, the others NaN.
KERATIN_API Value nanmax(Value x, const Dims& axis = {}, bool keepdims = false);
KERATIN_API Value nanmin(Value x, const Dims& axis = {}, bool keepdims = false);
KERATIN_API Value nanmean(Value x, const Dims& axis = {}, bool keepdims = false);
KERATIN_API Value nanprod(Value x, const Dims& axis = {}, bool keepdims = false);
KERATIN_API Value nanstd(Value x, const Dims& axis = {}, bool keepdims = false);
KERATIN_API Value nansum(Value x, const Dims& axis = {}, bool keepdims = false);
KERATIN_API Value nanvar(Value x, const Dims& axis = {}, bool keepdims = false);

// Along an axis; without one, of all elements in a row. Bools count as numbers.
KERATIN_API Value cumsum(Value x, std::optional<int64_t> axis = {},
                         std::optional<DType> dtype = {});
KERATIN_API Value cumprod(Value x, std::optional<int64_t> axis = {},
                          std::optional<DType> dtype = {});
KERATIN_API Value cumsum(Value x, int64_t axis, std::optional<DType> dtype = {});
KERATIN_API Value cumprod(Value x, int64_t axis, std::optional<DType> dtype = {});
KERATIN_API Value nancumsum(Value x, std::optional<int64_t> axis = {},
                            std::optional<DType> dtype = {});
KERATIN_API Value nancumprod(Value x, std::optional<int64_t> axis = {},
                             std::optional<DType> dtype = {});
KERATIN_API Value sort(Value x, std::optional<int64_t> axis = -1);
KERATIN_API Value sort(Value x, int64_t axis);
KERATIN_API Value argsort(Value x, std::optional<int64_t> axis = -1);  // i64
KERATIN_API Value argsort(Value x, int64_t axis);
KERATIN_API Value diff(Value x, int64_t n = 1, int64_t axis = -1);  // x[i + 1] - x[i], n times

// Elements moved, cut out and joined.
KERATIN_API Value ravel(Value x);      // all elements in a row
KERATIN_API Value transpose(Value x);  // the axes in reverse order
KERATIN_API Value swapaxes(Value x, int64_t axis1, int64_t axis2);
KERATIN_API Value moveaxis(Value x, const Dims& source, const Dims& destination);
KERATIN_API Value moveaxis(Value x, int64_t source, int64_t destination);
KERATIN_API Value expand_dims(Value x, const Dims& axis);
KERATIN_API Value squeeze(Value x, const Dims& axis);
KERATIN_API Value squeeze(Value x);  // all axes of size 1
KERATIN_API Value fliplr(Value x);   // along axis 1
KERATIN_API Value flipud(Value x);   // along axis 0
KERATIN_API Value rot90(Value x, int64_t k = 1, const Dims& axes = {0, 1});
// A shift for each axis, or one for all; without axes, all elements in a row are shifted.
KERATIN_API Value roll(Value x, const Dims& shift, const std::optional<Dims>& axis = {});
KERATIN_API Value roll(Value x, int64_t shift);
// Pairs of what comes before and behind each axis. Modes: "constant", "reflect", "symmetric".
KERATIN_API Value pad(Value x, const std::vector<Dims>& pad_width,
                      std::string_view mode = "constant", double constant_values = 0);
// Repeats each element, all by one count or each by its own; without an axis, x is flattened.
KERATIN_API Value repeat(Value x, const Dims& repeats, std::optional<int64_t> axis = {});
KERATIN_API Value repeat(Value x, int64_t repeats);
KERATIN_API Value append(Value x1, Value x2, std::optional<int64_t> axis = {});
KERATIN_API Value hstack(const Values& xs);
KERATIN_API Value vstack(const Values& xs);
KERATIN_API Value dstack(const Values& xs);
// Pieces that end at these positions, and what is left.
KERATIN_API Values split(Value x, const Dims& indices, int64_t axis = 0);
// The first pieces are longer by one where the axis does not divide.
KERATIN_API Values array_split(Value x, int64_t sections, int64_t axis = 0);
KERATIN_API Values array_split(Value x, const Dims& indices, int64_t axis = 0);
// Along axis 1 (of vectors 0), 0 and 2.
KERATIN_API Values hsplit(Value x, int64_t sections);
KERATIN_API Values hsplit(Value x, const Dims& indices);
KERATIN_API Values vsplit(Value x, int64_t sections);
KERATIN_API Values vsplit(Value x, const Dims& indices);
KERATIN_API Values dsplit(Value x, int64_t sections);
KERATIN_API Values dsplit(Value x, const Dims& indices);
KERATIN_API Values unstack(Value x, std::optional<int64_t> num = {}, int64_t axis = 0);
// Each vector along an axis of its own, repeated along those of the others.
KERATIN_API Values meshgrid(const Values& xs, std::string_view indexing = "xy");
KERATIN_API Value diagonal(Value x, int64_t offset = 0, int64_t axis1 = 0, int64_t axis2 = 1);
KERATIN_API Value trace(Value x, int64_t offset = 0, int64_t axis1 = 0, int64_t axis2 = 1);
KERATIN_API Value tril(Value x, int64_t k = 0);
KERATIN_API Value triu(Value x, int64_t k = 0);
// Without an axis, of all elements in a row.
KERATIN_API Value take(Value x, Value indices, std::optional<int64_t> axis = {});
KERATIN_API Value take_along_axis(Value x, Value indices, std::optional<int64_t> axis = {});
// A window of that shape; x with one replaced. The start may be computed.
KERATIN_API Value slice(Value x, Value start_indices, const Dims& shape);
KERATIN_API Value slice_update(Value x, Value start_indices, Value updates);
KERATIN_API Value one_hot(Value x, int64_t num_classes, int64_t axis, DType dtype = DType::f32);
// 1 at each class that a sample names.
KERATIN_API Value multi_hot(Value x, int64_t num_classes, int64_t axis = -1,
                            DType dtype = DType::f32);

// Products, norms and searches.
KERATIN_API Value dot(Value x1, Value x2);    // over the last axis of x1 and the last but one of x2
KERATIN_API Value inner(Value x1, Value x2);  // over the last axis of both
KERATIN_API Value outer(Value x1, Value x2);  // of all elements in a row
KERATIN_API Value vdot(Value x1, Value x2);   // likewise
// Over the last axes of x1 and the first ones of x2; over these axes, pair by pair.
KERATIN_API Value tensordot(Value x1, Value x2, int64_t axes = 2);
KERATIN_API Value tensordot(Value x1, Value x2, const Dims& axes_of_x1, const Dims& axes_of_x2);
// (Σ |x|^ord)^(1/ord) over one axis (2 by default), a norm of matrices over two: 1, -1, ±∞ or, by
// default, Frobenius's.
KERATIN_API Value norm(Value x, std::optional<double> ord = {}, const Dims& axis = {},
                       bool keepdims = false);
// x / |x|, with |x| at least epsilon
KERATIN_API Value normalize(Value x, const Dims& axis = {-1}, int64_t order = 2,
                            double epsilon = 1e-7);
KERATIN_API Value digitize(Value x, Value bins);  // i32: how many of the bins are at most x
KERATIN_API Value searchsorted(Value sorted_sequence, Value values, std::string_view side = "left");
KERATIN_API Value isin(Value x1, Value x2, bool assume_unique = false, bool invert = false);
// True where the prediction of the target is among the k largest.
KERATIN_API Value in_top_k(Value targets, Value predictions, int64_t k);
KERATIN_API Value psnr(Value x1, Value x2, double max_val);  // 20 log10(max_val) - 10 log10(mse)

// Normalisation; a parameter has the sizes of the axes, or as many axes as x.
KERATIN_API Value batch_normalization(Value x, Value mean, Value variance, int64_t axis,
                                      Value offset = {}, Value scale = {}, double epsilon = 1e-3);
// With rms_scaling x / √(variance + epsilon) · gamma.
KERATIN_API Value layer_normalization(Value x, Value gamma = {}, Value beta = {},
                                      const Dims& axis = {-1}, double epsilon = 1e-7,
                                      bool rms_scaling = false);
KERATIN_API Value rms_normalization(Value x, Value scale = {}, const Dims& axis = {-1},
                                    double epsilon = 1e-7);

}  // namespace keratin::ops
