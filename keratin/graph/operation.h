#pragma once

#include <span>

#include "keratin/graph/config.h"

// Keras's operations: what `a + b` or ops.exp(x) on symbolic tensors puts into a graph, between
// layers and with names of the same kind.
namespace keratin {

struct OperationDef;

// One call of an operation while a program is written.
class OperationCall {
 public:
  OperationCall(const OperationDef& def, const Call& call, const Json& options)
      : def_(def), call_(call), options_(options) {}

  // An argument that is a tensor, or a constant made one.
  Value tensor(size_t i) const;
  Value float_tensor(size_t i) const;  // integers become floats
  // The same passed at a position or by that name; undefined when there is none.
  Value tensor(size_t i, std::string_view name) const;
  // Arguments brought to the dtype that holds all of them; a number counts less than a tensor. It
  // is read in the dtype that `widen` makes of that one: 300 beside int8 is 300 as a float.
  Values operands(size_t first, size_t count, DType (*widen)(DType) = nullptr) const;
  Values operands() const { return operands(0, argument_count()); }
  // A list of tensors, some of which may be constants; `list` brings them to one dtype.
  Values tensors(size_t i) const;
  Values list(size_t i) const;
  size_t argument_count() const { return call_.arguments().positional.size(); }
  const Tree<Traced>& argument(size_t i) const { return call_.argument(i); }
  const Tree<Traced>& argument(std::string_view name) const { return call_.argument(name); }
  Block& block() const { return call_.block(); }

  // What the operation was made with; null where it is missing.
  const Json& option(std::string_view key) const;
  std::optional<int64_t> integer(std::string_view key) const;
  Dims dims(std::string_view key) const;  // one, several or (null) none
  bool flag(std::string_view key) const;
  double number(std::string_view key, double otherwise) const;
  std::optional<DType> dtype() const;
  std::string who() const;

 private:
  Value as_tensor(const Tree<Traced>& argument) const;

  const OperationDef& def_;
  const Call& call_;
  const Json& options_;
};

// One row of the table: Keras's class, where it lives, and what it computes.
struct OperationDef {
  std::string_view class_name;
  std::string_view module;  // behind "keras.src.ops."
  Results (*run)(const OperationCall&);
};

// graph/operation_table.cpp
std::span<const OperationDef> all_operations();
const OperationDef& operation_named(std::string_view class_name);  // there must be one

// A constant argument as Keras has it: lists and dicts of constants are trees here.
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
  // Operations drop masks without a word.
  bool supports_masking() const override { return true; }
  Masks compute_mask(const Call&, size_t outputs) const override { return Masks(outputs); }
  bool autocasts() const override { return false; }

 private:
  const OperationDef& def_;
  std::string module_;
  Json options_;  // the arguments of the constructor, under Keras's names
};

// Keras lists operations between layers as operations of a model, not among its layers.
bool is_operation(const Layer& layer);
// Does an envelope's module name operations rather than layers?
bool is_operation_module(std::string_view module);
// Makes an operation from its envelope. Errors: one that Keratin does not have.
LayerPtr operation_from_json(const Json& envelope);
// Makes an operation of that class and calls it.
Symbols call_operation(std::string_view class_name, Arguments<SymbolicTensor> arguments,
                       Json options = Json::object());

}  // namespace keratin
