#include "keratin/io/saved_objects.h"

#include <algorithm>
#include <unordered_set>

#include "keratin/graph/named.h"
#include "keratin/graph/saved_form.h"

namespace keratin::io {
namespace {

std::string joined(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + '/' + name;
}

// Keras exports one class by another name than it has, and files go by the latter.
std::string_view python_class(const Layer& layer) {
  const std::string_view name = layer.class_name();
  return name == "GroupQueryAttention" ? "GroupedQueryAttention" : name;
}

// Names for the elements of one list: a class's second one is "dense_1". Layers that were met
// before use up a name all the same.
class ListNames {
 public:
  std::string next(const std::string& attribute, const Layer& layer) {
    const std::string name = snake_case(python_class(layer));
    const size_t before = used_[attribute + '/' + name]++;
    return attribute + '/' + (before == 0 ? name : text(name, '_', before));
  }

 private:
  std::map<std::string, size_t> used_;
};

// In Keras's order: the layers of a model, then members by name, private ones last.
std::vector<Layer::Sublayer> in_file_order(const Layer& layer) {
  std::vector<Layer::Sublayer> subs = layer.sublayers();
  const auto place = [](const Layer::Sublayer& sub) {
    const bool of_model = sub.in_list && sub.attribute == "layers";
    return std::tuple(!of_model, sub.attribute.starts_with('_'), std::string_view(sub.attribute));
  };
  std::stable_sort(subs.begin(), subs.end(),
                   [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return subs;
}

// No recursion: a hostile config may nest models as deep as its file is long.
void add_layers(const Layer& model, std::vector<SavedObject>& out) {
  struct Pending {
    std::shared_ptr<const Layer> layer;
    std::string path;
    bool is_activation = false;
  };
  std::unordered_set<const Layer*> seen;
  std::vector<Pending> stack{{model.shared_from_this(), ""}};
  while (!stack.empty()) {
    const Pending now = std::move(stack.back());
    stack.pop_back();
    if (!seen.insert(now.layer.get()).second) continue;
    out.push_back({.path = now.path,
                   .name = now.layer->name(),
                   .variables = now.layer->own_weights(),
                   .is_activation = now.is_activation});
    ListNames names;
    std::vector<Pending> children;
    for (const Layer::Sublayer& sub : in_file_order(*now.layer)) {
      std::shared_ptr<const Layer> layer = saved_form(*sub.layer);
      if (layer == nullptr) layer = sub.layer;
      const std::string name = sub.in_list ? names.next(sub.attribute, *layer) : sub.attribute;
      children.push_back(
          {std::move(layer), joined(now.path, name), sub.attribute.ends_with("activation")});
    }
    std::move(children.rbegin(), children.rend(), std::back_inserter(stack));
  }
}

void add_optimizer(const OptimizerState& optimizer, const std::string& path,
                   std::vector<SavedObject>& out) {
  out.push_back({path, optimizer.name(), optimizer.variables(), true});
  for (const OptimizerState::Part& part : optimizer.parts())
    add_optimizer(*part.optimizer, joined(path, part.attribute), out);
}

}  // namespace

std::vector<SavedObject> saved_objects(const Layer& model, const OptimizerState* optimizer) {
  std::vector<SavedObject> out;
  add_layers(saved_model(model), out);
  if (optimizer != nullptr) add_optimizer(*optimizer, "optimizer", out);
  return out;
}

}  // namespace keratin::io
