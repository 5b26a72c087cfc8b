#include <cmath>
#include <limits>
#include <numbers>

#include "keratin/base/text.h"
#include "keratin/ops/activations.h"
#include "keratin/ops/composites.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/fill.h"
#include "keratin/ops/missing_values.h"
#include "keratin/ops/promote.h"
#include "keratin/tensor/elements.h"

namespace keratin::ops {

Value absolute(Value x) { return x.dtype() == DType::boolean ? x : abs(x); }
Value fabs(Value x) { return abs(x); }
Value cbrt(Value x) { return sign(x) * power(abs(x), scalar_like(x, 1.0 / 3)); }
Value deg2rad(Value x) { return x * (std::numbers::pi / 180); }
Value rad2deg(Value x) { return x * (180 / std::numbers::pi); }
Value erfc(Value x) { return 1.0 - erf(x); }
Value exp2(Value x) { return power(scalar_like(x, 2), x); }
Value log2(Value x) { return log(x) * (1 / std::numbers::ln2); }
Value log10(Value x) { return log(x) * (1 / std::numbers::ln10); }
Value sinc(Value x) {
  const Value angle = x * std::numbers::pi, zero = scalar_like(x, 0);
  return where(equal(x, zero), scalar_like(x, 1), sin(angle) / angle);
}
// The reciprocals of 0.0 and -0.0 are infinities, which have a sign that shows.
Value signbit(Value x) {
  const Value negative = x < 0.0;
  if (!is_float(x.dtype())) return negative;
  return where(equal(x, scalar_like(x, 0)), reciprocal(x) < 0.0, negative);
}
Value isneginf(Value x) { return isinf(x) & (x < 0.0); }
Value isposinf(Value x) { return isinf(x) & (x > 0.0); }
Value isreal(Value x) { return fill_like(x, 1, DType::boolean); }
// Integers stay what they are, but for places before the point.
Value round(Value x, int64_t decimals) {
  if (!is_float(x.dtype()) && decimals >= 0) return x;
  const double scale = std::pow(10, decimals);
  const Value y = cast(x, promoted_to_float(x.dtype()));
  return cast(scale == 1 ? round(y) : round(y * scale) / scale, x.dtype());
}
Value conjugate(Value x) { return x; }
Value real(Value x) { return x; }
Value copy(Value x) { return x; }

Value true_divide(Value x1, Value x2) { return divide(x1, x2); }
Value divide_no_nan(Value x1, Value x2) {
  const Value zero = scalar_like(x2, 0), none = equal(x2, zero);
  return where(none, zero, x1 / where(none, scalar_like(x2, 1), x2));
}
Value fmod(Value x1, Value x2) {
  const Value rest = mod(abs(x1), abs(x2));
  return where(x1 < 0.0, -rest, rest);
}
Value fmax(Value x1, Value x2) {
  if (!is_float(x1.dtype())) return maximum(x1, x2);
  return where(isnan(x1), x2, where(isnan(x2), x1, maximum(x1, x2)));
}
Value fmin(Value x1, Value x2) {
  if (!is_float(x1.dtype())) return minimum(x1, x2);
  return where(isnan(x1), x2, where(isnan(x2), x1, minimum(x1, x2)));
}
Value heaviside(Value x1, Value x2) {
  const Value one = scalar_like(x1, 1), zero = scalar_like(x1, 0);
  const Value y = where(x1 < 0.0, zero, where(equal(x1, zero), x2, one));
  return where(isnan(x1), x1, y);
}
// Scaled by the larger one, so that no square overflows.
Value hypot(Value x1, Value x2) {
  const Value x = abs(x1), y = abs(x2), large = maximum(x, y);
  const Value ratio = minimum(x, y) / large;
  const Value length =
      where(equal(large, scalar_like(large, 0)), large, large * sqrt(ratio * ratio + 1.0));
  const Value infinite = isinf(x) | isinf(y);  // even beside NaN
  return where(infinite, scalar_like(x, std::numeric_limits<double>::infinity()), length);
}
Value ldexp(Value x1, Value x2) { return x1 * exp2(cast(x2, x1.dtype())); }
// The larger one is taken out of the logarithm, so that nothing overflows. The difference of equal
// infinities is NaN.
Value logaddexp(Value x1, Value x2) {
  const Value distance = abs(x1 - x2);
  return where(isnan(distance), x1 + x2, maximum(x1, x2) + log1p(exp(-distance)));
}
Value logaddexp2(Value x1, Value x2) {
  return logaddexp(x1 * std::numbers::ln2, x2 * std::numbers::ln2) * (1 / std::numbers::ln2);
}
Value bitwise_invert(Value x) { return bitwise_not(x); }
Value left_shift(Value x1, Value x2) { return bitwise_left_shift(x1, x2); }
Value right_shift(Value x1, Value x2) { return bitwise_right_shift(x1, x2); }

namespace {

Value truth(Value x) { return cast(x, DType::boolean); }

double largest_number(DType dtype) {
  if (dtype == DType::f16) return 65504;
  if (dtype == DType::bf16) return 0x1.FEp127;
  return dispatch(dtype, [](auto tag) {
    return static_cast<double>(std::numeric_limits<compute_t<typename decltype(tag)::type>>::max());
  });
}
double smallest_number(DType dtype) {
  if (is_float(dtype)) return -largest_number(dtype);
  return dispatch(dtype, [](auto tag) {
    return static_cast<double>(
        std::numeric_limits<compute_t<typename decltype(tag)::type>>::lowest());
  });
}

}  // namespace

Value logical_and(Value x1, Value x2) { return bitwise_and(truth(x1), truth(x2)); }
Value logical_or(Value x1, Value x2) { return bitwise_or(truth(x1), truth(x2)); }
Value logical_xor(Value x1, Value x2) { return bitwise_xor(truth(x1), truth(x2)); }
Value logical_not(Value x) { return bitwise_not(truth(x)); }
Value isclose(Value x1, Value x2, double rtol, double atol, bool equal_nan) {
  const Value a = cast(x1, promoted_to_float(x1.dtype()));
  const Value b = cast(x2, promoted_to_float(x2.dtype()));
  const Value near = less_equal(abs(a - b), abs(b) * rtol + atol);
  const Value close = (near & isfinite(b)) | equal(a, b);
  return equal_nan ? close | (isnan(a) & isnan(b)) : close;
}
Value select(const Values& condlist, const Values& choicelist, Value fallback) {
  require(!condlist.empty() && condlist.size() == choicelist.size(),
          "select: expected as many choices as conditions, got ", choicelist.size(), " and ",
          condlist.size());
  Value y = fallback.defined() ? fallback : scalar_like(choicelist[0], 0);
  for (size_t i = condlist.size(); i-- > 0;) y = where(truth(condlist[i]), choicelist[i], y);
  return y;
}

Value with_nan_replaced(Value x, double value) {
  if (!is_float(x.dtype())) return x;
  return where(isnan(x), scalar_like(x, value), x);
}
Value nan_to_num(Value x, double nan, std::optional<double> posinf, std::optional<double> neginf) {
  if (!is_float(x.dtype())) return x;
  const double largest = largest_number(x.dtype());
  const auto filled = [&](Value y, Value there, double value) {
    return where(there, scalar_like(x, value), y);
  };
  Value y = with_nan_replaced(x, nan);
  y = filled(y, isposinf(x), posinf.value_or(largest));
  return filled(y, isneginf(x), neginf.value_or(-largest));
}
Value saturate_cast(Value x, DType dtype) {
  if (x.dtype() == DType::boolean) return cast(x, dtype);
  if (dtype == DType::boolean) return x > 0.0;  // from 0 to 1
  const auto limit = [&](double bound, double own) {
    return scalar_like(x, std::abs(bound) < std::abs(own) ? bound : own);
  };
  const Value low = limit(smallest_number(dtype), smallest_number(x.dtype()));
  const Value high = limit(largest_number(dtype), largest_number(x.dtype()));
  return cast(minimum(maximum(x, low), high), dtype);
}

Value array(Value x, std::optional<DType> dtype) { return cast(x, dtype.value_or(x.dtype())); }
Value convert_to_tensor(Value x, std::optional<DType> dtype) { return array(x, dtype); }
Value zeros_like(Value x, DType dtype) { return fill_like(x, 0, dtype); }
Value ones_like(Value x, std::optional<DType> dtype) {
  return fill_like(x, 1, dtype.value_or(x.dtype()));
}
Value empty_like(Value x, std::optional<DType> dtype) {
  return zeros_like(x, dtype.value_or(x.dtype()));
}
Value full_like(Value x, Value fill_value, std::optional<DType> dtype) {
  const DType own = dtype.value_or(x.dtype());
  return where(isreal(x), cast(fill_value, own), zeros_like(x, own));
}

}  // namespace keratin::ops
