#include <unordered_map>

#include "keratin/base/text.h"
#include "keratin/ir/module.h"
#include "keratin/ir/node.h"

namespace keratin {

namespace {
constexpr size_t max_nesting = 32;  // of regions; the parser recurses on it
}

class Parser {
 public:
  Parser(std::string_view text, OpLookup lookup) : in_(text), lookup_(lookup) {}

  Module parse() {
    Module module;
    in_.expect("module");
    Names names;
    parse_parameters(module.block(), names);
    in_.expect("{");
    while (!in_.accept_word("return")) {
      if (in_.accept_word("update")) {
        const Value state = value(names);
        in_.expect("=");
        const Value next = value(names);
        in_.at_line([&] { module.update(state, next); });
      } else {
        parse_node(module.block(), names);
      }
    }
    if (!in_.peek("}")) module.block().results = values(names);
    in_.expect("}");
    if (!in_.at_end()) in_.fail("nothing after the module");
    return module;
  }

 private:
  using Names = std::unordered_map<std::string, Value>;

  void parse_parameters(Block& block, Names& names) {
    in_.expect("(");
    if (in_.accept(")")) return;
    do {
      const bool state = in_.accept_word("state");
      in_.expect("%");
      const std::string name = in_.name();
      in_.expect(":");
      const Type type = in_.type();
      define(names, name,
             in_.at_line([&] { return block.parameter(type, given_name(name), state); }));
    } while (in_.accept(","));
    in_.expect(")");
  }

  // The name of a parameter, or nothing if it has a number.
  static std::string given_name(const std::string& name) {
    if (name.starts_with('"')) return name.substr(1);
    return is_plain_name(name) ? name : "";
  }

  void parse_node(Block& block, Names& names) {
    std::vector<std::string> outputs;
    if (in_.peek("%")) {
      do {
        in_.expect("%");
        outputs.push_back(in_.name());
      } while (in_.accept(","));
      in_.expect("=");
    }
    const std::string_view op_name = in_.word();
    const OpDef* op = lookup_(op_name);
    if (op == nullptr) in_.fail(text("arguments of a known op, '", op_name, "' is none"));
    in_.expect("(");
    Values inputs = in_.peek(")") ? Values{} : values(names);
    in_.expect(")");
    Attrs attrs(op->attrs, in_);
    std::vector<std::unique_ptr<Block>> regions;
    while (in_.accept_word("do")) regions.push_back(parse_region(block.depth() + 1));
    Node& node = in_.at_line(
        [&]() -> Node& { return block.append(*op, inputs, std::move(attrs), std::move(regions)); });
    if (node.output_count() != outputs.size())
      in_.fail(text(node.output_count(), " outputs of '", op_name, "' to be named before this"));
    for (size_t i = 0; i < outputs.size(); ++i) define(names, outputs[i], node.out(i));
    if (in_.accept(":")) parse_types(node);
  }

  // The types in the text must be those that the op infers; the device is taken from the text.
  void parse_types(Node& node) {
    for (size_t i = 0; i < node.output_count(); ++i) {
      if (i > 0) in_.expect(",");
      const Type written = in_.type();
      const bool elsewhere = node.op().places && written.device != node.type(i).device;
      if (written.dtype != node.type(i).dtype || written.shape != node.type(i).shape || elsewhere)
        in_.fail(text("the type of '", node.name(), "' to be ", node.type(i), ", it says ", written,
                      " before this"));
      node.types_[i].device = written.device;
    }
  }

  std::unique_ptr<Block> parse_region(size_t depth) {
    if (depth > max_nesting) in_.fail(text("regions nested at most ", max_nesting, " deep"));
    auto region = std::make_unique<Block>(depth);
    Names names;
    parse_parameters(*region, names);
    in_.expect("{");
    while (!in_.accept_word("yield")) parse_node(*region, names);
    if (!in_.peek("}")) region->results = values(names);
    in_.expect("}");
    return region;
  }

  Value value(const Names& names) {
    in_.expect("%");
    const std::string name = in_.name();
    const auto found = names.find(name);
    if (found == names.end()) in_.fail(text("a defined value, '%", name, "' is not"));
    return found->second;
  }

  Values values(const Names& names) {
    Values result;
    do {
      result.push_back(value(names));
    } while (in_.accept(","));
    return result;
  }

  void define(Names& names, const std::string& name, Value value) {
    if (!names.emplace(name, value).second) in_.fail(text("a new name, '%", name, "' is taken"));
  }

  Scanner in_;
  OpLookup lookup_;
};

Module parse_module(std::string_view text, OpLookup lookup) { return Parser(text, lookup).parse(); }

}  // namespace keratin
