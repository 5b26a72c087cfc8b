#pragma once

#include <concepts>
#include <cstdint>
#include <vector>

#include "keratin/base/export.h"
#include "keratin/ir/type.h"

namespace keratin {

class Block;
class Node;

// One output of a node (or a block's parameter): a light handle, valid while its block lives.
class KERATIN_API Value {
 public:
  Value() = default;
  // A template, so that a list of two numbers is not a value.
  template <std::same_as<Node> N>
  Value(N* node, size_t index) : node_(node), index_(static_cast<uint32_t>(index)) {}

  bool defined() const { return node_ != nullptr; }
  // The functions below throw a UserError if the value is undefined.
  Node& node() const {
    if (node_ == nullptr) [[unlikely]]
      refuse_undefined();
    return *node_;
  }
  size_t index() const { return index_; }
  Block& block() const;

  const Type& type() const;
  DType dtype() const { return type().dtype; }
  const Shape& shape() const { return type().shape; }
  int64_t rank() const { return shape().rank(); }

  bool operator==(const Value&) const = default;

 private:
  [[noreturn]] static void refuse_undefined();

  Node* node_ = nullptr;
  uint32_t index_ = 0;
};

using Values = std::vector<Value>;

}  // namespace keratin
