#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "keratin/base/error.h"
#include "keratin/base/export.h"
#include "keratin/base/json.h"
#include "keratin/tensor/tensor.h"

namespace keratin {

// Arguments and results of layers: a tensor, a list or a dict of trees, or a constant. Dicts are
// flattened by sorted key. T is the kind of tensor: symbolic, traced or data. Most members are
// defined below and compiled once for these kinds, see the end of this file.
template <class T>
class KERATIN_API Tree {
 public:
  using List = std::vector<Tree>;
  using Dict = std::map<std::string, Tree, std::less<>>;

  Tree();                              // nothing (Python's None)
  Tree(T leaf);                        // NOLINT(google-explicit-constructor)
  Tree(List items);                    // NOLINT(google-explicit-constructor)
  Tree(Dict items);                    // NOLINT(google-explicit-constructor)
  Tree(Json constant);                 // NOLINT(google-explicit-constructor)
  Tree(const std::vector<T>& leaves);  // NOLINT(google-explicit-constructor)
  Tree(std::initializer_list<Tree> items);
  // Constants, so that arguments can be written as they are.
  Tree(bool constant) : Tree(Json(constant)) {}         // NOLINT(google-explicit-constructor)
  Tree(int constant) : Tree(Json(constant)) {}          // NOLINT(google-explicit-constructor)
  Tree(int64_t constant) : Tree(Json(constant)) {}      // NOLINT(google-explicit-constructor)
  Tree(double constant) : Tree(Json(constant)) {}       // NOLINT(google-explicit-constructor)
  Tree(const char* constant) : Tree(Json(constant)) {}  // NOLINT(google-explicit-constructor)

  ~Tree();
  Tree(const Tree& other);
  Tree(Tree&& other) noexcept;
  Tree& operator=(const Tree& other);
  Tree& operator=(Tree&& other) noexcept;

  bool is_leaf() const { return kind_ == Kind::leaf; }
  bool is_list() const { return kind_ == Kind::list; }
  bool is_dict() const { return kind_ == Kind::dict; }
  bool is_constant() const { return kind_ == Kind::constant; }
  bool is_none() const { return is_constant() && constant_.is_null(); }

  // Each is a UserError where there is something else.
  const T& leaf() const;
  const List& list() const;
  const Dict& dict() const;
  const Json& constant() const;

  // A list of one tensor converts to that tensor.
  operator T() const { return only_leaf(); }  // NOLINT(google-explicit-constructor)
  const Tree& operator[](size_t i) const;
  const Tree& operator[](std::string_view key) const;
  // auto [a, b] = layer(x).unpack<2>();
  template <size_t n>
  std::array<T, n> unpack() const {
    const auto leaves = flat();
    detail::require(leaves.size() == n, "unpack: expected ", n, " tensors, got ", leaves.size());
    std::array<T, n> out;
    for (size_t i = 0; i < n; ++i) out[i] = leaves[i];
    return out;
  }

  // Calls visit(leaf) for each tensor in order.
  template <class Visit>
  void each(Visit&& visit) const {
    if (is_leaf()) {
      visit(leaf_);
    } else if (is_list()) {
      for (const Tree& item : list()) item.each(visit);
    } else if (is_dict()) {
      for (const auto& item : dict()) item.second.each(visit);
    }
  }
  std::vector<T> flat() const;
  size_t leaf_count() const;

  // The same structure with each tensor replaced by make(tensor), which may be a constant or a
  // structure itself.
  template <class U, class Make>
  Tree<U> map(Make&& make) const {
    if (is_leaf()) return Tree<U>(make(leaf_));
    if (is_constant()) return Tree<U>(constant());
    if (is_list()) {
      typename Tree<U>::List items;
      items.reserve(list().size());
      for (const Tree& item : list()) items.push_back(item.template map<U>(make));
      return items;
    }
    typename Tree<U>::Dict items;
    for (const auto& [key, item] : dict()) items.emplace(key, item.template map<U>(make));
    return items;
  }
  // The same structure over other tensors, taken in order.
  template <class U>
  Tree<U> pack(const std::vector<U>& leaves) const {
    size_t next = 0;
    detail::require(leaves.size() == leaf_count(), "expected ", leaf_count(), " tensors, got ",
                    leaves.size());
    return map<U>([&](const T&) { return leaves[next++]; });
  }

  // Whether the two have the same structure, with any tensors.
  template <class U>
  bool same_structure(const Tree<U>& other) const {
    if (is_list() && other.is_list()) {
      if (list().size() != other.list().size()) return false;
      for (size_t i = 0; i < list().size(); ++i)
        if (!list()[i].same_structure(other.list()[i])) return false;
      return true;
    }
    if (is_dict() && other.is_dict()) {
      if (dict().size() != other.dict().size()) return false;
      auto theirs = other.dict().begin();
      for (const auto& [key, item] : dict()) {
        if (key != theirs->first || !item.same_structure(theirs->second)) return false;
        ++theirs;
      }
      return true;
    }
    return !is_list() && !is_dict() && !other.is_list() && !other.is_dict();
  }

  // The structure as text, with '*' for tensors: [*, {a: *}].
  std::string outline() const;

 private:
  enum class Kind : uint8_t { constant, leaf, list, dict };
  struct Items {
    List list;
    Dict dict;
  };
  std::string_view kind_name() const;
  const T& only_leaf() const;

  // One of these is in use. (A std::variant costs each file that includes this one much more.)
  Kind kind_ = Kind::constant;
  T leaf_ = {};
  Json constant_;
  std::unique_ptr<const Items> items_;
};

template <class T>
Tree<T>::Tree() = default;
template <class T>
Tree<T>::Tree(T leaf) : kind_(Kind::leaf), leaf_(std::move(leaf)) {}
template <class T>
Tree<T>::Tree(List items)
    : kind_(Kind::list), items_(std::make_unique<const Items>(Items{std::move(items), {}})) {}
template <class T>
Tree<T>::Tree(Dict items)
    : kind_(Kind::dict), items_(std::make_unique<const Items>(Items{{}, std::move(items)})) {}
template <class T>
Tree<T>::Tree(Json constant) : constant_(std::move(constant)) {}
template <class T>
Tree<T>::Tree(const std::vector<T>& leaves) : Tree(List(leaves.begin(), leaves.end())) {}
template <class T>
Tree<T>::Tree(std::initializer_list<Tree> items) : Tree(List(items)) {}

template <class T>
Tree<T>::~Tree() = default;
template <class T>
Tree<T>::Tree(const Tree& other)
    : kind_(other.kind_),
      leaf_(other.leaf_),
      constant_(other.constant_),
      items_(other.items_ ? std::make_unique<const Items>(*other.items_) : nullptr) {}
template <class T>
Tree<T>::Tree(Tree&& other) noexcept
    : kind_(std::exchange(other.kind_, Kind::constant)),
      leaf_(std::move(other.leaf_)),
      constant_(std::move(other.constant_)),
      items_(std::move(other.items_)) {}
template <class T>
Tree<T>& Tree<T>::operator=(const Tree& other) {
  return *this = Tree(other);
}
template <class T>
Tree<T>& Tree<T>::operator=(Tree&& other) noexcept {
  kind_ = std::exchange(other.kind_, Kind::constant);
  leaf_ = std::move(other.leaf_);
  constant_ = std::move(other.constant_);
  items_ = std::move(other.items_);
  return *this;
}

template <class T>
const T& Tree<T>::leaf() const {
  detail::require(is_leaf(), "expected one tensor, got ", kind_name());
  return leaf_;
}
template <class T>
const typename Tree<T>::List& Tree<T>::list() const {
  detail::require(is_list(), "expected a list, got ", kind_name());
  return items_->list;
}
template <class T>
const typename Tree<T>::Dict& Tree<T>::dict() const {
  detail::require(is_dict(), "expected a dict, got ", kind_name());
  return items_->dict;
}
template <class T>
const Json& Tree<T>::constant() const {
  detail::require(is_constant(), "expected a constant, got ", kind_name());
  return constant_;
}

template <class T>
const T& Tree<T>::only_leaf() const {
  if (is_list() && list().size() == 1) return list()[0].leaf();
  return leaf();
}
template <class T>
const Tree<T>& Tree<T>::operator[](size_t i) const {
  detail::require(i < list().size(), "expected at least ", i + 1, " items, got ", list().size());
  return list()[i];
}
template <class T>
const Tree<T>& Tree<T>::operator[](std::string_view key) const {
  const auto found = dict().find(key);
  detail::require(found != dict().end(), "no item is named '", key, "'");
  return found->second;
}

template <class T>
std::vector<T> Tree<T>::flat() const {
  std::vector<T> leaves;
  each([&](const T& leaf) { leaves.push_back(leaf); });
  return leaves;
}
template <class T>
size_t Tree<T>::leaf_count() const {
  size_t n = 0;
  each([&](const T&) { ++n; });
  return n;
}

template <class T>
std::string Tree<T>::outline() const {
  if (is_leaf()) return "*";
  if (is_constant()) return is_none() ? "None" : constant().dump();
  std::string out = is_list() ? "[" : "{";
  const char* comma = "";
  if (is_list()) {
    for (const Tree& item : list()) out += comma + item.outline(), comma = ", ";
  } else {
    for (const auto& [key, item] : dict()) out += comma + key + ": " + item.outline(), comma = ", ";
  }
  return out + (is_list() ? "]" : "}");
}
template <class T>
std::string_view Tree<T>::kind_name() const {
  if (is_none()) return "nothing";
  if (is_constant()) return "a constant";
  if (is_leaf()) return "one tensor";
  return is_list() ? "a list" : "a dict";
}

// The arguments of one call: positional ones, then those passed by name.
template <class T>
struct Arguments {
  std::vector<Tree<T>> positional;
  std::map<std::string, Tree<T>, std::less<>> named;

  // The number of arguments that hold tensors.
  size_t with_tensors() const {
    size_t count = 0;
    for (const auto& tree : positional) count += tree.leaf_count() > 0 ? 1 : 0;
    for (const auto& item : named) count += item.second.leaf_count() > 0 ? 1 : 0;
    return count;
  }
  template <class Visit>
  void each(Visit&& visit) const {
    for (const auto& tree : positional) tree.each(visit);
    for (const auto& item : named) item.second.each(visit);
  }
  template <class U, class Make>
  Arguments<U> map(Make&& make) const {
    Arguments<U> out;
    for (const auto& tree : positional) out.positional.push_back(tree.template map<U>(make));
    for (const auto& [key, tree] : named) out.named.emplace(key, tree.template map<U>(make));
    return out;
  }
};

extern template class Tree<Tensor>;
extern template class Tree<size_t>;

}  // namespace keratin
