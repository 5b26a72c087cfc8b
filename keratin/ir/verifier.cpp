#include <functional>
#include <unordered_set>

#include "keratin/base/text.h"
#include "keratin/ir/module.h"
#include "keratin/ir/node.h"

namespace keratin {

class Verifier {
 public:
  void check_block(const Block& block) {
    for (size_t i = 0; i < block.parameters().size(); ++i) {
      check_place(*block.parameters()[i], block, i);
      number(*block.parameters()[i]);
      define(*block.parameters()[i]);
    }
    for (size_t i = 0; i < block.nodes().size(); ++i) {
      Node& node = *block.nodes()[i];
      check_place(node, block, i);
      number(node);
      check_node(node, block);
      define(node);
    }
    for (const Value& result : block.results) check_use(result, block, "a result");
  }

  void check_use(Value value, const Block& block, std::string_view user) {
    ensure(value.defined(), "verify: ", user, " uses an undefined value");
    ensure(is_defined(value.node()), "verify: ", user, " uses a value before it is defined");
    ensure(&value.block() == &block, "verify: ", user, " uses a value of another block");
    ensure(value.index() < value.node().output_count(), "verify: ", user, " uses output ",
           value.index(), " of '", value.node().name(), "', which has ",
           value.node().output_count());
  }

 private:
  // Numbers nodes as Module::number() does, to avoid a second walk over a large module.
  void number(Node& node) {
    node.id_ = static_cast<uint32_t>(defined_.size());
    defined_.push_back(nullptr);
  }
  void define(const Node& node) { defined_[node.id()] = &node; }
  // A node of another module may have a valid number, but the table has another node there.
  bool is_defined(const Node& node) const {
    return node.id() < defined_.size() && defined_[node.id()] == &node;
  }

  static void check_place(const Node& node, const Block& block, size_t position) {
    ensure(&node.block() == &block && node.position() == position, "verify: '", node.name(),
           "' does not know its place");
  }

  void check_node(const Node& node, const Block& block) {
    for (const Value& input : node.inputs()) check_use(input, block, node.name());
    for (const auto& region : node.regions()) {
      ensure(region->depth() == block.depth() + 1, "verify: '", node.name(),
             "' has a region of another depth");
      check_block(*region);
    }
    const Types expected = infer(node);
    ensure(expected.size() == node.output_count(), "verify: '", node.name(), "' has ",
           node.output_count(), " outputs, its op gives ", expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
      ensure(expected[i].dtype == node.type(i).dtype && expected[i].shape == node.type(i).shape &&
                 (!node.op().places || expected[i].device == node.type(i).device),
             "verify: output ", i, " of '", node.name(), "' is ", node.type(i), ", its op gives ",
             expected[i]);
  }

  // In a complete module, infer must not fail.
  static Types infer(const Node& node) {
    try {
      return infer_types(node);
    } catch (const UserError& error) {
      throw InternalError(text("verify: ", error.what()));
    }
  }

  std::vector<const Node*> defined_;  // by number
};

void verify(const Module& module) {
  Verifier verifier;
  verifier.check_block(module.block());
  std::unordered_set<const Node*> updated;
  for (const Update& update : module.updates()) {
    verifier.check_use(update.state, module.block(), "an update");
    verifier.check_use(update.value, module.block(), "an update");
    ensure(is_parameter(update.state.node()) && update.state.node().attr<ParameterAttrs>().state,
           "verify: an update of what is no state");
    ensure(updated.insert(&update.state.node()).second, "verify: a state is updated twice");
    ensure(update.state.dtype() == update.value.dtype() &&
               update.state.shape() == update.value.shape(),
           "verify: an update changes a state's type");
  }
}

}  // namespace keratin
