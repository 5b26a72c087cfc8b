#include "keratin/graph/symbolic_ops.h"

#include "keratin/graph/operation.h"

namespace keratin {
namespace {

using O = Json::Object;

// The operation on some arguments; its only output.
SymbolicTensor one(std::string_view class_name, std::vector<Symbols> arguments,
                   Json options = Json::object()) {
  return call_operation(class_name, {std::move(arguments), {}}, std::move(options)).leaf();
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

SymbolicTensor SymbolicTensor::operator[](const Index& index) const {
  return ops::get_item(*this, {index});
}
SymbolicTensor SymbolicTensor::operator[](std::initializer_list<Index> index) const {
  return ops::get_item(*this, index);
}

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
SymbolicTensor mod(const Symbols& a, const Symbols& b) { return one("Mod", {a, b}); }
SymbolicTensor power(const Symbols& a, const Symbols& b) { return one("Power", {a, b}); }
SymbolicTensor maximum(const Symbols& a, const Symbols& b) { return one("Maximum", {a, b}); }
SymbolicTensor minimum(const Symbols& a, const Symbols& b) { return one("Minimum", {a, b}); }
SymbolicTensor matmul(const Symbols& a, const Symbols& b) { return one("Matmul", {a, b}); }
SymbolicTensor logaddexp(const Symbols& a, const Symbols& b) { return one("Logaddexp", {a, b}); }
SymbolicTensor dot(const Symbols& a, const Symbols& b) { return one("Dot", {a, b}); }
SymbolicTensor outer(const Symbols& a, const Symbols& b) { return one("Outer", {a, b}); }
SymbolicTensor tensordot(const Symbols& a, const Symbols& b, int64_t axes) {
  return one("Tensordot", {a, b}, O{{"axes", axes}});
}
SymbolicTensor tensordot(const Symbols& a, const Symbols& b, const Dims& axes_of_a,
                         const Dims& axes_of_b) {
  return one("Tensordot", {a, b},
             O{{"axes", Json::Array{config::write(axes_of_a), config::write(axes_of_b)}}});
}
SymbolicTensor equal(const Symbols& a, const Symbols& b) { return one("Equal", {a, b}); }
SymbolicTensor not_equal(const Symbols& a, const Symbols& b) { return one("NotEqual", {a, b}); }
SymbolicTensor logical_and(const Symbols& a, const Symbols& b) { return a & b; }
SymbolicTensor logical_or(const Symbols& a, const Symbols& b) { return a | b; }
SymbolicTensor logical_xor(const Symbols& a, const Symbols& b) { return a ^ b; }
SymbolicTensor logical_not(const Symbols& x) { return !x; }
SymbolicTensor isnan(const Symbols& x) { return one("Isnan", {x}); }
SymbolicTensor isinf(const Symbols& x) { return one("Isinf", {x}); }
SymbolicTensor isfinite(const Symbols& x) { return one("Isfinite", {x}); }
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
SymbolicTensor softmax(const Symbols& x, const Axes& axis) {
  return one("Softmax", {x}, O{{"axis", config::write(axis)}});
}
SymbolicTensor log_softmax(const Symbols& x, const Axes& axis) {
  return one("LogSoftmax", {x}, O{{"axis", config::write(axis)}});
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
SymbolicTensor std(const Symbols& x, const Axes& axis, bool keepdims) {
  return reduced("Std", x, config::write(axis), keepdims);
}
SymbolicTensor logsumexp(const Symbols& x, const Axes& axis, bool keepdims) {
  return reduced("Logsumexp", x, config::write(axis), keepdims);
}
SymbolicTensor max(const Symbols& x, const Axes& axis, bool keepdims,
                   std::optional<double> initial) {
  return one("Max", {x},
             O{{"axis", config::write(axis)},
               {"keepdims", keepdims},
               {"initial", config::write(initial)}});
}
SymbolicTensor min(const Symbols& x, const Axes& axis, bool keepdims,
                   std::optional<double> initial) {
  return one("Min", {x},
             O{{"axis", config::write(axis)},
               {"keepdims", keepdims},
               {"initial", config::write(initial)}});
}
SymbolicTensor prod(const Symbols& x, const Axes& axis, bool keepdims) {
  return one("Prod", {x},
             O{{"axis", config::write(axis)}, {"keepdims", keepdims}, {"dtype", nullptr}});
}
SymbolicTensor argmax(const Symbols& x, std::optional<int64_t> axis, bool keepdims) {
  return reduced("Argmax", x, config::write(axis), keepdims);
}

SymbolicTensor argmin(const Symbols& x, std::optional<int64_t> axis, bool keepdims) {
  return reduced("Argmin", x, config::write(axis), keepdims);
}
SymbolicTensor count_nonzero(const Symbols& x, const Axes& axis) {
  return one("CountNonzero", {x}, O{{"axis", config::write(axis)}});
}
SymbolicTensor average(const Symbols& x, std::optional<int64_t> axis, const Symbols& weights) {
  Arguments<SymbolicTensor> arguments{{x}, {}};
  if (!weights.is_none()) arguments.named.emplace("weights", weights);
  return call_operation("Average", std::move(arguments), O{{"axis", config::write(axis)}});
}
SymbolicTensor norm(const Symbols& x, std::optional<int64_t> ord, const Axes& axis, bool keepdims) {
  return one("Norm", {x},
             O{{"ord", config::write(ord)}, {"axis", config::write(axis)}, {"keepdims", keepdims}});
}
SymbolicTensor normalize(const Symbols& x, const Axes& axis, int64_t order) {
  return one("Normalize", {x},
             O{{"axis", config::write(axis)}, {"order", order}, {"epsilon", nullptr}});
}
SymbolicTensor cumsum(const Symbols& x, std::optional<int64_t> axis) {
  return one("Cumsum", {x}, O{{"axis", config::write(axis)}, {"dtype", nullptr}});
}
SymbolicTensor cumprod(const Symbols& x, std::optional<int64_t> axis) {
  return one("Cumprod", {x}, O{{"axis", config::write(axis)}, {"dtype", nullptr}});
}
SymbolicTensor diff(const Symbols& x, int64_t n, int64_t axis) {
  return one("Diff", {x}, O{{"n", n}, {"axis", axis}});
}
SymbolicTensor sort(const Symbols& x, std::optional<int64_t> axis) {
  return one("Sort", {x}, O{{"axis", config::write(axis)}});
}
SymbolicTensor argsort(const Symbols& x, std::optional<int64_t> axis) {
  return one("Argsort", {x}, O{{"axis", config::write(axis)}});
}
Symbols top_k(const Symbols& x, int64_t k) {
  return call_operation("TopK", {{x}, {}}, O{{"k", k}, {"sorted", true}});
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
  return call_operation("Split", {{x}, {}},
                        O{{"indices_or_sections", indices_or_sections.to_json()}, {"axis", axis}});
}
Symbols unstack(const Symbols& x, std::optional<int64_t> num, int64_t axis) {
  return call_operation("Unstack", {{x}, {}}, O{{"num", config::write(num)}, {"axis", axis}});
}
Symbols meshgrid(const std::vector<SymbolicTensor>& xs, const char* indexing) {
  return call_operation("Meshgrid", {{xs.begin(), xs.end()}, {}}, O{{"indexing", indexing}});
}
SymbolicTensor broadcast_to(const Symbols& x, const Dims& shape) {
  return one("BroadcastTo", {x}, O{{"shape", config::write(shape)}});
}
SymbolicTensor swapaxes(const Symbols& x, int64_t axis1, int64_t axis2) {
  return one("Swapaxes", {x}, O{{"axis1", axis1}, {"axis2", axis2}});
}
SymbolicTensor moveaxis(const Symbols& x, const Sizes& source, const Sizes& destination) {
  return one("Moveaxis", {x},
             O{{"source", config::write(source.dims())},
               {"destination", config::write(destination.dims())}});
}
SymbolicTensor roll(const Symbols& x, const Sizes& shift, const Axes& axis) {
  return one("Roll", {x}, O{{"shift", shift.to_json()}, {"axis", config::write(axis)}});
}
SymbolicTensor pad(const Symbols& x, const std::vector<Dims>& pad_width, const char* mode) {
  return one("Pad", {x}, O{{"pad_width", config::write(pad_width)}, {"mode", mode}});
}
SymbolicTensor tril(const Symbols& x, int64_t k) { return one("Tril", {x}, O{{"k", k}}); }
SymbolicTensor triu(const Symbols& x, int64_t k) { return one("Triu", {x}, O{{"k", k}}); }
SymbolicTensor diagonal(const Symbols& x, int64_t offset, int64_t axis1, int64_t axis2) {
  return one("Diagonal", {x}, O{{"offset", offset}, {"axis1", axis1}, {"axis2", axis2}});
}
SymbolicTensor trace(const Symbols& x, int64_t offset, int64_t axis1, int64_t axis2) {
  return one("Trace", {x}, O{{"offset", offset}, {"axis1", axis1}, {"axis2", axis2}});
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
SymbolicTensor take_along_axis(const Symbols& x, const Symbols& indices, int64_t axis) {
  return one("TakeAlongAxis", {x, indices}, O{{"axis", axis}});
}
SymbolicTensor slice(const Symbols& x, const Symbols& start_indices, const Dims& shape) {
  return one("Slice", {x, start_indices}, O{{"shape", config::write(shape)}});
}
SymbolicTensor slice_update(const Symbols& x, const Symbols& start_indices,
                            const Symbols& updates) {
  return one("SliceUpdate", {x, start_indices, updates});
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
