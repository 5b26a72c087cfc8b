#pragma once

#include "keratin/graph/named.h"
#include "keratin/losses/loss.h"

namespace keratin {

// The loss Keras calls so, by its class's or its function's name or an alias of it.
Loss loss_by_name(const Named& named);
bool is_loss_name(std::string_view name);

// For losses and metrics alike, in a table by class: the class of that name, of that alias, or
// whose name in snake case it is, as Keras names functions; the end where there is none.
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
