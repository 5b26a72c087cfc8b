#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/graph/config.h"
#include "keratin/layers/exporter.h"
#include "keratin/ops/cumulative.h"
#include "keratin/ops/einsum.h"
#include "keratin/ops/fill.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/records.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/slicing.h"
#include "keratin/ops/sort.h"

namespace keratin {
namespace {

using E = Exporter;
using O = Json::Object;

Json one_or_several(const Dims& dims) {
  return dims.size() == 1 ? Json(dims[0]) : config::write(dims);
}

Symbols pointwise(E& e, const Node& n, std::string_view keras) {
  std::vector<Symbols> arguments;
  for (const Value in : n.inputs()) arguments.push_back(e.operand(in));
  return e.call(keras, std::move(arguments));
}
Symbols of_floats(E& e, const Node& n, std::string_view keras) {
  require(is_float(n.in().dtype()), "it divides integers, which Keras does in floats");
  return pointwise(e, n, keras);
}
Symbols bits(E& e, const Node& n, std::string_view keras) {
  return pointwise(e, n, text(n.in().dtype() == DType::boolean ? "Logical" : "Bitwise", keras));
}
Symbols select(E& e, const Node& n, std::string_view keras) {
  const bool constants = e.is_constant(n.in(1)) && e.is_constant(n.in(2));
  const auto choice = [&](size_t i) { return constants ? e.tensor(n.in(i)) : e.operand(n.in(i)); };
  return e.call(keras, {e.tensor(n.in(0)), choice(1), choice(2)});
}
Symbols cast(E& e, const Node& n, std::string_view keras) {
  return e.call(keras, {e.tensor(n.in())}, O{{"dtype", keras_name(n.type().dtype)}});
}
Symbols round(E& e, const Node& n, std::string_view keras) {
  return e.call(keras, {e.tensor(n.in())}, O{{"decimals", 0}});
}

Symbols reduce(E& e, const Node& n, std::string_view keras) {
  const auto& attrs = n.attr<ops::ReduceAttrs>();
  Json options = O{{"axis", attrs.axes.empty() ? Json() : one_or_several(attrs.axes)},
                   {"keepdims", attrs.keepdims}};
  if (keras == "Max" || keras == "Min") options["initial"] = nullptr;
  if (keras == "Prod") options["dtype"] = nullptr;
  return e.call(keras, {e.tensor(n.in())}, std::move(options));
}
// Keras counts in int32.
Symbols position(E& e, const Node& n, std::string_view keras) {
  const auto& attrs = n.attr<ops::ArgAttrs>();
  const Symbols found =
      e.call(keras, {e.tensor(n.in())}, O{{"axis", attrs.axis}, {"keepdims", attrs.keepdims}});
  return e.call("Cast", {found}, O{{"dtype", keras_name(n.type().dtype)}});
}

Symbols reshape(E& e, const Node& n, std::string_view keras) {
  Dims shape = n.type().shape.dims();
  require(std::count(shape.begin(), shape.end(), unknown) <= 1,
          "it reshapes to a shape with several unknown sizes");
  return e.call(keras, {e.tensor(n.in())}, O{{"newshape", config::write(shape)}});
}
Symbols transpose(E& e, const Node& n, std::string_view keras) {
  return e.call(keras, {e.tensor(n.in())},
                O{{"axes", config::write(n.attr<ops::TransposeAttrs>().permutation)}});
}
Symbols broadcast_to(E& e, const Node& n, std::string_view keras) {
  require(n.type().shape.known(), "it broadcasts to a shape with an unknown size");
  return e.call(keras, {e.tensor(n.in())}, O{{"shape", config::write(n.type().shape.dims())}});
}
Symbols one_axis(E& e, const Node& n, std::string_view keras) {
  std::vector<Symbols> arguments;
  for (const Value in : n.inputs()) arguments.push_back(e.tensor(in));
  return e.call(keras, std::move(arguments), O{{"axis", n.attr<ops::AxisAttrs>().axis}});
}
Symbols concat(E& e, const Node& n, std::string_view keras) {
  Symbols::List all;
  for (const Value in : n.inputs()) all.push_back(e.tensor(in));
  return e.call(keras, {Symbols(all)}, O{{"axis", n.attr<ops::AxisAttrs>().axis}});
}

Symbols slice(E& e, const Node& n, std::string_view keras) {
  const auto& attrs = n.attr<ops::SliceAttrs>();
  Symbols::List index;
  for (size_t i = 0; i < attrs.start.size(); ++i) {
    const int64_t step = i < attrs.step.size() ? attrs.step[i] : 1;
    index.emplace_back(
        Json(O{{"class_name", "__slice__"},
               {"config", O{{"start", attrs.start[i]},
                            {"stop", attrs.limit[i] == ops::to_end ? Json() : Json(attrs.limit[i])},
                            {"step", step}}}}));
  }
  return e.call(keras, {e.tensor(n.in()), Symbols(index)});
}
Symbols reverse(E& e, const Node& n, std::string_view keras) {
  Symbols out = e.tensor(n.in());
  for (const int64_t axis : n.attr<ops::ReverseAttrs>().axes)
    out = e.call(keras, {out}, O{{"axis", axis}});
  return out;
}

Symbols pad_with(E& e, const Node& n, const Dims& lo, const Dims& hi, const char* mode,
                 double value) {
  Json widths = Json::array();
  for (size_t i = 0; i < lo.size(); ++i) widths.push_back(Json::Array{lo[i], hi[i]});
  Arguments<SymbolicTensor> arguments{{e.tensor(n.in())}, {}};
  if (value != 0) arguments.named.emplace("constant_values", value);
  return e.call("Pad", std::move(arguments), O{{"pad_width", widths}, {"mode", mode}});
}
Symbols pad(E& e, const Node& n, std::string_view) {
  const auto& attrs = n.attr<ops::PadAttrs>();
  const auto none = [](int64_t size) { return size == 0; };
  require(std::all_of(attrs.interior.begin(), attrs.interior.end(), none),
          "it pads between elements, for which Keras has no operation");
  return pad_with(e, n, attrs.lo, attrs.hi, "constant", attrs.value);
}
Symbols reflect_pad(E& e, const Node& n, std::string_view) {
  const auto& attrs = n.attr<ops::ReflectPadAttrs>();
  return pad_with(e, n, attrs.lo, attrs.hi, attrs.symmetric ? "symmetric" : "reflect", 0);
}
Symbols roll(E& e, const Node& n, std::string_view keras) {
  const auto& attrs = n.attr<ops::RollAttrs>();
  return e.call(keras, {e.tensor(n.in())}, O{{"shift", attrs.shift}, {"axis", attrs.axis}});
}
Symbols tile(E& e, const Node& n, std::string_view keras) {
  return e.call(keras, {e.tensor(n.in())},
                O{{"repeats", config::write(n.attr<ops::TileAttrs>().repeats)}});
}
Symbols repeat(E& e, const Node& n, std::string_view keras) {
  const auto& attrs = n.attr<ops::RepeatAttrs>();
  return e.call(keras, {e.tensor(n.in())}, O{{"repeats", attrs.count}, {"axis", attrs.axis}});
}

Symbols matmul(E& e, const Node& n, std::string_view keras) {
  const auto& attrs = n.attr<ops::MatmulAttrs>();
  const auto turned = [&](Value x, bool turn) {
    const Symbols in = e.tensor(x);
    return turn ? e.call("Swapaxes", {in}, O{{"axis1", -2}, {"axis2", -1}}) : in;
  };
  return e.call(keras, {turned(n.in(0), attrs.transpose_a), turned(n.in(1), attrs.transpose_b)});
}
Symbols einsum(E& e, const Node& n, std::string_view keras) {
  std::vector<Symbols> operands;
  for (const Value in : n.inputs()) operands.push_back(e.tensor(in));
  return e.call(keras, std::move(operands), O{{"subscripts", n.attr<ops::EinsumAttrs>().equation}});
}
Symbols cumulate(E& e, const Node& n, std::string_view keras) {
  const auto& attrs = n.attr<ops::CumulativeAttrs>();
  require(!attrs.exclusive && !attrs.reverse,
          "it accumulates exclusively or in reverse, for which Keras has no operation");
  return e.call(keras, {e.tensor(n.in())}, O{{"axis", attrs.axis}, {"dtype", nullptr}});
}
Symbols sort(E& e, const Node& n, std::string_view keras) {
  const auto& attrs = n.attr<ops::SortAttrs>();
  require(!attrs.descending, "it sorts in descending order, for which Keras has no operation");
  const Symbols sorted = e.call(keras, {e.tensor(n.in())}, O{{"axis", attrs.axis}});
  return keras == "Sort" ? sorted
                         : e.call("Cast", {sorted}, O{{"dtype", keras_name(n.type().dtype)}});
}
Symbols top_k(E& e, const Node& n, std::string_view keras) {
  return e.call(keras, {e.tensor(n.in())}, O{{"k", n.attr<ops::TopKAttrs>().k}, {"sorted", true}});
}
Symbols fill_like(E& e, const Node& n, std::string_view keras) {
  const auto& attrs = n.attr<ops::FillAttrs>();
  return e.call(keras, {e.tensor(n.in()), attrs.value}, O{{"dtype", keras_name(attrs.dtype)}});
}

constexpr ExportRule rules_by_op[] = {
    {"add", "Add", pointwise},
    {"sub", "Subtract", pointwise},
    {"mul", "Multiply", pointwise},
    {"div", "Divide", of_floats},
    {"mod", "Mod", pointwise},
    {"floor_div", "FloorDivide", pointwise},
    {"maximum", "Maximum", pointwise},
    {"minimum", "Minimum", pointwise},
    {"pow", "Power", pointwise},
    {"atan2", "Arctan2", pointwise},
    {"equal", "Equal", pointwise},
    {"not_equal", "NotEqual", pointwise},
    {"less", "Less", pointwise},
    {"less_equal", "LessEqual", pointwise},
    {"greater", "Greater", pointwise},
    {"greater_equal", "GreaterEqual", pointwise},
    {"bit_and", "And", bits},
    {"bit_or", "Or", bits},
    {"bit_xor", "Xor", bits},
    {"bit_not", "Not", bits},
    {"shift_left", "BitwiseLeftShift", pointwise},
    {"shift_right", "BitwiseRightShift", pointwise},
    {"select", "Where", select},
    {"cast", "Cast", cast},
    {"neg", "Negative", pointwise},
    {"abs", "Absolute", pointwise},
    {"sign", "Sign", pointwise},
    {"relu", "Relu", pointwise},
    {"stop_gradient", "StopGradient", pointwise},
    {"floor", "Floor", pointwise},
    {"ceil", "Ceil", pointwise},
    {"round", "Round", round},
    {"trunc", "Trunc", pointwise},
    {"sqrt", "Sqrt", pointwise},
    {"rsqrt", "Rsqrt", pointwise},
    {"exp", "Exp", pointwise},
    {"expm1", "Expm1", pointwise},
    {"log", "Log", pointwise},
    {"log1p", "Log1p", pointwise},
    {"sin", "Sin", pointwise},
    {"cos", "Cos", pointwise},
    {"tan", "Tan", pointwise},
    {"asin", "Arcsin", pointwise},
    {"acos", "Arccos", pointwise},
    {"atan", "Arctan", pointwise},
    {"sinh", "Sinh", pointwise},
    {"cosh", "Cosh", pointwise},
    {"tanh", "Tanh", pointwise},
    {"asinh", "Arcsinh", pointwise},
    {"acosh", "Arccosh", pointwise},
    {"atanh", "Arctanh", pointwise},
    {"erf", "Erf", pointwise},
    {"erfinv", "Erfinv", pointwise},
    {"sigmoid", "Sigmoid", pointwise},
    {"is_nan", "Isnan", pointwise},
    {"is_inf", "Isinf", pointwise},
    {"is_finite", "Isfinite", pointwise},
    {"sum", "Sum", reduce},
    {"max", "Max", reduce},
    {"min", "Min", reduce},
    {"prod", "Prod", reduce},
    {"any", "Any", reduce},
    {"all", "All", reduce},
    {"mean", "Mean", reduce},
    {"variance", "Var", reduce},
    {"logsumexp", "Logsumexp", reduce},
    {"argmax", "Argmax", position},
    {"argmin", "Argmin", position},
    {"reshape", "Reshape", reshape},
    {"transpose", "Transpose", transpose},
    {"broadcast_to", "BroadcastTo", broadcast_to},
    {"expand_dims", "ExpandDims", one_axis},
    {"squeeze", "Squeeze", one_axis},
    {"slice", "GetItem", slice},
    {"reverse", "Flip", reverse},
    {"cumsum", "Cumsum", cumulate},
    {"cumprod", "Cumprod", cumulate},
    {"sort", "Sort", sort},
    {"argsort", "Argsort", sort},
    {"top_k", "TopK", top_k},
    {"einsum", "Einsum", einsum},
    {"gather", "Take", one_axis},
    {"take_along_axis", "TakeAlongAxis", one_axis},
    {"pad", "Pad", pad},
    {"reflect_pad", "Pad", reflect_pad},
    {"concat", "Concatenate", concat},
    {"roll", "Roll", roll},
    {"tile", "Tile", tile},
    {"repeat", "Repeat", repeat},
    {"matmul", "Matmul", matmul},
    {"softmax", "Softmax", one_axis},
    {"log_softmax", "LogSoftmax", one_axis},
    {"fill_like", "FullLike", fill_like},
};

}  // namespace

const ExportRule& export_rule_of(const Node& node) {
  const auto found = std::find_if(std::begin(rules_by_op), std::end(rules_by_op),
                                  [&](const ExportRule& rule) { return rule.op == node.name(); });
  require(found != std::end(rules_by_op), "it uses '", node.name(),
          "', for which Keratin knows no operation of Keras");
  return *found;
}

}  // namespace keratin
