#include "keratin/io/saved_objects.h"

#include <algorithm>
#include <unordered_set>

#include "keratin/base/text.h"
#include "keratin/graph/functional.h"
#include "keratin/graph/named.h"
#include "keratin/graph/saved_form.h"

namespace keratin::io {
namespace {

std::string joined(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + '/' + name;
}

// The Python name of a layer's class, which paths in files use. Keras exports one class by another
// name.
std::string python_class(const Layer& layer) {
  const std::string name = detail::saved_class_of(layer).class_name;
  return name == "GroupQueryAttention" ? "GroupedQueryAttention" : name;
}

// The sublayers in Keras's order: the layers of a model, then members by name.
std::vector<Layer::Sublayer> in_file_order(const Layer& layer, const ListRule& rule) {
  std::vector<Layer::Sublayer> subs = layer.sublayers();
  const auto key = [&](const Layer::Sublayer& sub) {
    const bool of_model = sub.in_list && sub.attribute == "layers";
    const bool is_private = sub.attribute.starts_with('_');
    return std::tuple(!of_model, is_private != rule.private_members_first,
                      std::string_view(sub.attribute));
  };
  std::stable_sort(subs.begin(), subs.end(),
                   [&](const auto& a, const auto& b) { return key(a) < key(b); });
  return subs;
}

std::shared_ptr<const Layer> as_saved(const Layer::Sublayer& sub) {
  std::shared_ptr<const Layer> layer = detail::saved_form(*sub.layer);
  return layer != nullptr ? layer : sub.layer;
}

// Collects the objects of a model. It does not recurse: a hostile config may nest many models.
class Walk {
 public:
  Walk(const ListRule& rule, std::vector<SavedObject>& out) : rule_(rule), out_(out) {}

  void run(const Layer& model) {
    enter(model.shared_from_this(), "", false);
    while (!open_.empty()) {
      Frame& now = open_.back();
      if (now.next == now.members.size()) {
        open_.pop_back();
        continue;
      }
      const Layer::Sublayer& sub = now.members[now.next++];
      const std::shared_ptr<const Layer> layer = as_saved(sub);
      const bool known = seen_.contains(layer.get());
      if (known && !(sub.in_list && rule_.counts_known)) continue;
      const std::string path =
          joined(now.path, sub.in_list ? named(now, sub, *layer) : sub.attribute);
      if (!known) enter(layer, path, sub.attribute.ends_with("activation"));  // invalidates `now`
    }
  }

 private:
  // A layer whose members are being walked.
  struct Frame {
    std::string path;
    bool is_model = false;
    std::vector<Layer::Sublayer> members;
    size_t next = 0;
    std::map<std::string, size_t> used;  // numbers taken of each name in a list
  };

  void enter(const std::shared_ptr<const Layer>& layer, const std::string& path,
             bool is_activation) {
    seen_.insert(layer.get());
    const auto converts = std::dynamic_pointer_cast<const HasSavedWeights>(layer);
    out_.push_back({.path = path,
                    .name = layer->name(),
                    .variables = converts ? converts->saved_weights() : layer->own_weights(),
                    .layer = layer,
                    .is_activation = is_activation,
                    .converts = converts});
    open_.push_back({.path = path,
                     .is_model = dynamic_cast<const ModelLayer*>(layer.get()) != nullptr,
                     .members = in_file_order(*layer, rule_)});
  }

  // The name of an element of a list; the second Dense is "dense_1".
  std::string named(Frame& in, const Layer::Sublayer& sub, const Layer& layer) const {
    const bool of_model = in.is_model && sub.attribute == "layers";
    const std::string attribute(of_model ? rule_.attribute : std::string_view(sub.attribute));
    const std::string name = snake_case(python_class(layer));
    const bool twice = of_model && rule_.lists_weighted_twice && !layer.weights().empty();
    size_t& used = in.used[attribute + '/' + name];
    const size_t before = used;
    used += twice ? 2 : 1;
    return attribute + '/' + (before == 0 ? name : text(name, '_', before));
  }

  const ListRule& rule_;
  std::vector<SavedObject>& out_;
  std::unordered_set<const Layer*> seen_;
  std::vector<Frame> open_;
};

void add_optimizer(const OptimizerState& optimizer, const std::string& path,
                   std::vector<SavedObject>& out) {
  out.push_back({.path = path,
                 .name = optimizer.name(),
                 .variables = optimizer.variables(),
                 .is_optimizer = true});
  for (const OptimizerState::Inner& inner : optimizer.inner_optimizers())
    add_optimizer(*inner.optimizer, joined(path, inner.attribute), out);
}

}  // namespace

std::vector<SavedObject> saved_objects(const Layer& model, const OptimizerState* optimizer,
                                       const ListRule& rule) {
  std::vector<SavedObject> out;
  Walk(rule, out).run(detail::saved_model(model));
  if (optimizer != nullptr) add_optimizer(*optimizer, "optimizer", out);
  return out;
}

}  // namespace keratin::io
