#pragma once

#include <cstring>

#include "keratin/plan/view.h"

// What the loops of this backend share.
namespace keratin::reference {

// A kernel that is one function over the operands of a node in memory.
template <template <class> class Operands>
class LoopKernel final : public Kernel {
 public:
  using Loop = void (*)(const Node&, const Operands<View>&);
  // Element by element, each read before it is written: outputs may be written over inputs.
  enum class Order { any, elementwise };

  LoopKernel(const Node& node, Loop loop, Order order) : node_(node), loop_(loop), order_(order) {}
  std::string describe() const override { return text("reference ", node_.name()); }
  bool in_place(size_t input, size_t) const override {
    return order_ == Order::elementwise && node_.in(input).shape() == node_.type().shape &&
           size_of(node_.in(input).dtype()) == size_of(node_.type().dtype);
  }
  Launch bind(Pointers pointers) const override {
    return [this, views = operands<Operands>(node_, pointers)] { loop_(node_, views); };
  }

 private:
  const Node& node_;
  const Loop loop_;
  const Order order_;
};

// The `make` of a record whose kernel is this loop.
template <template <class> class Operands, auto loop>
Offer make_loop(const Node& node, const KernelOptions&) {
  using Kernel = LoopKernel<Operands>;
  return {.kernel = std::make_unique<Kernel>(node, loop, Kernel::Order::any)};
}
template <template <class> class Operands, auto loop>
Offer make_elementwise_loop(const Node& node, const KernelOptions&) {
  using Kernel = LoopKernel<Operands>;
  return {.kernel = std::make_unique<Kernel>(node, loop, Kernel::Order::elementwise)};
}

// An integer of a vector of i32 or i64.
inline int64_t integer_at(const View& view, int64_t position) {
  return view.dtype() == DType::i32 ? view.as<int32_t>()[position] : view.as<int64_t>()[position];
}

// Calls f(index) for each index of the shape in row-major order; index has shape.rank() entries.
template <class F>
void for_each_index(const Shape& shape, F&& f) {
  Dims index(static_cast<size_t>(shape.rank()), 0);
  const int64_t count = shape.count();
  for (int64_t i = 0; i < count; ++i) {
    f(index);
    for (size_t axis = index.size(); axis-- > 0;) {
      if (++index[axis] < shape[static_cast<int64_t>(axis)]) break;
      index[axis] = 0;
    }
  }
}

// The position in a row-major tensor of `shape` of an index of a larger, broadcast shape.
inline int64_t broadcast_position(const Dims& index, const Shape& shape) {
  int64_t position = 0;
  const int64_t extra = static_cast<int64_t>(index.size()) - shape.rank();
  for (int64_t axis = 0; axis < shape.rank(); ++axis) {
    const int64_t i = shape[axis] == 1 ? 0 : index[static_cast<size_t>(axis + extra)];
    position = position * shape[axis] + i;
  }
  return position;
}

// The position of an index in a row-major tensor of its own shape.
inline int64_t position_of(const Dims& index, const Shape& shape) {
  int64_t position = 0;
  for (size_t axis = 0; axis < index.size(); ++axis)
    position = position * shape[static_cast<int64_t>(axis)] + index[axis];
  return position;
}

// Copies element `from` of x to element `to` of y, whatever the elements are.
inline void copy_element(const View& y, int64_t to, const View& x, int64_t from) {
  const size_t size = size_of(y.dtype());
  std::memcpy(static_cast<std::byte*>(y.data()) + static_cast<size_t>(to) * size,
              static_cast<const std::byte*>(x.data()) + static_cast<size_t>(from) * size, size);
}

// y[index] = x[source(index)]
template <class Source>
void move_elements(const View& x, const View& y, Source source) {
  int64_t position = 0;
  for_each_index(y.shape(),
                 [&](const Dims& index) { copy_element(y, position++, x, source(index)); });
}

}  // namespace keratin::reference
