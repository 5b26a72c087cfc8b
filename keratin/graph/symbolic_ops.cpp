#include "keratin/graph/symbolic_ops.h"

#include "keratin/graph/get_item.h"
#include "keratin/graph/operation.h"

namespace keratin {

using O = Json::Object;

Index::Index(const Slice& slice)
    : json_(O{{"class_name", "__slice__"},
              {"config", O{{"start", config::write(slice.start)},
                           {"stop", config::write(slice.stop)},
                           {"step", config::write(slice.step)}}}}) {}

Index::Index(Ellipsis) : json_(O{{"class_name", "__ellipsis__"}, {"config", O{}}}) {}

SymbolicTensor SymbolicTensor::operator[](const Index& index) const {
  return ops::get_item(*this, {index});
}
SymbolicTensor SymbolicTensor::operator[](std::initializer_list<Index> index) const {
  return ops::get_item(*this, index);
}

SymbolicTensor operator+(const Symbols& x1, const Symbols& x2) { return ops::add(x1, x2); }
SymbolicTensor operator-(const Symbols& x1, const Symbols& x2) { return ops::subtract(x1, x2); }
SymbolicTensor operator*(const Symbols& x1, const Symbols& x2) { return ops::multiply(x1, x2); }
SymbolicTensor operator/(const Symbols& x1, const Symbols& x2) { return ops::true_divide(x1, x2); }
SymbolicTensor operator%(const Symbols& x1, const Symbols& x2) { return ops::mod(x1, x2); }
SymbolicTensor operator<(const Symbols& x1, const Symbols& x2) { return ops::less(x1, x2); }
SymbolicTensor operator<=(const Symbols& x1, const Symbols& x2) { return ops::less_equal(x1, x2); }
SymbolicTensor operator>(const Symbols& x1, const Symbols& x2) { return ops::greater(x1, x2); }
SymbolicTensor operator>=(const Symbols& x1, const Symbols& x2) {
  return ops::greater_equal(x1, x2);
}
SymbolicTensor operator&(const Symbols& x1, const Symbols& x2) { return ops::logical_and(x1, x2); }
SymbolicTensor operator|(const Symbols& x1, const Symbols& x2) { return ops::logical_or(x1, x2); }
SymbolicTensor operator^(const Symbols& x1, const Symbols& x2) { return ops::logical_xor(x1, x2); }
SymbolicTensor operator-(const Symbols& x) { return ops::negative(x); }
SymbolicTensor operator!(const Symbols& x) { return ops::logical_not(x); }

namespace ops {
namespace {

// The index as an argument of the operation: one item, or a list of them.
template <class T>
Tree<T> index_argument(const std::vector<Index>& index) {
  if (index.size() == 1) return index[0].json();
  typename Tree<T>::List items;
  for (const Index& item : index) items.emplace_back(item.json());
  return items;
}

}  // namespace

SymbolicTensor add(const Symbols& x1, const Symbols& x2) {
  return operation_result("Add", {x1, x2});
}
SymbolicTensor subtract(const Symbols& x1, const Symbols& x2) {
  return operation_result("Subtract", {x1, x2});
}
SymbolicTensor multiply(const Symbols& x1, const Symbols& x2) {
  return operation_result("Multiply", {x1, x2});
}
SymbolicTensor divide(const Symbols& x1, const Symbols& x2) {
  return operation_result("Divide", {x1, x2});
}
SymbolicTensor true_divide(const Symbols& x1, const Symbols& x2) {
  return operation_result("TrueDivide", {x1, x2});
}
SymbolicTensor floor_divide(const Symbols& x1, const Symbols& x2) {
  return operation_result("FloorDivide", {x1, x2});
}
SymbolicTensor mod(const Symbols& x1, const Symbols& x2) {
  return operation_result("Mod", {x1, x2});
}
SymbolicTensor fmod(const Symbols& x1, const Symbols& x2) {
  return operation_result("Fmod", {x1, x2});
}
SymbolicTensor power(const Symbols& x1, const Symbols& x2) {
  return operation_result("Power", {x1, x2});
}
SymbolicTensor divide_no_nan(const Symbols& x1, const Symbols& x2) {
  return operation_result("DivideNoNan", {x1, x2});
}
SymbolicTensor maximum(const Symbols& x1, const Symbols& x2) {
  return operation_result("Maximum", {x1, x2});
}
SymbolicTensor minimum(const Symbols& x1, const Symbols& x2) {
  return operation_result("Minimum", {x1, x2});
}
SymbolicTensor fmax(const Symbols& x1, const Symbols& x2) {
  return operation_result("Fmax", {x1, x2});
}
SymbolicTensor fmin(const Symbols& x1, const Symbols& x2) {
  return operation_result("Fmin", {x1, x2});
}
SymbolicTensor arctan2(const Symbols& x1, const Symbols& x2) {
  return operation_result("Arctan2", {x1, x2});
}
SymbolicTensor heaviside(const Symbols& x1, const Symbols& x2) {
  return operation_result("Heaviside", {x1, x2});
}
SymbolicTensor hypot(const Symbols& x1, const Symbols& x2) {
  return operation_result("Hypot", {x1, x2});
}
SymbolicTensor ldexp(const Symbols& x1, const Symbols& x2) {
  return operation_result("Ldexp", {x1, x2});
}
SymbolicTensor logaddexp(const Symbols& x1, const Symbols& x2) {
  return operation_result("Logaddexp", {x1, x2});
}
SymbolicTensor logaddexp2(const Symbols& x1, const Symbols& x2) {
  return operation_result("Logaddexp2", {x1, x2});
}
SymbolicTensor equal(const Symbols& x1, const Symbols& x2) {
  return operation_result("Equal", {x1, x2});
}
SymbolicTensor not_equal(const Symbols& x1, const Symbols& x2) {
  return operation_result("NotEqual", {x1, x2});
}
SymbolicTensor less(const Symbols& x1, const Symbols& x2) {
  return operation_result("Less", {x1, x2});
}
SymbolicTensor less_equal(const Symbols& x1, const Symbols& x2) {
  return operation_result("LessEqual", {x1, x2});
}
SymbolicTensor greater(const Symbols& x1, const Symbols& x2) {
  return operation_result("Greater", {x1, x2});
}
SymbolicTensor greater_equal(const Symbols& x1, const Symbols& x2) {
  return operation_result("GreaterEqual", {x1, x2});
}
SymbolicTensor logical_and(const Symbols& x1, const Symbols& x2) {
  return operation_result("LogicalAnd", {x1, x2});
}
SymbolicTensor logical_or(const Symbols& x1, const Symbols& x2) {
  return operation_result("LogicalOr", {x1, x2});
}
SymbolicTensor logical_xor(const Symbols& x1, const Symbols& x2) {
  return operation_result("LogicalXor", {x1, x2});
}
SymbolicTensor bitwise_and(const Symbols& x1, const Symbols& x2) {
  return operation_result("BitwiseAnd", {x1, x2});
}
SymbolicTensor bitwise_or(const Symbols& x1, const Symbols& x2) {
  return operation_result("BitwiseOr", {x1, x2});
}
SymbolicTensor bitwise_xor(const Symbols& x1, const Symbols& x2) {
  return operation_result("BitwiseXor", {x1, x2});
}
SymbolicTensor left_shift(const Symbols& x1, const Symbols& x2) {
  return operation_result("LeftShift", {x1, x2});
}
SymbolicTensor right_shift(const Symbols& x1, const Symbols& x2) {
  return operation_result("RightShift", {x1, x2});
}
SymbolicTensor bitwise_left_shift(const Symbols& x1, const Symbols& x2) {
  return operation_result("BitwiseLeftShift", {x1, x2});
}
SymbolicTensor bitwise_right_shift(const Symbols& x1, const Symbols& x2) {
  return operation_result("BitwiseRightShift", {x1, x2});
}
SymbolicTensor isclose(const Symbols& x1, const Symbols& x2, double rtol, double atol,
                       bool equal_nan) {
  return operation_result("Isclose", {x1, x2, rtol, atol}, O{{"equal_nan", equal_nan}});
}
SymbolicTensor where(const Symbols& condition, const Symbols& x1, const Symbols& x2) {
  return operation_result("Where", {condition, x1, x2});
}
SymbolicTensor select(const std::vector<SymbolicTensor>& condlist,
                      const std::vector<SymbolicTensor>& choicelist, const Symbols& fallback) {
  return operation_result("Select", {Symbols(condlist), Symbols(choicelist), fallback});
}
SymbolicTensor clip(const Symbols& x, const Number& x_min, const Number& x_max) {
  return operation_result("Clip", {x}, O{{"x_min", x_min.json()}, {"x_max", x_max.json()}});
}
SymbolicTensor absolute(const Symbols& x) { return operation_result("Absolute", {x}); }
SymbolicTensor abs(const Symbols& x) { return operation_result("Absolute", {x}); }
SymbolicTensor fabs(const Symbols& x) { return operation_result("Fabs", {x}); }
SymbolicTensor negative(const Symbols& x) { return operation_result("Negative", {x}); }
SymbolicTensor sign(const Symbols& x) { return operation_result("Sign", {x}); }
SymbolicTensor signbit(const Symbols& x) { return operation_result("Signbit", {x}); }
SymbolicTensor square(const Symbols& x) { return operation_result("Square", {x}); }
SymbolicTensor sqrt(const Symbols& x) { return operation_result("Sqrt", {x}); }
SymbolicTensor cbrt(const Symbols& x) { return operation_result("Cbrt", {x}); }
SymbolicTensor rsqrt(const Symbols& x) { return operation_result("Rsqrt", {x}); }
SymbolicTensor reciprocal(const Symbols& x) { return operation_result("Reciprocal", {x}); }
SymbolicTensor exp(const Symbols& x) { return operation_result("Exp", {x}); }
SymbolicTensor exp2(const Symbols& x) { return operation_result("Exp2", {x}); }
SymbolicTensor expm1(const Symbols& x) { return operation_result("Expm1", {x}); }
SymbolicTensor log(const Symbols& x) { return operation_result("Log", {x}); }
SymbolicTensor log2(const Symbols& x) { return operation_result("Log2", {x}); }
SymbolicTensor log10(const Symbols& x) { return operation_result("Log10", {x}); }
SymbolicTensor log1p(const Symbols& x) { return operation_result("Log1p", {x}); }
SymbolicTensor sin(const Symbols& x) { return operation_result("Sin", {x}); }
SymbolicTensor cos(const Symbols& x) { return operation_result("Cos", {x}); }
SymbolicTensor tan(const Symbols& x) { return operation_result("Tan", {x}); }
SymbolicTensor arcsin(const Symbols& x) { return operation_result("Arcsin", {x}); }
SymbolicTensor arccos(const Symbols& x) { return operation_result("Arccos", {x}); }
SymbolicTensor arctan(const Symbols& x) { return operation_result("Arctan", {x}); }
SymbolicTensor sinh(const Symbols& x) { return operation_result("Sinh", {x}); }
SymbolicTensor cosh(const Symbols& x) { return operation_result("Cosh", {x}); }
SymbolicTensor tanh(const Symbols& x) { return operation_result("Tanh", {x}); }
SymbolicTensor arcsinh(const Symbols& x) { return operation_result("Arcsinh", {x}); }
SymbolicTensor arccosh(const Symbols& x) { return operation_result("Arccosh", {x}); }
SymbolicTensor arctanh(const Symbols& x) { return operation_result("Arctanh", {x}); }
SymbolicTensor sinc(const Symbols& x) { return operation_result("Sinc", {x}); }
SymbolicTensor deg2rad(const Symbols& x) { return operation_result("Deg2rad", {x}); }
SymbolicTensor rad2deg(const Symbols& x) { return operation_result("Rad2deg", {x}); }
SymbolicTensor erf(const Symbols& x) { return operation_result("Erf", {x}); }
SymbolicTensor erfc(const Symbols& x) { return operation_result("Erfc", {x}); }
SymbolicTensor erfinv(const Symbols& x) { return operation_result("Erfinv", {x}); }
SymbolicTensor floor(const Symbols& x) { return operation_result("Floor", {x}); }
SymbolicTensor ceil(const Symbols& x) { return operation_result("Ceil", {x}); }
SymbolicTensor trunc(const Symbols& x) { return operation_result("Trunc", {x}); }
SymbolicTensor logical_not(const Symbols& x) { return operation_result("LogicalNot", {x}); }
SymbolicTensor bitwise_not(const Symbols& x) { return operation_result("BitwiseNot", {x}); }
SymbolicTensor bitwise_invert(const Symbols& x) { return operation_result("BitwiseInvert", {x}); }
SymbolicTensor isnan(const Symbols& x) { return operation_result("Isnan", {x}); }
SymbolicTensor isinf(const Symbols& x) { return operation_result("Isinf", {x}); }
SymbolicTensor isneginf(const Symbols& x) { return operation_result("Isneginf", {x}); }
SymbolicTensor isposinf(const Symbols& x) { return operation_result("Isposinf", {x}); }
SymbolicTensor isfinite(const Symbols& x) { return operation_result("Isfinite", {x}); }
SymbolicTensor isreal(const Symbols& x) { return operation_result("Isreal", {x}); }
SymbolicTensor real(const Symbols& x) { return operation_result("Real", {x}); }
SymbolicTensor conjugate(const Symbols& x) { return operation_result("Conjugate", {x}); }
SymbolicTensor copy(const Symbols& x) { return operation_result("Copy", {x}); }
SymbolicTensor stop_gradient(const Symbols& x) { return operation_result("StopGradient", {x}); }
SymbolicTensor round(const Symbols& x, int64_t decimals) {
  return operation_result("Round", {x}, O{{"decimals", decimals}});
}
SymbolicTensor nan_to_num(const Symbols& x, double nan, std::optional<double> posinf,
                          std::optional<double> neginf) {
  return operation_result(
      "NanToNum", {x},
      O{{"nan", nan}, {"posinf", config::write(posinf)}, {"neginf", config::write(neginf)}});
}
SymbolicTensor cast(const Symbols& x, DType dtype) {
  return operation_result("Cast", {x}, O{{"dtype", keras_name(dtype)}});
}
SymbolicTensor saturate_cast(const Symbols& x, DType dtype) {
  return operation_result("SaturateCast", {x}, O{{"dtype", keras_name(dtype)}});
}
SymbolicTensor array(const Symbols& x, std::optional<DType> dtype) {
  return operation_result("Array", {x}, O{{"dtype", dtype_json(dtype)}});
}
SymbolicTensor convert_to_tensor(const Symbols& x, std::optional<DType> dtype) {
  return operation_result(
      "ConvertToTensor", {x},
      O{{"dtype", dtype_json(dtype)}, {"sparse", nullptr}, {"ragged", nullptr}});
}
SymbolicTensor zeros_like(const Symbols& x, std::optional<DType> dtype) {
  return operation_result("ZerosLike", {x}, O{{"dtype", dtype_json(dtype)}});
}
SymbolicTensor ones_like(const Symbols& x, std::optional<DType> dtype) {
  return operation_result("OnesLike", {x}, O{{"dtype", dtype_json(dtype)}});
}
SymbolicTensor empty_like(const Symbols& x, std::optional<DType> dtype) {
  return operation_result("EmptyLike", {x}, O{{"dtype", dtype_json(dtype)}});
}
SymbolicTensor full_like(const Symbols& x, const Symbols& fill_value, std::optional<DType> dtype) {
  return operation_result("FullLike", {x, fill_value}, O{{"dtype", dtype_json(dtype)}});
}
SymbolicTensor get_item(const Symbols& x, const std::vector<Index>& index) {
  return operation_result("GetItem", {x, index_argument<SymbolicTensor>(index)});
}
Value get_item(Value x, const std::vector<Index>& index) {
  return keratin::get_item(x, index_argument<Traced>(index));
}

}  // namespace ops
}  // namespace keratin
