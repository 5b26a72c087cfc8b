#include "keratin/model/weight_tree.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/io/weights_h5.h"

namespace keratin {
namespace {

bool is_number(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

void add_weight(WeightNode& node, const hdf5::Group& group, const std::string& name,
                const std::string& where) {
  const hdf5::Dataset dataset = group.dataset(name);
  require(!dataset.is_string(), where, ": '", dataset.path(), "' has strings, expected numbers");
  require(node.weights.emplace(name, StoredWeight(dataset)).second, where, ": '", dataset.path(),
          "' occurs twice");
}

// The reader limits the depth of groups.
void add_group(WeightNode& node, const hdf5::Group& group, const std::string& where) {
  for (const std::string& name : group.names()) {
    if (group.has_dataset(name)) {
      add_weight(node, group, name, where);
    } else if (name == "vars") {
      const hdf5::Group vars = group.group(name);
      if (vars.has_attribute("name")) node.name = vars.attribute("name").string();
      for (const std::string& weight : vars.names()) {
        require(vars.has_dataset(weight), where, ": '", vars.path(), "' has the group '", weight,
                "', expected weights alone");
        add_weight(node, vars, weight, where);
      }
    } else {
      add_group(node.make_child(name), group.group(name), where);
    }
  }
  for (const auto& item : node.children)
    require(!node.weights.contains(item.first), where, ": '", group.path(), "' has '", item.first,
            "' both as an object and as a weight");
}

}  // namespace

bool NumberOrder::operator()(const std::string& a, const std::string& b) const {
  if (is_number(a) && is_number(b) && a.size() != b.size()) return a.size() < b.size();
  return a < b;
}

WeightNode* WeightNode::child(std::string_view key) const {
  for (const auto& [name, node] : children)
    if (name == key) return node.get();
  return nullptr;
}

WeightNode& WeightNode::make_child(const std::string& key) {
  if (WeightNode* known = child(key)) return *known;
  return *children.emplace_back(key, std::make_unique<WeightNode>()).second;
}

bool WeightNode::empty() const {
  return weights.empty() && std::all_of(children.begin(), children.end(),
                                        [](const auto& c) { return c.second->empty(); });
}

std::vector<std::string> WeightNode::keys() const {
  std::vector<std::string> all;
  for (const auto& item : weights) all.push_back(item.first);
  for (const auto& [key, node] : children)
    if (!node->empty()) all.push_back(key);
  return all;
}

WeightNode weight_tree(const hdf5::Group& root, const std::string& where) {
  WeightNode node;
  add_group(node, root, where);
  return node;
}

WeightNode weight_tree(const std::vector<io::SavedObject>& objects) {
  WeightNode root;
  for (const io::SavedObject& object : objects) {
    WeightNode* node = &root;
    for (size_t begin = 0; begin < object.path.size();) {
      const size_t end = std::min(object.path.find('/', begin), object.path.size());
      node = &node->make_child(object.path.substr(begin, end - begin));
      begin = end + 1;
    }
    node->name = object.name;
    for (size_t i = 0; i < object.variables.size(); ++i)
      node->weights.emplace(std::to_string(i), object.variables[i].value());
  }
  return root;
}

void write_weight_tree(const WeightNode& node, const std::string& path, hdf5::NewGroup& root) {
  const std::string below = path.empty() ? "" : path + '/';
  hdf5::NewGroup& vars = root.group(below + "vars");
  if (!node.name.empty()) vars.attribute("name", node.name);
  for (const auto& [name, weight] : node.weights) io::write_variable(vars, name, weight.value());
  for (const auto& [name, child] : node.children) write_weight_tree(*child, below + name, root);
}

}  // namespace keratin
