#include "keratin/passes/specialize.h"
#include "keratin/base/text.h"
#include "keratin/ir/node.h"

namespace keratin {

namespace {

Type fitted(const Node& parameter, size_t index, const Type& given) {
  const Type& declared = parameter.type();
  const std::string& name = parameter.attr<ParameterAttrs>().name;
  require(given.dtype == declared.dtype && compatible(given.shape, declared.shape),
          "specialize: input ", index, name.empty() ? "" : text(" '", name, "'"), " must be ",
          declared, ", got ", given);
  Dims dims = declared.shape.dims();
  for (size_t axis = 0; axis < dims.size(); ++axis)
    if (dims[axis] == unknown) dims[axis] = given.shape[static_cast<int64_t>(axis)];
  return {declared.dtype, Shape(dims), declared.device};
}

// Appends the nodes of a block to another, with types inferred again, and returns the new values
// for the wanted ones. Recurses into regions only.
Values rebuild(const Block& from, const Values& wanted, Block& to, const Values& arguments);

std::vector<std::unique_ptr<Block>> rebuild_regions(const Node& node, const Values& inputs,
                                                    size_t depth) {
  std::vector<std::unique_ptr<Block>> regions;
  if (node.regions().empty()) return regions;
  Types types;
  for (const Value& input : inputs) types.push_back(input.type());
  ensure(node.op().region_parameters != nullptr, "specialize: '", node.name(),
         "' does not say what its regions take");
  const std::vector<Types> parameters = node.op().region_parameters(node, types);
  for (size_t i = 0; i < node.regions().size(); ++i) {
    const Block& old = node.region(i);
    auto region = std::make_unique<Block>(depth);
    ensure(parameters[i].size() == old.parameters().size(), "specialize: '", node.name(),
           "' has a region of ", old.parameters().size(), " parameters and says ",
           parameters[i].size());
    for (size_t p = 0; p < parameters[i].size(); ++p)
      region->parameter(parameters[i][p], old.parameters()[p]->attr<ParameterAttrs>().name);
    region->results = rebuild(old, old.results, *region, region->parameter_values());
    regions.push_back(std::move(region));
  }
  return regions;
}

Values rebuild(const Block& from, const Values& wanted, Block& to, const Values& arguments) {
  std::vector<Node*> copies;  // by position
  copies.reserve(from.nodes().size());
  const auto copy_of = [&](Value value) {
    const Node& node = value.node();
    return is_parameter(node) ? arguments[node.position()]
                              : Value(copies[node.position()], value.index());
  };
  for (const auto& node : from.nodes()) {
    const OriginScope origin(node->origin());
    Values inputs;
    for (const Value& input : node->inputs()) inputs.push_back(copy_of(input));
    auto regions = rebuild_regions(*node, inputs, to.depth() + 1);
    Node& copy = to.append(node->op(), inputs, node->attrs(), std::move(regions));
    if (!node->op().places) copy.place(node->device());
    copies.push_back(&copy);
  }
  Values results;
  for (const Value& value : wanted) results.push_back(copy_of(value));
  return results;
}

}  // namespace

Module specialize(const Module& module, const Types& inputs) {
  const auto& parameters = module.block().parameters();
  require(inputs.size() == parameters.size(), "specialize: expected ", parameters.size(),
          " inputs, got ", inputs.size());
  Module result;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const auto& attrs = parameters[i]->attr<ParameterAttrs>();
    result.block().parameter(fitted(*parameters[i], i, inputs[i]), attrs.name, attrs.state);
  }
  Values wanted = module.block().results;
  for (const Update& update : module.updates()) wanted.push_back(update.value);
  Values found = rebuild(module.block(), wanted, result.block(), result.block().parameter_values());
  const size_t results = module.block().results.size();
  for (size_t i = results; i < found.size(); ++i) {
    const size_t state = module.updates()[i - results].state.node().position();
    result.update(result.block().parameters()[state]->out(), found[i]);
  }
  found.resize(results);
  result.block().results = std::move(found);
  return result;
}

}  // namespace keratin
