#include "keratin/layers/tf_nodes.h"

#include <algorithm>
#include <charconv>

namespace keratin {
namespace {

using NodeInputs = std::array<std::string_view, 4>;
using NodeAttributes = std::array<TfNodeRule::Renamed, 2>;

constexpr NodeInputs node_y = {"", "y"}, node_axis = {"", "axis"}, node_b = {"", "b"};
constexpr NodeAttributes node_keepdims = {{{"keep_dims", "keepdims"}}};

constexpr TfNodeRule node_rules[] = {
    {"Abs", "math.abs"},
    {"Acos", "math.acos"},
    {"Acosh", "math.acosh"},
    {"Add", "math.add", node_y},
    {"AddN", "math.add_n", {"*"}},
    {"AddV2", "math.add", node_y},
    {"All", "math.reduce_all", node_axis, node_keepdims},
    {"Any", "math.reduce_any", node_axis, node_keepdims},
    {"ArgMax", "math.argmax", node_axis, {{{"output_type", "output_type"}}}},
    {"ArgMin", "math.argmin", node_axis, {{{"output_type", "output_type"}}}},
    {"Asin", "math.asin"},
    {"Asinh", "math.asinh"},
    {"Atan", "math.atan"},
    {"Atan2", "math.atan2", {"", "x"}},
    {"Atanh", "math.atanh"},
    {"BatchMatMul",
     "linalg.matmul",
     node_b,
     {{{"adj_x", "transpose_a"}, {"adj_y", "transpose_b"}}}},
    {"BatchMatMulV2",
     "linalg.matmul",
     node_b,
     {{{"adj_x", "transpose_a"}, {"adj_y", "transpose_b"}}}},
    {"BiasAdd", "nn.bias_add", {"", "bias"}, {{{"data_format", "data_format"}}}},
    {"BroadcastTo", "broadcast_to", {"", "shape"}},
    {"Cast", "cast", {}, {{{"DstT", "dtype"}}}},
    {"Ceil", "math.ceil"},
    {"ClipByValue", "clip_by_value", {"", "clip_value_min", "clip_value_max"}},
    {"ConcatV2", "concat", {"*", "axis"}},
    {"Cos", "math.cos"},
    {"Cosh", "math.cosh"},
    {"Cumprod", "math.cumprod", node_axis, {{{"exclusive", "exclusive"}, {"reverse", "reverse"}}}},
    {"Cumsum", "math.cumsum", node_axis, {{{"exclusive", "exclusive"}, {"reverse", "reverse"}}}},
    {"DivNoNan", "math.divide_no_nan", node_y},
    {"Elu", "nn.elu"},
    {"Equal", "math.equal", node_y},
    {"Erf", "math.erf"},
    {"EuclideanNorm", "math.reduce_euclidean_norm", node_axis, {{{"keep_dims", "keepdims"}}}},
    {"Exp", "math.exp"},
    {"ExpandDims", "expand_dims", node_axis},
    {"Expm1", "math.expm1"},
    {"Floor", "math.floor"},
    {"FloorDiv", "floor_div", node_y},
    {"FloorMod", "math.floormod", node_y},
    {"GatherV2", "gather", {"", "indices", "axis"}, {{{"batch_dims", "batch_dims"}}}},
    {"Greater", "math.greater", node_y},
    {"GreaterEqual", "math.greater_equal", node_y},
    {"Identity", "identity"},
    {"IsFinite", "math.is_finite"},
    {"IsInf", "math.is_inf"},
    {"IsNan", "math.is_nan"},
    {"LeakyRelu", "nn.leaky_relu", {}, {{{"alpha", "alpha"}}}},
    {"Less", "math.less", node_y},
    {"LessEqual", "math.less_equal", node_y},
    {"Log", "math.log"},
    {"Log1p", "math.log1p"},
    {"LogSoftmax", "nn.log_softmax"},
    {"LogicalAnd", "math.logical_and", node_y},
    {"LogicalNot", "math.logical_not"},
    {"LogicalOr", "math.logical_or", node_y},
    {"MatMul",
     "linalg.matmul",
     node_b,
     {{{"transpose_a", "transpose_a"}, {"transpose_b", "transpose_b"}}}},
    {"MatrixBandPart", "linalg.band_part", {"", "num_lower", "num_upper"}},
    {"Max", "math.reduce_max", node_axis, node_keepdims},
    {"Maximum", "math.maximum", node_y},
    {"Mean", "math.reduce_mean", node_axis, node_keepdims},
    {"Min", "math.reduce_min", node_axis, node_keepdims},
    {"Minimum", "math.minimum", node_y},
    {"MirrorPad", "pad", {"", "paddings"}, {{{"mode", "mode"}}}},
    {"Mul", "math.multiply", node_y},
    {"MulNoNan", "math.multiply_no_nan", node_y},
    {"Neg", "math.negative"},
    {"NotEqual", "math.not_equal", node_y},
    {"OnesLike", "ones_like"},
    {"Pack", "stack", {"*"}, {{{"axis", "axis"}}}},
    {"Pad", "pad", {"", "paddings"}},
    {"PadV2", "pad", {"", "paddings", "constant_values"}},
    {"Pow", "math.pow", node_y},
    {"Prod", "math.reduce_prod", node_axis, node_keepdims},
    {"RealDiv", "math.truediv", node_y},
    {"Reciprocal", "math.reciprocal"},
    {"Relu", "nn.relu"},
    {"Relu6", "nn.relu6"},
    {"Reshape", "reshape", {"", "shape"}},
    {"ReverseV2", "reverse", node_axis},
    {"Roll", "roll", {"", "shift", "axis"}},
    {"Round", "math.round"},
    {"Rsqrt", "math.rsqrt"},
    {"Select", "where", {"", "x", "y"}},
    {"SelectV2", "where", {"", "x", "y"}},
    {"Selu", "nn.selu"},
    {"Sigmoid", "math.sigmoid"},
    {"Sign", "math.sign"},
    {"Sin", "math.sin"},
    {"Sinh", "math.sinh"},
    {"Softmax", "nn.softmax"},
    {"Softplus", "math.softplus"},
    {"Softsign", "nn.softsign"},
    {"Split", "split", {"axis", ""}, {{{"num_split", "num_or_size_splits"}}}},
    {"SplitV", "split", {"", "num_or_size_splits", "axis"}},
    {"Sqrt", "math.sqrt"},
    {"Square", "math.square"},
    {"SquaredDifference", "math.squared_difference", node_y},
    {"Squeeze", "squeeze", {}, {{{"squeeze_dims", "axis"}}}},
    {"StopGradient", "stop_gradient"},
    {"StridedSlice", "__operators__.getitem"},  // see TfNode::slice
    {"Sub", "math.subtract", node_y},
    {"Sum", "math.reduce_sum", node_axis, node_keepdims},
    {"Tan", "math.tan"},
    {"Tanh", "math.tanh"},
    {"Tile", "tile", {"", "multiples"}},
    {"TopKV2", "math.top_k", {"", "k"}},
    {"Transpose", "transpose", {"", "perm"}},
    {"Unpack", "unstack", {}, {{{"num", "num"}, {"axis", "axis"}}}},
    {"ZerosLike", "zeros_like"},
};

constexpr std::string_view node_dtypes[][2] = {
    {"DT_FLOAT", "float32"},  {"DT_HALF", "float16"},  {"DT_BFLOAT16", "bfloat16"},
    {"DT_DOUBLE", "float64"}, {"DT_INT8", "int8"},     {"DT_INT16", "int16"},
    {"DT_INT32", "int32"},    {"DT_INT64", "int64"},   {"DT_UINT8", "uint8"},
    {"DT_UINT16", "uint16"},  {"DT_UINT32", "uint32"}, {"DT_UINT64", "uint64"},
    {"DT_BOOL", "bool"},
};
// Texts as NodeDefs have them, in base64. NHWC is the only layout there, and so no argument.
constexpr std::string_view node_texts[][2] = {{"TkhXQw==", ""},
                                              {"TkNIVw==", "NCHW"},
                                              {"UkVGTEVDVA==", "REFLECT"},
                                              {"U1lNTUVUUklD", "SYMMETRIC"}};

template <size_t n>
std::string_view node_word(const std::string_view (&table)[n][2], const std::string& word) {
  for (const auto& row : table)
    if (row[0] == word) return row[1];
  fail("'", word, "' is not supported");
}

// 2 or "2": JSON of protocol buffers has 64-bit integers in quotes.
int64_t whole_number(const Json& json) {
  if (!json.is_string()) return json.as_int();
  const std::string& digits = json.as_string();
  int64_t value = 0;
  const auto end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, value);
  require(read.ec == std::errc() && read.ptr == end, "expected an integer, got ", json);
  return value;
}

// An attribute as JSON: {"b": true}, {"i": "2"}, {"type": "DT_FLOAT"}, {"list": {"i": ["1"]}}, …
Json plain_attribute(const Json& attribute) {
  for (const auto& [kind, value] : attribute.as_object()) {
    if (kind == "b" || kind == "f") return value;
    if (kind == "i") return whole_number(value);
    if (kind == "type") return std::string(node_word(node_dtypes, value.as_string()));
    if (kind == "s") {
      const std::string_view text = node_word(node_texts, value.as_string());
      return text.empty() ? Json() : Json(std::string(text));
    }
    if (kind != "list") continue;
    const Json* items = value.find("i");
    if (items == nullptr) return {};
    Json out = Json::array();
    for (const Json& item : items->as_array()) out.push_back(whole_number(item));
    return out;
  }
  return {};
}

// The operation of a NodeDef; an error if Keratin does not have it.
const TfNodeRule* node_rule(const Json& node_def) {
  const std::string& op = node_def.at("op").as_string();
  const TfNodeRule* rule = find_tf_node(op);
  require(op != "Shape" && op != "Size" && op != "Rank", "the TensorFlow op ", op,
          " is not supported: what it gives depends on the shape that data has, which programs "
          "must know before they run");
  require(rule != nullptr, "the TensorFlow op ", op, " is not supported");
  return rule;
}

// TensorFlow writes an object; a text with this object is read, too.
Json node_object(const Json& node_def) {
  if (!node_def.is_string()) return node_def;
  require(node_def.as_string().starts_with("{"),
          "expected `node_def` as JSON, got a protocol buffer in binary");
  return Json::parse(node_def.as_string());
}

}  // namespace

const TfNodeRule* find_tf_node(std::string_view op) {
  const auto found = std::lower_bound(
      std::begin(node_rules), std::end(node_rules), op,
      [](const TfNodeRule& rule, std::string_view name) { return rule.op < name; });
  return found == std::end(node_rules) || found->op != op ? nullptr : found;
}

std::vector<std::string_view> tf_node_names() {
  std::vector<std::string_view> names;
  for (const TfNodeRule& rule : node_rules) names.push_back(rule.op);
  return names;
}

TfNode::TfNode(Json node_def, Json constants)
    : node_def_(node_object(node_def)),
      written_(std::move(constants)),
      rule_(node_rule(node_def_)) {
  if (written_.is_null()) written_ = Json::object();
  for (const auto& [key, value] : written_.as_object()) {
    const int64_t index = whole_number(Json(key));
    require(index >= 0, "expected the index of an input, got ", index);
    constants_.emplace_back(index, constant(static_cast<size_t>(index), value));
  }
  std::sort(constants_.begin(), constants_.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
}

// Arrays that are operands get the dtype of the operation.
Json TfNode::constant(size_t index, const Json& value) const {
  if (!value.is_array() || index >= rule_->inputs.size()) return value;
  const std::string_view name = rule_->inputs[index];
  if (rule_->op == "StridedSlice" || (!name.empty() && name != "x" && name != "y" && name != "b"))
    return value;
  const Json dtype = attribute("T");
  if (dtype.is_null()) return value;
  return Json::Object{{"class_name", "__numpy__"},
                      {"config", Json::Object{{"value", value}, {"dtype", dtype}}}};
}

Json TfNode::attribute(std::string_view name) const {
  const Json* all = node_def_.find("attr");
  const Json* found = all == nullptr ? nullptr : all->find(name);
  if (found == nullptr) return {};
  try {
    Json value = plain_attribute(*found);
    // The default, which is the only one.
    return name == "output_type" && value == Json("int64") ? Json() : value;
  } catch (const UserError& error) {
    fail(rule_->op, ": attribute '", name, "': ", error.what());
  }
}

size_t TfNode::check_count(size_t inputs) const {
  size_t named = 0;
  bool list = false;
  for (const std::string_view name : rule_->inputs) {
    if (name == "*") list = true;
    if (!name.empty() && name != "*") ++named;
  }
  require(list ? inputs > named : inputs == named + 1, rule_->op, ": expected ", named + 1,
          list ? " inputs or more, got " : " inputs, got ", inputs);
  return list ? inputs - named : 0;
}

Json TfNode::slice_spec(const Json& begin, const Json& end, const Json& strides) const {
  const auto bit = [&](const char* mask, size_t i) {
    const Json bits = attribute(mask);
    return !bits.is_null() && ((bits.as_int() >> i) & 1) != 0;
  };
  const size_t count = begin.size();
  require(count <= 32 && end.size() == count && strides.size() == count,
          "StridedSlice: expected begin, end and strides of one length, got ", count, ", ",
          end.size(), " and ", strides.size());
  Json spec = Json::array();
  for (size_t i = 0; i < count; ++i) {
    if (bit("ellipsis_mask", i)) {
      spec.push_back(Json::Object{{"class_name", "__ellipsis__"}, {"config", Json::object()}});
    } else if (bit("new_axis_mask", i)) {
      spec.push_back({});
    } else if (bit("shrink_axis_mask", i)) {
      spec.push_back(begin[i]);
    } else {
      spec.push_back(Json::Object{{"start", bit("begin_mask", i) ? Json() : begin[i]},
                                  {"stop", bit("end_mask", i) ? Json() : end[i]},
                                  {"step", strides[i]}});
    }
  }
  return spec;
}

}  // namespace keratin
