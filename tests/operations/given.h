#pragma once

#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "keratin/graph/dtype_policy.h"
#include "keratin/graph/json_tensor.h"
#include "keratin/graph/operation.h"
#include "keratin/graph/symbolic_ops.h"
#include "keratin/ops/ops.h"
#include "keratin/testing/expect_error.h"

// What one call of an operation in one of Keras's graphs gives to a function of ops: its arguments
// and options, in the types that the function on symbolic tensors or on values takes.
namespace keratin::operations {

template <class T>
class Given {
  static constexpr bool symbolic = std::is_same_v<T, SymbolicTensor>;

 public:
  Given(Arguments<T> arguments, const Json& options)
      : arguments_(std::move(arguments)), options_(options) {}

  // An argument: a tensor, or a constant, which for values becomes one of the dtype beside it.
  auto x(size_t i = 0) const { return argument(positional(i)); }
  auto x(size_t i, std::string_view name) const {
    const auto named = arguments_.named.find(name);
    return named == arguments_.named.end() ? x(i) : argument(named->second);
  }
  // A list of tensors, or all arguments.
  std::vector<T> list(size_t i) const {
    std::vector<T> items;
    for (const Tree<T>& item : positional(i).list()) items.push_back(item.leaf());
    return items;
  }
  std::vector<T> all() const {
    std::vector<T> items;
    for (const Tree<T>& item : arguments_.positional) items.push_back(item.leaf());
    return items;
  }
  double number_argument(size_t i) const { return positional(i).constant().as_double(); }
  std::vector<Index> index() const {
    std::vector<Index> items;
    const Json json = constant_json(positional(1));
    if (!json.is_array()) return {item(json)};
    for (const Json& one : json.as_array()) items.push_back(item(one));
    return items;
  }

  const Json& option(std::string_view key) const { return options_.at(std::string(key)); }
  bool has(std::string_view key) const { return !option(key).is_null(); }
  int64_t whole(std::string_view key) const { return option(key).as_int(); }
  double real(std::string_view key) const { return option(key).as_double(); }
  bool flag(std::string_view key) const { return option(key).as_bool(); }
  const char* text(std::string_view key) const { return option(key).as_string().c_str(); }
  std::optional<int64_t> maybe_whole(std::string_view key) const {
    return has(key) ? std::optional(whole(key)) : std::nullopt;
  }
  std::optional<double> maybe_real(std::string_view key) const {
    return has(key) ? std::optional(real(key)) : std::nullopt;
  }
  std::optional<DType> maybe_dtype() const {
    if (!has("dtype")) return std::nullopt;
    return dtype_from_keras(option("dtype").as_string(), "golden");
  }
  DType dtype() const { return *maybe_dtype(); }
  Dims dims(std::string_view key) const { return Sizes::from_json(option(key)).dims(); }
  std::vector<Dims> pairs(std::string_view key) const {
    std::vector<Dims> pairs;
    for (const Json& pair : option(key).as_array()) pairs.push_back(Sizes::from_json(pair).dims());
    return pairs;
  }

  std::optional<Dims> maybe_dims(std::string_view key) const {
    return has(key) ? std::optional(dims(key)) : std::nullopt;
  }
  // A scalar of the dtype of the first argument.
  Value scalar(std::string_view key) const {
    return ops::constant(x().block(), tensor_from_json(option(key), x().dtype()));
  }
  double named_number(std::string_view name) const {  // 0 where there is none
    const auto found = arguments_.named.find(name);
    const bool given = found != arguments_.named.end() && !found->second.is_none();
    return given ? found->second.constant().as_double() : 0;
  }

  // Numbers: those on values are doubles.
  auto number(std::string_view key) const {
    if constexpr (symbolic)
      return number_of(option(key));
    else
      return real(key);
  }
  std::optional<ops::Number> maybe_number(std::string_view key) const {
    return has(key) ? std::optional(number_of(option(key))) : std::nullopt;
  }
  // One size or several: on values, always several.
  auto sizes(std::string_view key) const {
    if constexpr (symbolic)
      return Sizes::from_json(option(key));
    else
      return dims(key);
  }
  // Axes: on values no axes are all, so an empty list has no meaning.
  auto axes(std::string_view key = "axis") const {
    if constexpr (symbolic) {
      return has(key) ? ops::Axes(Sizes::from_json(option(key))) : ops::Axes();
    } else {
      if (!has(key)) return Dims{};
      detail::require(!dims(key).empty(), "a list of no axes");
      return dims(key);
    }
  }
  Dims listed_axes(std::string_view key) const {
    detail::require(symbolic || !dims(key).empty(), "a list of no axes");
    return dims(key);
  }
  // Calls f(sections or positions).
  template <class F>
  Tree<T> pieces(const F& f) const {
    const Json& how = option("indices_or_sections");
    if constexpr (symbolic)
      return f(Sizes::from_json(how));
    else if (how.is_array())
      return f(Sizes::from_json(how).dims());
    else
      return f(how.as_int());
  }

 private:
  static Index item(const Json& json) {
    if (json.is_null()) return new_axis;
    if (json.is_int()) return json.as_int();
    if (json.at("class_name") == Json("__ellipsis__")) return ellipsis;
    const Json& config = json.at("config");
    const auto at = [&](const char* key) {
      const Json& value = config.at(key);
      return value.is_null() ? std::nullopt : std::optional(value.as_int());
    };
    return Slice{.start = at("start"), .stop = at("stop"), .step = at("step")};
  }
  static ops::Number number_of(const Json& json) {
    if (json.is_bool()) return json.as_bool();
    if (json.is_int()) return json.as_int();
    return json.as_double();
  }
  // The constants of a tree, as one JSON.
  static Json constant_json(const Tree<T>& tree) {
    if (!tree.is_list()) return tree.constant();
    Json list = Json::array();
    for (const Tree<T>& one : tree.list()) list.push_back(constant_json(one));
    return list;
  }
  const Tree<T>& positional(size_t i) const {
    static const Tree<T> none;
    return i < arguments_.positional.size() ? arguments_.positional[i] : none;
  }
  auto argument(const Tree<T>& tree) const {
    if constexpr (symbolic)
      return tree;
    else
      return value_of(tree);
  }
  Value value_of(const Tree<T>& tree) const {
    if (tree.is_none()) return {};
    if (tree.is_leaf()) return tree.leaf();
    std::vector<T> tensors;
    arguments_.each([&](const T& leaf) { tensors.push_back(leaf); });
    const Json json = constant_json(tree);
    return ops::constant(tensors.back().block(),
                         json.is_number() || json.is_bool()
                             ? tensor_from_json(json, tensors.back().dtype())
                             : tensor_from_json(json));
  }

  Arguments<T> arguments_;
  const Json& options_;
};

}  // namespace keratin::operations
