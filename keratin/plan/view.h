#pragma once

#include "keratin/ir/operands.h"
#include "keratin/plan/kernel.h"

namespace keratin {

// One operand of a step in memory: where its address is found, and its type. Made when a kernel is
// bound; `data` reads the address, which may change from run to run. Absent operands, and outputs
// that nobody uses, have no data.
class View {
 public:
  View() = default;
  View(void* const* slot, const Type& type) : slot_(slot), type_(&type) {}

  explicit operator bool() const { return data() != nullptr; }
  void* data() const { return slot_ != nullptr ? *slot_ : nullptr; }
  // Of operands that are not absent.
  const Type& type() const { return *type_; }
  const Shape& shape() const { return type_->shape; }
  DType dtype() const { return type_->dtype; }
  // The elements; T must be the storage type of the dtype.
  template <class T>
  T* as() const {
    detail::ensure(slot_ == nullptr || dtype_of<std::remove_const_t<T>>() == type_->dtype,
                   "View: elements of another dtype");
    return static_cast<T*>(data());
  }

 private:
  void* const* slot_ = nullptr;
  const Type* type_ = nullptr;
};

template <>
class OperandReader<View> {
 public:
  OperandReader(const Node& node, Pointers pointers) : node_(node), pointers_(pointers) {}

  const Node& node() const { return node_; }
  View input() {
    const size_t i = input_++;
    return {pointers_ + i, node_.inputs()[i].type()};
  }
  View input_if(bool present) { return present ? input() : View(); }
  View optional_input() { return input_if(input_ < node_.input_count()); }
  std::vector<View> other_inputs() {
    std::vector<View> rest;
    while (input_ < node_.input_count()) rest.push_back(input());
    return rest;
  }
  View output() {
    const size_t i = output_++;
    return {pointers_ + node_.input_count() + i, node_.type(i)};
  }
  std::vector<View> other_outputs() {
    std::vector<View> rest;
    while (output_ < node_.output_count()) rest.push_back(output());
    return rest;
  }
  View output_if(bool present) { return present ? output() : View(); }

 private:
  const Node& node_;
  Pointers pointers_;
  size_t input_ = 0, output_ = 0;
};

// The operands of a step in memory, by name. Valid as long as the node and the pointers are.
template <template <class> class Operands>
Operands<View> operands(const Node& node, Pointers pointers) {
  return Operands<View>::read(OperandReader<View>(node, pointers));
}

// Where a step's addresses are found: after its inputs, its outputs, then its scratch memory, then
// the result of its preparation, if it has one.
inline Pointers output_slot(const Node& node, Pointers pointers, size_t output) {
  return pointers + node.input_count() + output;
}
inline Pointers scratch_slot(const Node& node, Pointers pointers) {
  return output_slot(node, pointers, node.output_count());
}
inline Pointers prepared_slot(const Node& node, Pointers pointers) {
  return output_slot(node, pointers, node.output_count() + 1);
}

}  // namespace keratin
