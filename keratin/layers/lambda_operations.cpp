#include "keratin/layers/lambda_operations.h"

#include <algorithm>
#include <sstream>

#include "keratin/base/text.h"
#include "keratin/graph/named.h"
#include "keratin/graph/operation.h"
#include "keratin/graph/tracer.h"
#include "keratin/ops/constant.h"
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

using O = Json::Object;
constexpr int64_t max_constant = 1 << 20;  // elements of an array in a config

Json element(const Tensor& tensor, int64_t i) {
  const double value = tensor.at(i);
  if (tensor.dtype() == DType::boolean) return value != 0;
  if (is_float(tensor.dtype())) return value;
  return tensor.dtype() == DType::i64 ? tensor.data<int64_t>()[static_cast<size_t>(i)]
                                      : static_cast<int64_t>(value);
}

Json elements(const Tensor& tensor, int64_t axis, int64_t& next) {
  if (axis == tensor.shape().rank()) return element(tensor, next++);
  Json items = Json::array();
  for (int64_t i = 0; i < tensor.shape()[axis]; ++i)
    items.push_back(elements(tensor, axis + 1, next));
  return items;
}

// An array of NumPy, as Keras writes it.
Json array_json(const Tensor& tensor) {
  require(tensor.count() <= max_constant, "it has a constant of ", tensor.count(),
          " elements, more than the ", max_constant, " that a config may hold");
  int64_t next = 0;
  return O{
      {"class_name", "__numpy__"},
      {"config", O{{"value", elements(tensor, 0, next)}, {"dtype", keras_name(tensor.dtype())}}}};
}

Json one_or_several(const Dims& dims) {
  return dims.size() == 1 ? Json(dims[0]) : config::write(dims);
}

// Writes a traced program again as calls of operations on symbolic tensors.
class Exporter {
 public:
  // A name for each operation that is the same in every save.
  Symbols call(std::string_view class_name, Arguments<SymbolicTensor> arguments,
               Json options = Json::object()) {
    std::string name = snake_case(class_name);
    if (const size_t before = used_[name]++; before > 0) name = text(name, '_', before);
    const auto layer = std::make_shared<OperationLayer>(operation_named(class_name),
                                                        std::move(options), LayerOptions{name});
    return layer->call_symbolic(std::move(arguments));
  }
  Symbols call(std::string_view class_name, std::vector<Symbols> arguments,
               Json options = Json::object()) {
    return call(class_name, Arguments<SymbolicTensor>{std::move(arguments), {}},
                std::move(options));
  }

  void bind(Value value, const Symbols& tensor) {
    values_[{&value.node(), value.index()}] = tensor;
  }
  bool is_constant(Value value) const { return ops::constant_value(value) != nullptr; }

  // The tensor, or the array that a constant is.
  Symbols tensor(Value value) {
    if (const Tensor* constant = ops::constant_value(value)) return array_json(*constant);
    return values_.at({&value.node(), value.index()});
  }
  // Beside another tensor a number will do, which takes on the dtype of that.
  Symbols operand(Value value) {
    const Tensor* constant = ops::constant_value(value);
    return constant != nullptr && constant->shape().rank() == 0 ? Symbols(element(*constant, 0))
                                                                : tensor(value);
  }

 private:
  std::map<std::string, size_t> used_;
  std::map<std::pair<const Node*, size_t>, Symbols> values_;
};

using E = Exporter;
using Rule = Symbols (*)(E&, const Node&, std::string_view keras);

Symbols pointwise(E& e, const Node& n, std::string_view keras) {
  std::vector<Symbols> arguments;
  for (const Value in : n.inputs()) arguments.push_back(e.operand(in));
  return e.call(keras, std::move(arguments));
}
Symbols of_floats(E& e, const Node& n, std::string_view keras) {
  require(is_float(n.in().dtype()), "it divides integers, which Keras does otherwise");
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

struct Row {
  std::string_view op;
  std::string_view keras;
  Rule rule = pointwise;
};

// Every op that one of Keras's operations does, or a few of them.
constexpr Row rows[] = {
    {"add", "Add"},
    {"sub", "Subtract"},
    {"mul", "Multiply"},
    {"div", "Divide", of_floats},
    {"mod", "Mod"},
    {"floor_div", "FloorDivide"},
    {"maximum", "Maximum"},
    {"minimum", "Minimum"},
    {"pow", "Power"},
    {"atan2", "Arctan2"},
    {"equal", "Equal"},
    {"not_equal", "NotEqual"},
    {"less", "Less"},
    {"less_equal", "LessEqual"},
    {"greater", "Greater"},
    {"greater_equal", "GreaterEqual"},
    {"bit_and", "And", bits},
    {"bit_or", "Or", bits},
    {"bit_xor", "Xor", bits},
    {"bit_not", "Not", bits},
    {"shift_left", "BitwiseLeftShift"},
    {"shift_right", "BitwiseRightShift"},
    {"select", "Where", select},
    {"cast", "Cast", cast},
    {"neg", "Negative"},
    {"abs", "Absolute"},
    {"sign", "Sign"},
    {"relu", "Relu"},
    {"stop_gradient", "StopGradient"},
    {"floor", "Floor"},
    {"ceil", "Ceil"},
    {"round", "Round", round},
    {"trunc", "Trunc"},
    {"sqrt", "Sqrt"},
    {"rsqrt", "Rsqrt"},
    {"exp", "Exp"},
    {"expm1", "Expm1"},
    {"log", "Log"},
    {"log1p", "Log1p"},
    {"sin", "Sin"},
    {"cos", "Cos"},
    {"tan", "Tan"},
    {"asin", "Arcsin"},
    {"acos", "Arccos"},
    {"atan", "Arctan"},
    {"sinh", "Sinh"},
    {"cosh", "Cosh"},
    {"tanh", "Tanh"},
    {"asinh", "Arcsinh"},
    {"acosh", "Arccosh"},
    {"atanh", "Arctanh"},
    {"erf", "Erf"},
    {"erfinv", "Erfinv"},
    {"sigmoid", "Sigmoid"},
    {"is_nan", "Isnan"},
    {"is_inf", "Isinf"},
    {"is_finite", "Isfinite"},
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

const Row& row_of(const Node& node) {
  const auto found = std::find_if(std::begin(rows), std::end(rows),
                                  [&](const Row& row) { return row.op == node.name(); });
  require(found != std::end(rows), "it uses '", node.name(),
          "', for which Keratin knows no operation of Keras");
  return *found;
}

// A call of the layer, traced into a program.
struct Program {
  Program(const Layer& layer, const TracedInputs& inputs, bool training) {
    Tracer tracer(module, training);
    const Tree<Traced> arguments = inputs.map<Traced>([&](const TracedInput& input) {
      Traced traced{module.input(input.type)};
      parameters.push_back(traced.value);
      if (input.mask) traced.mask = module.input(*input.mask);
      return traced;
    });
    results = tracer.invoke(layer, {{arguments}, {}});
    results.each([&](const Traced& t) { module.output(t.value); });
    require(tracer.variables().empty(), "it reads variables");
    require(tracer.losses().empty(), "it adds losses");
  }
  std::string printed() const {
    std::ostringstream out;
    out << module;
    return out.str();
  }

  Module module;
  Values parameters;
  Tree<Traced> results;
};

// The nodes that results depend on, by their positions.
std::vector<bool> needed(const Program& program) {
  const auto& nodes = program.module.block().nodes();
  std::vector<bool> used(nodes.size());
  const auto use = [&](Value v) {
    if (!is_parameter(v.node()))
      used[v.node().position()] = true;
    else
      require(std::find(program.parameters.begin(), program.parameters.end(), v) !=
                  program.parameters.end(),
              "it looks at the mask of its input");
  };
  program.results.each([&](const Traced& t) { use(t.value); });
  for (size_t i = nodes.size(); i-- > 0;)
    if (used[i])
      for (const Value in : nodes[i]->inputs()) use(in);
  return used;
}

Symbols inputs_for(const TracedInputs& inputs, const std::string& name) {
  size_t count = inputs.leaf_count(), next = 0;
  return inputs.map<SymbolicTensor>([&](const TracedInput& input) {
    const std::string own = count == 1 ? name + "_input" : text(name, "_input_", next++);
    return InputLayer::make(input.type.shape, input.type.dtype, own)->output();
  });
}

std::shared_ptr<FunctionalLayer> exported(const Layer& layer, const TracedInputs& inputs) {
  const Program program(layer, inputs, /*training=*/false);
  require(program.printed() == Program(layer, inputs, /*training=*/true).printed(),
          "it does something else in training");
  const std::vector<bool> used = needed(program);
  const Symbols symbols = inputs_for(inputs, layer.name());
  Exporter exporter;
  const auto flat = symbols.flat();
  for (size_t i = 0; i < flat.size(); ++i) exporter.bind(program.parameters[i], flat[i]);
  for (const auto& node : program.module.block().nodes()) {
    if (!used[node->position()] || ops::constant_value(node->out()) != nullptr) continue;
    if (&node->op() == &ops::transfer_op) {  // devices are no part of a file
      exporter.bind(node->out(), exporter.tensor(node->in()));
      continue;
    }
    const Row& row = row_of(*node);
    require(std::any_of(node->inputs().begin(), node->inputs().end(),
                        [&](Value in) { return !exporter.is_constant(in); }),
            "it computes '", node->name(), "' of constants alone");
    const auto results = row.rule(exporter, *node, row.keras).flat();
    require(results.size() == node->output_count(), "'", node->name(), "' has other outputs there");
    for (size_t i = 0; i < results.size(); ++i) {
      const Type &ours = node->type(i), &theirs = results[i].type();
      require(ours.dtype == theirs.dtype && ours.shape == theirs.shape, "'", node->name(),
              "' gives ", ours, " here, and ", theirs, " as Keras's ", row.keras);
      exporter.bind(node->out(i), results[i]);
    }
  }
  const Symbols outputs = program.results.map<SymbolicTensor>([&](const Traced& t) {
    require(!exporter.is_constant(t.value), "it gives a constant");
    return exporter.tensor(t.value).leaf();
  });
  auto model = FunctionalLayer::make(symbols, outputs, {layer.name()});
  const auto ours = program.results.flat(), theirs = Program(*model, inputs, false).results.flat();
  for (size_t i = 0; i < ours.size(); ++i)
    require(ours[i].mask.has_value() == theirs[i].mask.has_value(),
            "it gives a mask, which operations cannot");
  return model;
}

// Sizes that are not the same in both are unknown.
TracedInputs merged(const TracedInputs& a, const TracedInputs& b) {
  const auto others = b.flat();
  size_t next = 0;
  return a.map<TracedInput>([&](TracedInput one) {
    const TracedInput& other = others[next++];
    Dims dims = one.type.shape.dims();
    for (size_t i = 0; i < dims.size(); ++i)
      if (dims[i] != other.type.shape[static_cast<int64_t>(i)]) dims[i] = unknown;
    one.type.shape = Shape(dims);
    return one;
  });
}

bool alike(const TracedInputs& a, const TracedInputs& b) {
  const auto x = a.flat(), y = b.flat();
  return a.outline() == b.outline() &&
         std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const auto& one, const auto& other) {
           return one.type.dtype == other.type.dtype &&
                  one.mask.has_value() == other.mask.has_value() &&
                  one.type.shape.rank() == other.type.shape.rank();
         });
}

}  // namespace

Json without_shapes(const Json& json) {
  if (json.is_array()) {
    Json out = Json::array();
    for (const Json& item : json.as_array()) out.push_back(without_shapes(item));
    return out;
  }
  if (!json.is_object()) return json;
  Json out = Json::object();
  const bool of_tensor = json.contains("keras_history");
  for (const auto& [key, value] : json.as_object())
    if (key != "batch_shape" && !(of_tensor && key == "shape")) out[key] = without_shapes(value);
  return out;
}

std::shared_ptr<FunctionalLayer> as_operations(const Layer& layer,
                                               const std::vector<TracedInputs>& calls) {
  require(!calls.empty(), "it was never called");
  const std::shared_ptr<FunctionalLayer> first = exported(layer, calls[0]);
  if (calls.size() == 1) return first;
  const Json config = without_shapes(first->get_config());
  TracedInputs all = calls[0];
  for (size_t i = 1; i < calls.size(); ++i) {
    require(alike(calls[0], calls[i]) &&
                without_shapes(exported(layer, calls[i])->get_config()) == config,
            "it does different things in its calls");
    all = merged(all, calls[i]);
  }
  const Symbols inputs = inputs_for(all, layer.name());
  const Symbols outputs = rebuild(*first, inputs, [](const LayerPtr& same) { return same; });
  return FunctionalLayer::make(inputs, outputs, {layer.name()});
}

}  // namespace keratin
