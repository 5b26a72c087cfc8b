#include "keratin/backend/cuda/loops/pointwise.h"

#include "keratin/base/text.h"
#include "keratin/ops/scalar.h"

namespace keratin::cuda {

namespace {

// bit_and -> scalar::BitAnd: the functors are named after the ops.
std::string functor_of(const Node& node) {
  static constexpr std::string_view names[] = {"Add",
                                               "Sub",
                                               "Mul",
                                               "Div",
                                               "Mod",
                                               "FloorDiv",
                                               "Maximum",
                                               "Minimum",
                                               "Pow",
                                               "Atan2",
                                               "Equal",
                                               "NotEqual",
                                               "Less",
                                               "LessEqual",
                                               "Greater",
                                               "GreaterEqual",
                                               "BitAnd",
                                               "BitOr",
                                               "BitXor",
                                               "BitNot",
                                               "ShiftLeft",
                                               "ShiftRight",
                                               "ShiftRightLogical",
                                               "select",
                                               "Neg",
                                               "Abs",
                                               "Sign",
                                               "Relu",
                                               "Floor",
                                               "Ceil",
                                               "Round",
                                               "Trunc",
                                               "Sqrt",
                                               "Rsqrt",
                                               "Exp",
                                               "Expm1",
                                               "Log",
                                               "Log1p",
                                               "Sin",
                                               "Cos",
                                               "Tan",
                                               "Asin",
                                               "Acos",
                                               "Atan",
                                               "Sinh",
                                               "Cosh",
                                               "Tanh",
                                               "Asinh",
                                               "Acosh",
                                               "Atanh",
                                               "Erf",
                                               "Erfinv",
                                               "Sigmoid",
                                               "IsNan",
                                               "IsInf",
                                               "IsFinite"};
  return text("scalar::", names[static_cast<size_t>(*node.op().scalar)]);
}

}  // namespace

std::string expression_of(const Node& node, const std::function<std::string(size_t)>& input) {
  if (*node.op().scalar == ScalarOp::select)
    return text(input(0), " ? ", input(1), " : ", input(2));
  if (*node.op().scalar == ScalarOp::cast)
    return text("load(convert<", storage_type(node.type().dtype), ">(", input(0), "))");
  std::string value = text(functor_of(node), "{}(", input(0));
  for (size_t i = 1; i < node.input_count(); ++i) value += text(", ", input(i));
  return value + ")";
}

}  // namespace keratin::cuda
