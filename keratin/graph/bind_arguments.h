#pragma once

#include <algorithm>

#include "keratin/graph/layer.h"

namespace keratin {

// A list of the input and states of a recurrent layer, as Keras 2 passes it, becomes two arguments;
// all other arguments stay as they were passed.
template <class T>
Arguments<T> split_states(const Layer& layer, Arguments<T> arguments) {
  if (arguments.positional.size() != 1 || !arguments.positional[0].is_list() ||
      arguments.positional[0].list().size() < 2 ||
      dynamic_cast<const TakesStates*>(&layer) == nullptr)
    return arguments;
  const typename Tree<T>::List all = arguments.positional[0].list();
  arguments.positional = {all[0], typename Tree<T>::List(all.begin() + 1, all.end())};
  return arguments;
}

// An error that lists the arguments that the layer takes, and says what came instead.
[[noreturn]] void refuse_argument(const Layer& layer, const std::string& what);

// Binds the arguments of a call as `Layer::call` finds them: tensors by position, all others by
// name. Errors: an argument that the layer does not take, or one that is given twice.
template <class T>
class ArgumentBinding {
 public:
  explicit ArgumentBinding(const Layer& layer)
      : layer_(layer), all_(layer.call_arguments()), tensors_(layer.argument_names()) {}

  Arguments<T> bind(Arguments<T> given) {
    for (size_t i = 0; i < given.positional.size(); ++i)
      bind_at(i, std::move(given.positional[i]), given.positional.size());
    for (auto& [name, value] : given.named) bind_named(name, std::move(value));
    return std::move(bound_);
  }

 private:
  void bind_at(size_t i, Tree<T> value, size_t count) {
    if (all_.empty() || i < tensors_.size())
      bound_.positional.push_back(std::move(value));
    else if (i >= all_.size())
      refuse_argument(layer_, detail::text("got ", count, " positional arguments"));
    else if (!value.is_none())
      bound_.named.emplace(all_[i], std::move(value));
  }

  void bind_named(const std::string& name, Tree<T> value) {
    const auto tensor = std::find(tensors_.begin(), tensors_.end(), name);
    if (tensor == tensors_.end()) {
      const bool known = all_.empty() || name == "training" || value.is_none() ||
                         std::find(all_.begin(), all_.end(), name) != all_.end();
      if (!known) refuse_argument(layer_, detail::text("got an unexpected argument '", name, "'"));
      if (!bound_.named.emplace(name, std::move(value)).second) refuse_second(name);
      return;
    }
    const auto at = static_cast<size_t>(tensor - tensors_.begin());
    if (bound_.positional.size() <= at) bound_.positional.resize(at + 1);
    if (!bound_.positional[at].is_none()) refuse_second(name);
    bound_.positional[at] = std::move(value);
  }

  [[noreturn]] void refuse_second(const std::string& name) const {
    refuse_argument(layer_, detail::text("got multiple values for '", name, "'"));
  }

  const Layer& layer_;
  const std::vector<std::string_view> all_, tensors_;
  Arguments<T> bound_;
};

template <class T>
Arguments<T> bind_arguments(const Layer& layer, Arguments<T> given) {
  return ArgumentBinding<T>(layer).bind(split_states(layer, std::move(given)));
}

}  // namespace keratin
