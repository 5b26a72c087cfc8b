#include "keratin/ir/node.h"
#include "keratin/base/text.h"

#include <unordered_map>

namespace keratin {

const Type& Value::type() const { return node().type(index_); }
Block& Value::block() const { return node().block(); }
void Value::refuse_undefined() {
  fail("Value: expected an output of an op or a parameter of a module, got an undefined value");
}

namespace {

thread_local Origin current_origin;

}  // namespace

OriginScope::OriginScope(Origin origin) : outer_(std::move(current_origin)) {
  current_origin = std::move(origin);
}
OriginScope::~OriginScope() { current_origin = std::move(outer_); }

Node::Node(Block& block, const OpDef& op, const Values& inputs, Attrs attrs)
    : block_(&block),
      op_(&op),
      inputs_(inputs),
      attrs_(std::move(attrs)),
      origin_(current_origin) {}
Node::~Node() = default;

Values Node::outputs() const {
  Values values;
  for (size_t i = 0; i < output_count(); ++i) values.push_back(out(i));
  return values;
}

void Node::place(Device device) {
  for (Type& type : types_) type.device = device;
  for (const auto& region : regions_) {
    for (const auto& parameter : region->parameters()) parameter->place(device);
    for (const auto& node : region->nodes()) node->place(device);
  }
}

void Node::set_input(size_t i, Value value) {
  ensure(value.dtype() == inputs_[i].dtype() && value.shape() == inputs_[i].shape(),
         "set_input: input ", i, " of '", name(), "' is ", inputs_[i].type(), ", not ",
         value.type());
  inputs_[i] = value;
}

const OpDef& parameter_op() {
  static const OpDef op{.name = "parameter", .attrs = attrs_type<ParameterAttrs>(), .arity = 0};
  return op;
}

Value Block::parameter(Type type, std::string name, bool state) {
  require(type.shape.fits(), "parameter '", name, "': ", type,
          " would have too many elements (limit 2^48)");
  parameters_.push_back(std::make_unique<Node>(
      *this, parameter_op(), Values{}, ParameterAttrs{.name = std::move(name), .state = state}));
  parameters_.back()->types_ = Types{type};
  parameters_.back()->position_ = static_cast<uint32_t>(parameters_.size() - 1);
  return parameters_.back()->out();
}

Values Block::parameter_values() const {
  Values values;
  for (const auto& parameter : parameters_) values.push_back(parameter->out());
  return values;
}

Values Block::outside_values() const {
  std::unordered_map<const Node*, std::vector<bool>> seen;
  Values outside;
  const auto look = [&](Value value) {
    if (!value.defined() || &value.block() == this) return;
    auto& taken = seen[&value.node()];
    taken.resize(value.node().output_count());
    if (taken[value.index()]) return;
    taken[value.index()] = true;
    outside.push_back(value);
  };
  for (const auto& node : nodes_)
    for (const Value& input : node->inputs()) look(input);
  for (const Value& result : results) look(result);
  return outside;
}

void Block::close(const Values& outside) {
  std::unordered_map<const Node*, Values> inside;
  for (const Value& value : outside) {
    Values& known = inside[&value.node()];
    known.resize(value.node().output_count());
    known[value.index()] = parameter(value.type());
  }
  const auto map = [&](Value& value) {
    if (&value.block() == this) return;
    if (const auto found = inside.find(&value.node()); found != inside.end())
      if (const Value mapped = found->second[value.index()]; mapped.defined()) value = mapped;
  };
  for (const auto& node : nodes_)
    for (Value& input : node->inputs_) map(input);
  for (Value& result : results) map(result);
}

void Block::sort() {
  auto old = std::move(nodes_);
  nodes_.clear();
  const auto sorted = [&](const Node& node) {
    return node.position_ < nodes_.size() && nodes_[node.position_].get() == &node;
  };
  size_t uses = old.size();
  for (const auto& node : old) uses += node->inputs_.size();
  std::vector<Node*> waiting;  // a stack: each waits for those above it
  for (size_t i = 0; i < old.size(); ++i) {
    if (old[i]) waiting.push_back(old[i].get());
    while (!waiting.empty()) {
      Node* node = waiting.back();
      if (!sorted(*node))
        for (const Value& input : node->inputs_)
          if (Node& maker = input.node();
              maker.block_ == this && !is_parameter(maker) && !sorted(maker))
            waiting.push_back(&maker);
      ensure(waiting.size() <= uses, "sort: the nodes form a circle");
      if (waiting.back() != node) continue;
      waiting.pop_back();
      if (!sorted(*node)) push(std::move(old[node->position_]));
    }
  }
}

Types infer_types(const Node& node) {
  const OpDef& op = node.op();
  require(!op.arity || *op.arity == node.input_count(), op.name, ": expected ",
          op.arity.value_or(0), " inputs, got ", node.input_count());
  require(op.regions == node.regions().size(), op.name, ": expected ", op.regions, " regions, got ",
          node.regions().size());
  if (!op.takes_strings)
    for (const Value& input : node.inputs())
      require(input.dtype() != DType::string, op.name, ": expected numbers, got ", input.type());
  Types types = op.infer(node);
  for (const Type& type : types)
    require(type.shape.fits(), op.name, ": the output ", type,
            " would have too many elements (limit 2^48)");
  if (!op.places && node.input_count() > 0)
    for (Type& type : types) type.device = node.in(0).type().device;
  return types;
}

Node& Block::push(std::unique_ptr<Node> node) {
  node->position_ = static_cast<uint32_t>(nodes_.size());
  nodes_.push_back(std::move(node));
  return *nodes_.back();
}

Node& Block::append(const OpDef& op, const Values& inputs, Attrs attrs,
                    std::vector<std::unique_ptr<Block>> regions) {
  for (const Value& input : inputs)
    require(input.defined(), op.name, ": an input is an undefined value");
  require(attrs.type() == op.attrs, op.name, ": the attributes are of another op");
  auto node = std::make_unique<Node>(*this, op, inputs, std::move(attrs));
  node->regions_ = std::move(regions);
  node->types_ = infer_types(*node);
  return push(std::move(node));
}

Node& Block::append_typed(const OpDef& op, const Values& inputs, Attrs attrs, const Types& types,
                          std::vector<std::unique_ptr<Block>> regions) {
  auto node = std::make_unique<Node>(*this, op, inputs, std::move(attrs));
  node->regions_ = std::move(regions);
  node->types_ = types;
  return push(std::move(node));
}

Values inline_block(const Block& from, Block& to, const Values& arguments) {
  ensure(arguments.size() == from.parameters().size(), "inline_block: ", arguments.size(),
         " arguments for ", from.parameters().size(), " parameters");
  std::vector<Node*> copies;  // by position
  copies.reserve(from.nodes().size());
  const auto copy_of = [&](Value value) {
    const Node& node = value.node();
    ensure(&node.block() == &from, "inline_block: the block is not closed");
    return is_parameter(node) ? arguments[node.position()]
                              : Value(copies.at(node.position()), value.index());
  };
  Values inputs;
  for (const auto& node : from.nodes()) {
    const OriginScope origin(node->origin());
    inputs.clear();
    for (const Value& input : node->inputs()) inputs.push_back(copy_of(input));
    std::vector<std::unique_ptr<Block>> regions;
    for (const auto& region : node->regions())
      regions.push_back(clone_block(*region, to.depth() + 1));
    copies.push_back(
        &to.append_typed(node->op(), inputs, node->attrs(), node->types(), std::move(regions)));
  }
  Values results;
  for (const Value& result : from.results) results.push_back(copy_of(result));
  return results;
}

std::unique_ptr<Block> clone_block(const Block& block, size_t depth) {
  auto copy = std::make_unique<Block>(depth);
  Values arguments;
  for (const auto& parameter : block.parameters()) {
    const auto& attrs = parameter->attr<ParameterAttrs>();
    arguments.push_back(copy->parameter(parameter->type(), attrs.name, attrs.state));
  }
  copy->results = inline_block(block, *copy, arguments);
  return copy;
}

}  // namespace keratin
