// A model's variables as a tree of dicts, named by their paths, as in Keras.
#include <algorithm>
#include <map>

#include "keratin/base/text.h"
#include "keratin/model/model.h"
#include "keratin/train/trainer.h"

namespace keratin {
namespace {

using Paths = std::map<std::string, Variable>;

struct Group {
  std::string name;
  Paths variables;
};

void add(Paths& paths, const std::string& path, const Variable& variable) {
  require(paths.emplace(path, variable).second,
          "The following variable path is found twice in the model: '", path,
          "'. `get_state_tree()` can only be called when all variable paths are unique. Make sure "
          "to give unique names to your layers (and other objects).");
}

Paths by_path(const std::vector<Variable>& variables) {
  Paths paths;
  for (const Variable& v : variables) add(paths, v.path(), v);
  return paths;
}

// The weights that are not trained, and seeds.
Paths not_trained(const Layer& model) {
  Paths paths = by_path(model.non_trainable_weights());
  const std::vector<Variable> all = model.weights();
  for (const Variable& v : model.variables())
    if (std::find(all.begin(), all.end(), v) == all.end()) add(paths, v.path(), v);
  return paths;
}

// Keras has the trackers of several losses below "compile_loss".
Paths of_metrics(const Trainer& trainer) {
  Paths paths;
  const std::vector<Variable> of_losses = trainer.loss_variables();
  for (const Variable& v : trainer.metrics_variables()) {
    const bool of_loss = std::find(of_losses.begin(), of_losses.end(), v) != of_losses.end();
    add(paths, (of_loss ? "compile_loss/" : "") + v.path(), v);
  }
  return paths;
}

std::vector<Group> groups_of(const Layer& model, const Trainer* trainer) {
  return {{"trainable_variables", by_path(model.trainable_weights())},
          {"non_trainable_variables", not_trained(model)},
          {"optimizer_variables",
           trainer == nullptr ? Paths{} : by_path(trainer->optimizer().variables())},
          {"metrics_variables", trainer == nullptr ? Paths{} : of_metrics(*trainer)}};
}

// The paths [begin, end) share their first `skip` characters.
Tree<Tensor> nested(Paths::const_iterator begin, Paths::const_iterator end, size_t skip) {
  Tree<Tensor>::Dict dict;
  while (begin != end) {
    const std::string& path = begin->first;
    const size_t slash = path.find('/', skip);
    const std::string part = path.substr(skip, slash - skip);
    if (slash == path.npos) {
      dict.emplace(part, begin->second.value().clone());
      ++begin;
      continue;
    }
    const std::string prefix = path.substr(0, slash + 1);
    auto last = begin;
    while (last != end && last->first.starts_with(prefix)) ++last;
    dict.emplace(part, nested(begin, last, slash + 1));
    begin = last;
  }
  return dict;
}

using NewValues = std::vector<std::pair<Variable, Tensor>>;

void find_values(const Tree<Tensor>& tree, const std::string& path, const Group& group,
                 NewValues& out) {
  if (tree.is_dict()) {
    for (const auto& [name, item] : tree.dict())
      find_values(item, path.empty() ? name : text(path, '/', name), group, out);
    return;
  }
  require(tree.is_leaf(), "set_state_tree: '", path, "' in ", group.name,
          " is neither a tensor nor a dict");
  const auto found = group.variables.find(path);
  require(found != group.variables.end(), "set_state_tree: the model has no variable '", path,
          "' in ", group.name);
  const Shape& expected = found->second.shape();
  require(tree.leaf().shape() == expected, "set_state_tree: '", path, "' expected shape ", expected,
          ", got ", tree.leaf().shape());
  out.emplace_back(found->second, tree.leaf());
}

}  // namespace

Tree<Tensor> Model::get_state_tree() const {
  Tree<Tensor>::Dict state;
  for (const Group& group : groups_of(*layer(), trainer_if_compiled()))
    state.emplace(group.name, nested(group.variables.begin(), group.variables.end(), 0));
  return state;
}

void Model::set_state_tree(const Tree<Tensor>& state) {
  const std::vector<Group> groups = groups_of(*layer(), trainer_if_compiled());
  NewValues values;
  for (const auto& [name, tree] : state.dict()) {
    const auto group = std::find_if(groups.begin(), groups.end(),
                                    [&, n = name](const Group& g) { return g.name == n; });
    require(group != groups.end(), "Unknown variable name: ", name);
    find_values(tree, "", *group, values);
  }
  for (const auto& [variable, value] : values) variable.assign(value);
}

}  // namespace keratin
