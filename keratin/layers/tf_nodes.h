#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "keratin/base/text.h"
#include "keratin/graph/config.h"

// The operations of TensorFlow's graphs that TensorFlowOpLayer may hold.
namespace keratin {

// An operation of a graph in terms of a function of TensorFlow, see tf_functions.h.
struct TfNodeRule {
  using Renamed = std::array<std::string_view, 2>;

  std::string_view op;      // "AddV2"
  std::string_view symbol;  // "math.add"
  // The argument that each input is: "" the first one, "*" a list of as many as there are. What is
  // not named is "".
  std::array<std::string_view, 4> inputs = {};
  std::array<Renamed, 2> attributes = {};  // that are arguments: their names here and there
};

// The rule of an operation; null if there is none.
const TfNodeRule* find_tf_node(std::string_view op);
// All operations.
std::vector<std::string_view> tf_node_names();

// One operation: a NodeDef as JSON, and those of its inputs that are constants.
class TfNode {
 public:
  // Errors: an operation that Keratin does not have, constants that fit no input.
  TfNode(Json node_def, Json constants);

  std::string_view symbol() const { return rule_->symbol; }
  Json own_config() const { return Json::Object{{"node_def", node_def_}, {"constants", written_}}; }

  // The call of the function for a call of the layer on tensors.
  template <class T>
  Arguments<T> arguments(const Arguments<T>& given) const {
    std::vector<Tree<T>> inputs;
    given.each([&](const T& t) { inputs.emplace_back(t); });
    for (const auto& [index, value] : constants_) {
      detail::require(index <= inputs.size(), rule_->op, ": there is a constant for input ", index,
                      ", but only ", inputs.size(), " inputs come before it");
      inputs.insert(inputs.begin() + static_cast<std::ptrdiff_t>(index), Tree<T>(value));
    }
    if (rule_->op == "StridedSlice") return slice<T>(inputs);
    return named<T>(inputs);
  }

 private:
  template <class T>
  Arguments<T> named(const std::vector<Tree<T>>& inputs) const;
  template <class T>
  Arguments<T> slice(const std::vector<Tree<T>>& inputs) const;

  // The number of inputs in the list, or 0. Errors: another number of inputs than expected.
  size_t check_count(size_t inputs) const;
  // A constant in the form of arguments.
  Json constant(size_t index, const Json& value) const;
  Json attribute(std::string_view name) const;
  // x[…] of a slice by numbers, as SlicingOpLambda has it.
  Json slice_spec(const Json& begin, const Json& end, const Json& strides) const;

  Json node_def_, written_;
  const TfNodeRule* rule_;
  std::vector<std::pair<size_t, Json>> constants_;  // by the index of their input
};

template <class T>
Arguments<T> TfNode::named(const std::vector<Tree<T>>& inputs) const {
  const auto listed = static_cast<std::ptrdiff_t>(check_count(inputs.size()));
  Arguments<T> out;
  auto next = inputs.begin();
  for (const std::string_view name : rule_->inputs) {
    if (next == inputs.end()) break;
    if (name == "*") {
      out.positional.push_back(typename Tree<T>::List(next, next + listed));
      next += listed;
    } else if (!name.empty()) {
      out.named.emplace(name, *next++);
    } else if (out.positional.empty()) {
      out.positional.push_back(*next++);
    }
  }
  for (const auto& [name, argument] : rule_->attributes)
    if (const Json value = name.empty() ? Json() : attribute(name); !value.is_null())
      out.named.emplace(argument, Tree<T>(value));
  return out;
}

template <class T>
Arguments<T> TfNode::slice(const std::vector<Tree<T>>& inputs) const {
  detail::require(inputs.size() == 4, "StridedSlice: expected 4 inputs, got ", inputs.size());
  for (size_t i = 1; i < 4; ++i)
    detail::require(inputs[i].is_constant(),
                    "StridedSlice: expected constants for where to cut, got a tensor");
  Arguments<T> out;
  out.positional.push_back(inputs[0]);
  out.named.emplace("slice_spec", Tree<T>(slice_spec(inputs[1].constant(), inputs[2].constant(),
                                                     inputs[3].constant())));
  return out;
}

}  // namespace keratin
