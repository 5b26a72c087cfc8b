#pragma once

#include <span>

#include "keratin/graph/config.h"
#include "keratin/ir/node.h"

// Keras's operations: nodes of a graph, beside its layers, that `a + b` or ops.exp(x) on symbolic
// tensors makes. They have names as layers have.
namespace keratin {

struct OperationDef;

// One call of an operation while a program is traced.
class OperationCall {
 public:
  OperationCall(const OperationDef& def, const Call& call, const Json& options)
      : def_(def), call_(call), options_(options) {}

  // A positional argument as a value; constants become tensors.
  Value tensor(size_t i) const;
  Value float_tensor(size_t i) const;  // integers become floats
  // The argument at a position or under a name; undefined if there is none.
  Value tensor(size_t i, std::string_view name) const;
  // Arguments promoted to one dtype; numbers count less than tensors. `widen` changes that dtype
  // before numbers are read in it, so that 300 beside int8 can become the float 300.
  Values operands(size_t first, size_t count, DType (*widen)(DType) = nullptr) const;
  Values operands() const { return operands(0, argument_count()); }
  // A list of tensors and constants as values; `list` promotes them to one dtype.
  Values tensors(size_t i) const;
  Values list(size_t i) const;
  size_t argument_count() const { return call_.arguments().positional.size(); }
  const Tree<Traced>& argument(size_t i) const { return call_.argument(i); }
  const Tree<Traced>& argument(std::string_view name) const { return call_.argument(name); }
  Block& block() const { return call_.block(); }

  // An option of the operation, that is, a key of its config; null if it is missing.
  const Json& option(std::string_view key) const;
  std::optional<int64_t> integer(std::string_view key) const;
  Dims dims(std::string_view key) const;  // of one size, of several, or of null
  bool flag(std::string_view key) const;
  double number(std::string_view key, double fallback) const;
  std::optional<DType> dtype() const;
  std::string who() const;

 private:
  Value as_tensor(const Tree<Traced>& argument) const;

  const OperationDef& def_;
  const Call& call_;
  const Json& options_;
};

// One row of the table: Keras's class, its module, and what it computes.
struct OperationDef {
  std::string_view class_name;
  std::string_view module;  // after "keras.src.ops."
  Results (*run)(const OperationCall&);
};

// All operations, sorted by class name (graph/operation_table.cpp).
std::span<const OperationDef> all_operations();
const OperationDef& operation_named(
    std::string_view class_name);  // an internal error if there is none

// A tree of constants as JSON.
Json constant_json(const Tree<Traced>& argument);

class OperationLayer final : public Layer {
 public:
  OperationLayer(const OperationDef& def, Json options, LayerOptions layer_options);

  std::string_view class_name() const override { return def_.class_name; }
  std::string_view module() const override { return module_; }
  std::string_view registered_name() const override { return def_.class_name; }
  Json get_config() const override;
  Json own_config() const override { return options_; }
  LayerPtr fresh_copy() const override;

  Results call(const Call& c) const override;
  // Operations pass no masks on, and Keras does not warn of it.
  bool supports_masking() const override { return true; }
  Masks compute_mask(const Call&, size_t outputs) const override { return Masks(outputs); }
  bool autocasts() const override { return false; }

 private:
  const OperationDef& def_;
  std::string module_;
  Json options_;  // the arguments of Keras's constructor, by name
};

// Keras lists operations between layers as operations of a model, not among its layers.
bool is_operation(const Layer& layer);
// True if the module of an envelope has operations, not layers.
bool is_operation_module(std::string_view module);
// Makes an operation from its envelope; a UserError if Keratin does not have it.
LayerPtr operation_from_json(const Json& envelope);
// Makes an operation of a class and calls it.
Symbols call_operation(std::string_view class_name, Arguments<SymbolicTensor> arguments,
                       Json options = Json::object());

// The same for operations of one output.
SymbolicTensor operation_result(std::string_view class_name, std::vector<Symbols> arguments,
                                Json options = Json::object());
SymbolicTensor operation_result(std::string_view class_name, Arguments<SymbolicTensor> arguments,
                                Json options);
// The arguments of f(x, name=value), or of f(x) if the value is nothing.
Arguments<SymbolicTensor> with_named(const Symbols& x, const char* name, const Symbols& value);
// The option `dtype`: Keras's name, or null.
Json dtype_json(const std::optional<DType>& dtype);

}  // namespace keratin
