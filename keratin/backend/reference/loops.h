#pragma once

#include <cstring>

#include "keratin/plan/backend.h"

// What the loops of this backend share.
namespace keratin::reference {

// A node and the addresses of its inputs and outputs.
struct Call {
  const Node& node;
  Pointers pointers;

  template <class T>
  const T* in(size_t i) const {
    return static_cast<const T*>(pointers[i]);
  }
  // nullptr when nobody uses the output.
  template <class T>
  T* out(size_t i = 0) const {
    return static_cast<T*>(pointers[node.input_count() + i]);
  }
};

using Loop = void (*)(const Call&);

// One line per op, by family; reference.cpp gathers the families.
struct Entry {
  const OpDef* op;
  Loop loop;
};

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

// out[index] = in[source(index)], whatever the element is: moving needs only its size.
template <class Source>
void move_elements(const Call& call, Source source) {
  const size_t size = size_of(call.node.type().dtype);
  auto* out = call.out<std::byte>();
  const auto* in = call.in<std::byte>(0);
  for_each_index(call.node.type().shape, [&](const Dims& index) {
    std::memcpy(out, in + static_cast<size_t>(source(index)) * size, size);
    out += size;
  });
}

void pointwise(const Call& call);  // any op with a scalar function

}  // namespace keratin::reference
