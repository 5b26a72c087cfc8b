#pragma once

#include "keratin/ir/operands.h"
#include "keratin/plan/kernel.h"

namespace keratin {

// A typed address: one operand of a step, in memory. Absent operands, and outputs that nobody uses,
// have no data.
struct View {
  void* data = nullptr;
  const Type* type = nullptr;

  explicit operator bool() const { return data != nullptr; }
  const Shape& shape() const { return type->shape; }
  DType dtype() const { return type->dtype; }
  // The elements; T must be the storage type of the dtype.
  template <class T>
  T* as() const {
    detail::ensure(data == nullptr || dtype_of<std::remove_const_t<T>>() == type->dtype,
                   "View: elements of another dtype");
    return static_cast<T*>(data);
  }
};

template <>
class OperandReader<View> {
 public:
  OperandReader(const Node& node, Pointers pointers) : node_(node), pointers_(pointers) {}

  const Node& node() const { return node_; }
  View input() {
    const size_t i = input_++;
    return {pointers_[i], &node_.inputs()[i].type()};
  }
  View input_if(bool present) { return present ? input() : View(); }
  View optional_input() { return input_if(input_ < node_.input_count()); }
  View output() {
    const size_t i = output_++;
    return {pointers_[node_.input_count() + i], &node_.type(i)};
  }
  View output_if(bool present) { return present ? output() : View(); }

 private:
  const Node& node_;
  Pointers pointers_;
  size_t input_ = 0, output_ = 0;
};

// The operands of a step in memory, by name.
template <template <class> class Operands>
Operands<View> operands(const Node& node, Pointers pointers) {
  return Operands<View>::read(OperandReader<View>(node, pointers));
}

// The scratch memory of a step; it comes after the outputs.
inline void* scratch_of(const Node& node, Pointers pointers) {
  return pointers[node.input_count() + node.output_count()];
}

}  // namespace keratin
