#pragma once

#include <typeindex>

#include "keratin/graph/named.h"
#include "keratin/losses/loss.h"

namespace keratin {

// The loss of that class or function of Keras, or of an alias.
Loss loss_by_name(const Named& named);
bool is_loss_name(std::string_view name);
// True for the config of a loss of Keras, false for one of the user's with such a name.
bool is_loss_class(std::string_view name, std::type_index type);

// Finds a class of losses or metrics in a table by class: by its name, by an alias, or by its name
// in snake case, which is how Keras names functions. The end of the table if there is none.
template <class Table, class Aliases>
typename Table::const_iterator find_class(const Table& classes, const Aliases& aliases,
                                          std::string_view name) {
  if (const auto alias = aliases.find(name); alias != aliases.end()) name = alias->second;
  auto found = classes.find(name);
  for (auto it = classes.begin(); found == classes.end() && it != classes.end(); ++it)
    if (snake_case(it->first) == name) found = it;
  return found;
}

}  // namespace keratin
