#include <functional>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

#include "keratin/ir/module.h"
#include "keratin/ir/node.h"

namespace keratin {

namespace {

// Named parameters print as %name, other values as %0, %1, …; of two parameters with the same name
// in a block the second one is numbered.
class Printer {
 public:
  explicit Printer(std::ostream& out) : out_(out) {}

  void print(const Module& module) {
    out_ << "module(";
    print_parameters(module.block());
    out_ << ") {\n";
    print_nodes(module.block(), "  ");
    for (const Update& update : module.updates())
      out_ << "  update " << name(update.state) << " = " << name(update.value) << '\n';
    out_ << "  return" << list(module.block().results, " ") << "\n}\n";
  }

 private:
  void print_parameters(const Block& block) {
    std::string_view separator;
    std::unordered_set<std::string> taken;
    for (const auto& parameter : block.parameters()) {
      const auto& attrs = parameter->attr<ParameterAttrs>();
      const bool named = !attrs.name.empty() && taken.insert(attrs.name).second;
      out_ << separator << (attrs.state ? "state " : "")
           << define(parameter->out(), named ? attrs.name : "") << ": " << parameter->type();
      separator = ", ";
    }
  }

  void print_nodes(const Block& block, const std::string& indent) {
    for (const auto& node : block.nodes()) {
      out_ << indent;
      for (size_t i = 0; i < node->output_count(); ++i)
        out_ << (i > 0 ? ", " : "") << define(node->out(i), "");
      if (node->output_count() > 0) out_ << " = ";
      out_ << node->name() << '(' << list(node->inputs(), "") << ')' << node->attrs();
      for (const auto& region : node->regions()) print_region(*region, indent);
      for (size_t i = 0; i < node->output_count(); ++i)
        out_ << (i > 0 ? ", " : " : ") << node->type(i);
      out_ << '\n';
    }
  }

  void print_region(const Block& region, const std::string& indent) {
    out_ << " do(";
    print_parameters(region);
    out_ << ") {\n";
    print_nodes(region, indent + "  ");
    out_ << indent << "  yield" << list(region.results, " ") << '\n' << indent << '}';
  }

  std::string define(Value value, const std::string& wanted) {
    std::ostringstream name;
    name << '%';
    if (wanted.empty()) {
      name << next_++;
    } else if (is_plain_name(wanted)) {
      name << wanted;
    } else {
      print_value(name, wanted);
    }
    auto& names = names_[&value.node()];
    names.resize(std::max(names.size(), value.index() + 1));
    names[value.index()] = name.str();
    return names[value.index()];
  }

  // Undefined values print as such, so that invalid modules can be printed.
  std::string name(Value value) const {
    const auto found = value.defined() ? names_.find(&value.node()) : names_.end();
    const bool known = found != names_.end() && value.index() < found->second.size();
    return known ? found->second[value.index()] : "%undefined";
  }

  std::string list(const Values& values, std::string_view before) const {
    std::string result;
    for (const Value& value : values) {
      result += result.empty() ? std::string(before) : ", ";
      result += name(value);
    }
    return result;
  }

  std::ostream& out_;
  std::unordered_map<const Node*, std::vector<std::string>> names_;
  size_t next_ = 0;
};

}  // namespace

std::ostream& operator<<(std::ostream& out, const Module& module) {
  Printer(out).print(module);
  return out;
}

}  // namespace keratin
