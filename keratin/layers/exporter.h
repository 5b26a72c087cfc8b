#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "keratin/graph/layer.h"

// From nodes of a traced program to calls of Keras's operations.
namespace keratin {

// Writes the nodes of a traced program as calls of operations on symbolic tensors.
class Exporter {
 public:
  // Calls an operation. Each call has a name of its own that is the same in every save.
  Symbols call(std::string_view class_name, Arguments<SymbolicTensor> arguments,
               Json options = Json::object());
  Symbols call(std::string_view class_name, std::vector<Symbols> arguments,
               Json options = Json::object());

  // The symbolic tensor that stands for a value from now on.
  void bind(Value value, const Symbols& tensor);
  bool is_constant(Value value) const;

  // The tensor of a value, or the array of a constant.
  Symbols tensor(Value value);
  // The same, but a scalar constant is a number: it takes the dtype of the tensor beside it.
  Symbols operand(Value value);

 private:
  std::map<std::string, size_t> used_;
  std::map<std::pair<const Node*, size_t>, Symbols> values_;
};

// How nodes of an op are written: as the operation of this name, or as a few of them.
struct ExportRule {
  std::string_view op;
  std::string_view keras;
  Symbols (*write)(Exporter&, const Node&, std::string_view keras);
};
// Errors: an op that no operation computes.
const ExportRule& export_rule_of(const Node& node);

}  // namespace keratin
