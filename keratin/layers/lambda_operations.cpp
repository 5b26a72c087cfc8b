#include "keratin/layers/lambda_operations.h"

#include <algorithm>
#include <sstream>

#include "keratin/base/text.h"
#include "keratin/graph/tracer.h"
#include "keratin/ir/node.h"
#include "keratin/layers/exporter.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/records.h"

namespace keratin {
namespace {

// A call of the layer as a program.
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

// For each node by position: true if the results depend on it.
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
    if (&node->op() == &ops::transfer_op) {  // files have no devices
      exporter.bind(node->out(), exporter.tensor(node->in()));
      continue;
    }
    const ExportRule& rule = export_rule_of(*node);
    require(std::any_of(node->inputs().begin(), node->inputs().end(),
                        [&](Value in) { return !exporter.is_constant(in); }),
            "it computes '", node->name(), "' of constants alone");
    const auto results = rule.write(exporter, *node, rule.keras).flat();
    require(results.size() == node->output_count(), "'", node->name(), "' has other outputs there");
    for (size_t i = 0; i < results.size(); ++i) {
      const Type &ours = node->type(i), &theirs = results[i].type();
      require(ours.dtype == theirs.dtype && ours.shape == theirs.shape, "'", node->name(),
              "' gives ", ours, " here, and ", theirs, " as Keras's ", rule.keras);
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

// The inputs of both calls: sizes that differ are unknown.
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
  const Symbols outputs =
      detail::rebuild(*first, inputs, [](const LayerPtr& same) { return same; });
  return FunctionalLayer::make(inputs, outputs, {layer.name()});
}

}  // namespace keratin
