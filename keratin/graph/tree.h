#pragma once

#include <array>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "keratin/base/error.h"
#include "keratin/base/json.h"
#include "keratin/tensor/tensor.h"

namespace keratin {

// Arguments and results of layers: a tensor, a list or a dict of trees, or a constant. Dicts are
// flattened by sorted key. T is the kind of tensor: symbolic, traced or data.
template <class T>
class Tree {
 public:
  using List = std::vector<Tree>;
  using Dict = std::map<std::string, Tree, std::less<>>;

  Tree() = default;                                    // none (Python's None)
  Tree(T leaf) : data_(std::move(leaf)) {}             // NOLINT(google-explicit-constructor)
  Tree(List items) : data_(std::move(items)) {}        // NOLINT(google-explicit-constructor)
  Tree(Dict items) : data_(std::move(items)) {}        // NOLINT(google-explicit-constructor)
  Tree(Json constant) : data_(std::move(constant)) {}  // NOLINT(google-explicit-constructor)
  Tree(const std::vector<T>& leaves) : data_(List(leaves.begin(), leaves.end())) {}  // NOLINT
  Tree(std::initializer_list<Tree> items) : data_(List(items)) {}
  // Constants, so that arguments can be written as C++ values.
  Tree(bool constant) : data_(Json(constant)) {}         // NOLINT(google-explicit-constructor)
  Tree(int constant) : data_(Json(constant)) {}          // NOLINT(google-explicit-constructor)
  Tree(int64_t constant) : data_(Json(constant)) {}      // NOLINT(google-explicit-constructor)
  Tree(double constant) : data_(Json(constant)) {}       // NOLINT(google-explicit-constructor)
  Tree(const char* constant) : data_(Json(constant)) {}  // NOLINT(google-explicit-constructor)

  bool is_leaf() const { return std::holds_alternative<T>(data_); }
  bool is_list() const { return std::holds_alternative<List>(data_); }
  bool is_dict() const { return std::holds_alternative<Dict>(data_); }
  bool is_constant() const { return std::holds_alternative<Json>(data_); }
  bool is_none() const {
    const Json* json = std::get_if<Json>(&data_);
    return json != nullptr && json->is_null();
  }

  const T& leaf() const {
    detail::require(is_leaf(), "expected one tensor, got ", kind());
    return std::get<T>(data_);
  }
  const List& list() const {
    detail::require(is_list(), "expected a list, got ", kind());
    return std::get<List>(data_);
  }
  const Dict& dict() const {
    detail::require(is_dict(), "expected a dict, got ", kind());
    return std::get<Dict>(data_);
  }
  const Json& constant() const {
    detail::require(is_constant(), "expected a constant, got ", kind());
    return std::get<Json>(data_);
  }

  // A list of one tensor converts to that tensor.
  operator T() const {  // NOLINT(google-explicit-constructor)
    if (is_list() && list().size() == 1) return list()[0].leaf();
    return leaf();
  }
  const Tree& operator[](size_t i) const {
    detail::require(i < list().size(), "expected at least ", i + 1, " items, got ", list().size());
    return list()[i];
  }
  const Tree& operator[](std::string_view key) const {
    const auto found = dict().find(key);
    detail::require(found != dict().end(), "no item is named '", key, "'");
    return found->second;
  }
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
      visit(std::get<T>(data_));
    } else if (is_list()) {
      for (const Tree& item : std::get<List>(data_)) item.each(visit);
    } else if (is_dict()) {
      for (const auto& item : std::get<Dict>(data_)) item.second.each(visit);
    }
  }
  std::vector<T> flat() const {
    std::vector<T> leaves;
    each([&](const T& leaf) { leaves.push_back(leaf); });
    return leaves;
  }
  size_t leaf_count() const {
    size_t n = 0;
    each([&](const T&) { ++n; });
    return n;
  }

  // The same structure with each tensor replaced by make(tensor), which may be a constant or a
  // structure itself.
  template <class U, class Make>
  Tree<U> map(Make&& make) const {
    if (is_leaf()) return Tree<U>(make(std::get<T>(data_)));
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
  std::string outline() const {
    if (is_leaf()) return "*";
    if (is_constant()) return is_none() ? "None" : constant().dump();
    std::string out = is_list() ? "[" : "{";
    const char* comma = "";
    if (is_list()) {
      for (const Tree& item : list()) out += comma + item.outline(), comma = ", ";
    } else {
      for (const auto& [key, item] : dict())
        out += comma + key + ": " + item.outline(), comma = ", ";
    }
    return out + (is_list() ? "]" : "}");
  }

 private:
  std::string_view kind() const {
    if (is_none()) return "nothing";
    if (is_constant()) return "a constant";
    if (is_leaf()) return "one tensor";
    return is_list() ? "a list" : "a dict";
  }

  std::variant<Json, T, List, Dict> data_;
};

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

}  // namespace keratin
