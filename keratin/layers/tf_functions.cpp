#include "keratin/layers/tf_functions.h"

#include <algorithm>

namespace keratin {

using rules::C;

namespace {

Results squared_difference(const C& c) {
  const Values in = c.operands(0, 2);
  return ops::square(in[0] - in[1]);
}
// Zero where the second factor is zero, even if the first one is not finite.
Results multiply_no_nan(const C& c) {
  const Values in = c.operands(0, 2);
  const Value zero = ops::scalar_like(in[1], 0);
  return ops::where(ops::equal(in[1], zero), zero, in[0] * in[1]);
}
// Integers are divided as float64.
Results true_divide(const C& c) {
  const Values in = c.operands(0, 2);
  if (is_float(in[0].dtype())) return in[0] / in[1];
  return ops::cast(in[0], DType::f64) / ops::cast(in[1], DType::f64);
}
Results add_n(const C& c) {
  const Values in = c.list(0);
  Value sum = in[0];
  for (size_t i = 1; i < in.size(); ++i) sum = sum + in[i];
  return sum;
}
Results tf_matmul(const C& c) {
  const Values in = c.operands(0, 2);
  return ops::matmul(in[0], in[1],
                     {.transpose_a = c.flag("transpose_a"), .transpose_b = c.flag("transpose_b")});
}
template <Value (*f)(Value, int64_t, bool)>
Results tf_position(const C& c) {  // i64; the default axis is the first
  return f(c.tensor(0), c.integer("axis").value_or(0), /*keepdims=*/false);
}
Results euclidean_norm(const C& c) {
  const rules::Reduction r = rules::reduction(c, ops::square(c.tensor(0)));
  return ops::sqrt(ops::sum(r.x, r.axes, r.keepdims));
}
// A matrix whose elements more than num_lower diagonals below the main one, or more than num_upper
// above it, are zeros.
Results band_part(const C& c) {
  Value x = c.tensor(0);
  const Value zero = ops::scalar_like(x, 0);
  const Value row = ops::expand_dims(ops::positions(x, -2), 1), column = ops::positions(x, -1);
  const auto cut = [&](const char* key, Value distance) {
    const int64_t kept = c.option(key).as_int();
    if (kept >= 0) x = ops::where(distance > static_cast<double>(kept), zero, x);
  };
  cut("num_lower", row - column);
  cut("num_upper", column - row);
  return x;
}

using Names = std::array<std::array<std::string_view, 2>, 3>;
constexpr Names axis_only = {{{"axis", "axis"}}};
constexpr Names axis_and_keepdims = {{{"axis", "axis"}, {"keepdims", "keepdims"}}};

constexpr TfFunction functions[] = {
    {"__operators__.add", "Add", nullptr, {"y"}},
    {"__operators__.getitem", "GetItem", nullptr, {"slice_spec"}},
    {"argsort", "Argsort", nullptr, {}, axis_only, R"({"axis": -1})"},
    {"broadcast_to", "BroadcastTo", nullptr, {}, {{{"shape", "shape"}}}},
    {"cast", "Cast", nullptr, {}, {{{"dtype", "dtype"}}}},
    {"clip_by_value",
     "Clip",
     nullptr,
     {},
     {{{"clip_value_min", "x_min"}, {"clip_value_max", "x_max"}}}},
    {"concat", "Concatenate", nullptr, {}, axis_only},
    {"expand_dims", "ExpandDims", nullptr, {}, axis_only},
    {"floor_div", "FloorDivide", nullptr, {"y"}},
    {"gather", "Take", nullptr, {"indices"}, axis_only, R"({"axis": 0})"},
    {"identity", "Copy"},
    {"linalg.band_part",
     {},
     band_part,
     {},
     {{{"num_lower", "num_lower"}, {"num_upper", "num_upper"}}}},
    {"linalg.diag_part",
     "Diagonal",
     nullptr,
     {},
     {{{"k", "offset"}}},
     R"({"axis1": -2, "axis2": -1})"},
    {"linalg.matmul",
     {},
     tf_matmul,
     {"b"},
     {{{"transpose_a", "transpose_a"}, {"transpose_b", "transpose_b"}}}},
    {"linalg.trace", "Trace", nullptr, {}, {}, R"({"axis1": -2, "axis2": -1})"},
    {"math.abs", "Absolute"},
    {"math.acos", "Arccos"},
    {"math.acosh", "Arccosh"},
    {"math.add", "Add", nullptr, {"y"}},
    {"math.add_n", {}, add_n},
    {"math.argmax", {}, tf_position<ops::argmax>, {}, axis_only},
    {"math.argmin", {}, tf_position<ops::argmin>, {}, axis_only},
    {"math.asin", "Arcsin"},
    {"math.asinh", "Arcsinh"},
    {"math.atan", "Arctan"},
    {"math.atan2", "Arctan2", nullptr, {"x"}},
    {"math.atanh", "Arctanh"},
    {"math.ceil", "Ceil"},
    {"math.cos", "Cos"},
    {"math.cosh", "Cosh"},
    {"math.cumprod", "Cumprod", nullptr, {}, axis_only, R"({"axis": 0})"},
    {"math.cumsum", "Cumsum", nullptr, {}, axis_only, R"({"axis": 0})"},
    {"math.divide_no_nan", "DivideNoNan", nullptr, {"y"}},
    {"math.equal", "Equal", nullptr, {"y"}},
    {"math.erf", "Erf"},
    {"math.erfinv", "Erfinv"},
    {"math.exp", "Exp"},
    {"math.expm1", "Expm1"},
    {"math.floor", "Floor"},
    {"math.floormod", "Mod", nullptr, {"y"}},
    {"math.greater", "Greater", nullptr, {"y"}},
    {"math.greater_equal", "GreaterEqual", nullptr, {"y"}},
    {"math.is_finite", "Isfinite"},
    {"math.is_inf", "Isinf"},
    {"math.is_nan", "Isnan"},
    {"math.l2_normalize",
     "Normalize",
     nullptr,
     {},
     axis_only,
     R"({"axis": null, "epsilon": 1e-6})"},
    {"math.less", "Less", nullptr, {"y"}},
    {"math.less_equal", "LessEqual", nullptr, {"y"}},
    {"math.log", "Log"},
    {"math.log1p", "Log1p"},
    {"math.logical_and", "LogicalAnd", nullptr, {"y"}},
    {"math.logical_not", "LogicalNot"},
    {"math.logical_or", "LogicalOr", nullptr, {"y"}},
    {"math.maximum", "Maximum", nullptr, {"y"}},
    {"math.minimum", "Minimum", nullptr, {"y"}},
    {"math.multiply", "Multiply", nullptr, {"y"}},
    {"math.multiply_no_nan", {}, multiply_no_nan, {"y"}},
    {"math.negative", "Negative"},
    {"math.not_equal", "NotEqual", nullptr, {"y"}},
    {"math.pow", "Power", nullptr, {"y"}},
    {"math.reciprocal", "Reciprocal"},
    {"math.reduce_all", "All", nullptr, {}, axis_and_keepdims},
    {"math.reduce_any", "Any", nullptr, {}, axis_and_keepdims},
    {"math.reduce_euclidean_norm", {}, euclidean_norm, {}, axis_and_keepdims},
    {"math.reduce_logsumexp", "Logsumexp", nullptr, {}, axis_and_keepdims},
    {"math.reduce_max", "Max", nullptr, {}, axis_and_keepdims},
    {"math.reduce_mean", "Mean", nullptr, {}, axis_and_keepdims},
    {"math.reduce_min", "Min", nullptr, {}, axis_and_keepdims},
    {"math.reduce_prod", "Prod", nullptr, {}, axis_and_keepdims},
    {"math.reduce_std", "Std", nullptr, {}, axis_and_keepdims},
    {"math.reduce_sum", "Sum", nullptr, {}, axis_and_keepdims},
    {"math.reduce_variance", "Var", nullptr, {}, axis_and_keepdims},
    {"math.round", "Round"},
    {"math.rsqrt", "Rsqrt"},
    {"math.scalar_mul", "Multiply", nullptr, {"x"}},
    {"math.sigmoid", "Sigmoid"},
    {"math.sign", "Sign"},
    {"math.sin", "Sin"},
    {"math.sinh", "Sinh"},
    {"math.softplus", "Softplus"},
    {"math.sqrt", "Sqrt"},
    {"math.square", "Square"},
    {"math.squared_difference", {}, squared_difference, {"y"}},
    {"math.subtract", "Subtract", nullptr, {"y"}},
    {"math.tan", "Tan"},
    {"math.tanh", "Tanh"},
    {"math.top_k", "TopK", nullptr, {}, {{{"k", "k"}}}, R"({"k": 1, "sorted": true})"},
    {"math.truediv", {}, true_divide, {"y"}},
    {"nn.bias_add", "Add", nullptr, {"bias"}},
    {"nn.elu", "Elu"},
    {"nn.gelu",
     "Gelu",
     nullptr,
     {},
     {{{"approximate", "approximate"}}},
     R"({"approximate": false})"},
    {"nn.leaky_relu", "LeakyRelu", nullptr, {}, {{{"alpha", "negative_slope"}}}},
    {"nn.log_softmax", "LogSoftmax", nullptr, {}, axis_only, R"({"axis": -1})"},
    {"nn.relu", "Relu"},
    {"nn.relu6", "Relu6"},
    {"nn.selu", "Selu"},
    {"nn.silu", "Silu"},
    {"nn.softmax", "Softmax", nullptr, {}, axis_only, R"({"axis": -1})"},
    {"nn.softsign", "Softsign"},
    {"norm", "Norm", nullptr, {}, {{{"ord", "ord"}, {"axis", "axis"}, {"keepdims", "keepdims"}}}},
    {"one_hot",
     "OneHot",
     nullptr,
     {},
     {{{"depth", "num_classes"}, {"axis", "axis"}, {"dtype", "dtype"}}}},
    {"ones_like", "OnesLike", nullptr, {}, {{{"dtype", "dtype"}}}},
    {"pad",
     "Pad",
     nullptr,
     {},
     {{{"paddings", "pad_width"}, {"mode", "mode"}}},
     R"({"mode": "constant"})"},
    {"repeat", "Repeat", nullptr, {}, {{{"repeats", "repeats"}, {"axis", "axis"}}}},
    {"reshape", "Reshape", nullptr, {}, {{{"shape", "newshape"}}}},
    {"reverse", "Flip", nullptr, {}, axis_only},
    {"roll", "Roll", nullptr, {}, {{{"shift", "shift"}, {"axis", "axis"}}}},
    {"sort", "Sort", nullptr, {}, axis_only, R"({"axis": -1})"},
    {"split",
     "Split",
     nullptr,
     {},
     {{{"num_or_size_splits", "indices_or_sections"}, {"axis", "axis"}}}},
    {"squeeze", "Squeeze", nullptr, {}, axis_only},
    {"stack", "Stack", nullptr, {}, axis_only},
    {"stop_gradient", "StopGradient"},
    {"tensordot", "Tensordot", nullptr, {"b"}, {{{"axes", "axes"}}}},
    {"tile", "Tile", nullptr, {}, {{{"multiples", "repeats"}}}},
    {"transpose", "Transpose", nullptr, {}, {{{"perm", "axes"}}}},
    {"unstack", "Unstack", nullptr, {}, {{{"num", "num"}, {"axis", "axis"}}}},
    {"where", "Where", nullptr, {"x", "y"}},
    {"zeros_like", "ZerosLike", nullptr, {}, {{{"dtype", "dtype"}}}},
};

}  // namespace

const TfFunction* find_tf_function(std::string_view symbol) {
  constexpr std::string_view old = "compat.v1.";
  if (symbol.starts_with(old)) symbol.remove_prefix(old.size());
  const auto found = std::find_if(std::begin(functions), std::end(functions),
                                  [&](const TfFunction& f) { return f.symbol == symbol; });
  return found == std::end(functions) ? nullptr : found;
}

std::vector<std::string_view> tf_function_names() {
  std::vector<std::string_view> names;
  for (const TfFunction& function : functions) names.push_back(function.symbol);
  return names;
}

}  // namespace keratin
