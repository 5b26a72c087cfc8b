#include "keratin/graph/symbolic_ops.h"

#include "keratin/graph/operation.h"

namespace keratin {
namespace {

using O = Json::Object;

// The operation on some arguments; its only output.
SymbolicTensor one(std::string_view class_name, std::vector<Symbols> arguments,
                   Json options = Json::object()) {
  return call_operation(class_name, std::move(arguments), std::move(options)).leaf();
}

SymbolicTensor reduced(std::string_view class_name, const Symbols& x, const Json& axis,
                       bool keepdims) {
  return one(class_name, {x}, O{{"axis", axis}, {"keepdims", keepdims}});
}

}  // namespace

Index::Index(const Slice& slice)
    : json_(O{{"class_name", "__slice__"},
              {"config", O{{"start", config::write(slice.start)},
                           {"stop", config::write(slice.stop)},
                           {"step", config::write(slice.step)}}}}) {}

Index::Index(Ellipsis) : json_(O{{"class_name", "__ellipsis__"}, {"config", O{}}}) {}

SymbolicTensor operator+(const Symbols& a, const Symbols& b) { return one("Add", {a, b}); }
SymbolicTensor operator-(const Symbols& a, const Symbols& b) { return one("Subtract", {a, b}); }
SymbolicTensor operator*(const Symbols& a, const Symbols& b) { return one("Multiply", {a, b}); }
SymbolicTensor operator/(const Symbols& a, const Symbols& b) { return one("TrueDivide", {a, b}); }
SymbolicTensor operator%(const Symbols& a, const Symbols& b) { return one("Mod", {a, b}); }
SymbolicTensor operator<(const Symbols& a, const Symbols& b) { return one("Less", {a, b}); }
SymbolicTensor operator<=(const Symbols& a, const Symbols& b) { return one("LessEqual", {a, b}); }
SymbolicTensor operator>(const Symbols& a, const Symbols& b) { return one("Greater", {a, b}); }
SymbolicTensor operator>=(const Symbols& a, const Symbols& b) {
  return one("GreaterEqual", {a, b});
}
SymbolicTensor operator&(const Symbols& a, const Symbols& b) { return one("LogicalAnd", {a, b}); }
SymbolicTensor operator|(const Symbols& a, const Symbols& b) { return one("LogicalOr", {a, b}); }
SymbolicTensor operator^(const Symbols& a, const Symbols& b) { return one("LogicalXor", {a, b}); }
SymbolicTensor operator-(const Symbols& x) { return one("Negative", {x}); }
SymbolicTensor operator!(const Symbols& x) { return one("LogicalNot", {x}); }

namespace ops {

SymbolicTensor add(const Symbols& a, const Symbols& b) { return one("Add", {a, b}); }
SymbolicTensor subtract(const Symbols& a, const Symbols& b) { return one("Subtract", {a, b}); }
SymbolicTensor multiply(const Symbols& a, const Symbols& b) { return one("Multiply", {a, b}); }
SymbolicTensor divide(const Symbols& a, const Symbols& b) { return one("Divide", {a, b}); }
SymbolicTensor floor_divide(const Symbols& a, const Symbols& b) {
  return one("FloorDivide", {a, b});
}
SymbolicTensor power(const Symbols& a, const Symbols& b) { return one("Power", {a, b}); }
SymbolicTensor maximum(const Symbols& a, const Symbols& b) { return one("Maximum", {a, b}); }
SymbolicTensor minimum(const Symbols& a, const Symbols& b) { return one("Minimum", {a, b}); }
SymbolicTensor matmul(const Symbols& a, const Symbols& b) { return one("Matmul", {a, b}); }
SymbolicTensor equal(const Symbols& a, const Symbols& b) { return one("Equal", {a, b}); }
SymbolicTensor not_equal(const Symbols& a, const Symbols& b) { return one("NotEqual", {a, b}); }
SymbolicTensor where(const Symbols& condition, const Symbols& a, const Symbols& b) {
  return one("Where", {condition, a, b});
}

SymbolicTensor negative(const Symbols& x) { return one("Negative", {x}); }
SymbolicTensor abs(const Symbols& x) { return one("Absolute", {x}); }
SymbolicTensor sign(const Symbols& x) { return one("Sign", {x}); }
SymbolicTensor square(const Symbols& x) { return one("Square", {x}); }
SymbolicTensor sqrt(const Symbols& x) { return one("Sqrt", {x}); }
SymbolicTensor rsqrt(const Symbols& x) { return one("Rsqrt", {x}); }
SymbolicTensor reciprocal(const Symbols& x) { return one("Reciprocal", {x}); }
SymbolicTensor exp(const Symbols& x) { return one("Exp", {x}); }
SymbolicTensor log(const Symbols& x) { return one("Log", {x}); }
SymbolicTensor log1p(const Symbols& x) { return one("Log1p", {x}); }
SymbolicTensor sin(const Symbols& x) { return one("Sin", {x}); }
SymbolicTensor cos(const Symbols& x) { return one("Cos", {x}); }
SymbolicTensor tanh(const Symbols& x) { return one("Tanh", {x}); }
SymbolicTensor erf(const Symbols& x) { return one("Erf", {x}); }
SymbolicTensor floor(const Symbols& x) { return one("Floor", {x}); }
SymbolicTensor ceil(const Symbols& x) { return one("Ceil", {x}); }
SymbolicTensor stop_gradient(const Symbols& x) { return one("StopGradient", {x}); }
SymbolicTensor relu(const Symbols& x) { return one("Relu", {x}); }
SymbolicTensor relu6(const Symbols& x) { return one("Relu6", {x}); }
SymbolicTensor sigmoid(const Symbols& x) { return one("Sigmoid", {x}); }
SymbolicTensor silu(const Symbols& x) { return one("Silu", {x}); }
SymbolicTensor softplus(const Symbols& x) { return one("Softplus", {x}); }
SymbolicTensor softsign(const Symbols& x) { return one("Softsign", {x}); }
SymbolicTensor selu(const Symbols& x) { return one("Selu", {x}); }
SymbolicTensor round(const Symbols& x) { return one("Round", {x}, O{{"decimals", 0}}); }
SymbolicTensor elu(const Symbols& x, double alpha) { return one("Elu", {x}, O{{"alpha", alpha}}); }
SymbolicTensor leaky_relu(const Symbols& x, double negative_slope) {
  return one("LeakyRelu", {x}, O{{"negative_slope", negative_slope}});
}
SymbolicTensor gelu(const Symbols& x, bool approximate) {
  return one("Gelu", {x}, O{{"approximate", approximate}});
}
SymbolicTensor softmax(const Symbols& x, int64_t axis) {
  return one("Softmax", {x}, O{{"axis", axis}});
}
SymbolicTensor log_softmax(const Symbols& x, int64_t axis) {
  return one("LogSoftmax", {x}, O{{"axis", axis}});
}

SymbolicTensor sum(const Symbols& x, const Axes& axis, bool keepdims) {
  return reduced("Sum", x, config::write(axis), keepdims);
}
SymbolicTensor mean(const Symbols& x, const Axes& axis, bool keepdims) {
  return reduced("Mean", x, config::write(axis), keepdims);
}
SymbolicTensor any(const Symbols& x, const Axes& axis, bool keepdims) {
  return reduced("Any", x, config::write(axis), keepdims);
}
SymbolicTensor all(const Symbols& x, const Axes& axis, bool keepdims) {
  return reduced("All", x, config::write(axis), keepdims);
}
SymbolicTensor var(const Symbols& x, const Axes& axis, bool keepdims) {
  return reduced("Var", x, config::write(axis), keepdims);
}
SymbolicTensor logsumexp(const Symbols& x, const Axes& axis, bool keepdims) {
  return reduced("Logsumexp", x, config::write(axis), keepdims);
}
SymbolicTensor max(const Symbols& x, const Axes& axis, bool keepdims) {
  return one("Max", {x},
             O{{"axis", config::write(axis)}, {"keepdims", keepdims}, {"initial", nullptr}});
}
SymbolicTensor min(const Symbols& x, const Axes& axis, bool keepdims) {
  return one("Min", {x},
             O{{"axis", config::write(axis)}, {"keepdims", keepdims}, {"initial", nullptr}});
}
SymbolicTensor prod(const Symbols& x, const Axes& axis, bool keepdims) {
  return one("Prod", {x},
             O{{"axis", config::write(axis)}, {"keepdims", keepdims}, {"dtype", nullptr}});
}
SymbolicTensor argmax(const Symbols& x, std::optional<int64_t> axis, bool keepdims) {
  return reduced("Argmax", x, config::write(axis), keepdims);
}

SymbolicTensor reshape(const Symbols& x, const Dims& newshape) {
  return one("Reshape", {x}, O{{"newshape", config::write(newshape)}});
}
SymbolicTensor transpose(const Symbols& x, const std::optional<Dims>& axes) {
  return one("Transpose", {x}, O{{"axes", config::write(axes)}});
}
SymbolicTensor expand_dims(const Symbols& x, const Sizes& axis) {
  return one("ExpandDims", {x}, O{{"axis", axis.to_json()}});
}
SymbolicTensor squeeze(const Symbols& x, const Axes& axis) {
  return one("Squeeze", {x}, O{{"axis", config::write(axis)}});
}
SymbolicTensor concatenate(const std::vector<SymbolicTensor>& xs, int64_t axis) {
  return one("Concatenate", {Symbols(xs)}, O{{"axis", axis}});
}
SymbolicTensor stack(const std::vector<SymbolicTensor>& xs, int64_t axis) {
  return one("Stack", {Symbols(xs)}, O{{"axis", axis}});
}
Symbols split(const Symbols& x, const Sizes& indices_or_sections, int64_t axis) {
  return call_operation("Split", {x},
                        O{{"indices_or_sections", indices_or_sections.to_json()}, {"axis", axis}});
}
SymbolicTensor flip(const Symbols& x, const Axes& axis) {
  return one("Flip", {x}, O{{"axis", config::write(axis)}});
}
SymbolicTensor repeat(const Symbols& x, int64_t repeats, int64_t axis) {
  return one("Repeat", {x}, O{{"repeats", repeats}, {"axis", axis}});
}
SymbolicTensor tile(const Symbols& x, const Dims& repeats) {
  return one("Tile", {x}, O{{"repeats", config::write(repeats)}});
}
SymbolicTensor take(const Symbols& x, const Symbols& indices, int64_t axis) {
  return one("Take", {x, indices}, O{{"axis", axis}});
}
SymbolicTensor one_hot(const Symbols& x, int64_t num_classes) {
  return one(
      "OneHot", {x},
      O{{"num_classes", num_classes}, {"axis", -1}, {"dtype", "float32"}, {"sparse", false}});
}
SymbolicTensor einsum(const std::string& subscripts, const std::vector<SymbolicTensor>& operands) {
  return one("Einsum", std::vector<Symbols>(operands.begin(), operands.end()),
             O{{"subscripts", subscripts}});
}
SymbolicTensor cast(const Symbols& x, DType dtype) {
  return one("Cast", {x}, O{{"dtype", keras_name(dtype)}});
}
SymbolicTensor clip(const Symbols& x, double x_min, double x_max) {
  return one("Clip", {x}, O{{"x_min", x_min}, {"x_max", x_max}});
}
SymbolicTensor zeros_like(const Symbols& x) { return one("ZerosLike", {x}, O{{"dtype", nullptr}}); }
SymbolicTensor ones_like(const Symbols& x) { return one("OnesLike", {x}, O{{"dtype", nullptr}}); }
SymbolicTensor get_item(const Symbols& x, const std::vector<Index>& index) {
  if (index.size() == 1) return one("GetItem", {x, Symbols(index[0].json())});
  Symbols::List items;
  for (const Index& item : index) items.emplace_back(item.json());
  return one("GetItem", {x, Symbols(items)});
}

}  // namespace ops
}  // namespace keratin
