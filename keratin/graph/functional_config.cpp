// Functional models as Keras's JSON: writes the form of Keras 3, reads those of Keras 2 and 3.
#include <algorithm>
#include <deque>
#include <unordered_map>

#include "keratin/base/text.h"
#include "keratin/graph/functional.h"
#include "keratin/graph/saved_form.h"
#include "keratin/graph/topology.h"
#include "keratin/ir/node.h"

namespace keratin {
namespace {

// The index of each node among the calls of its layer in one model.
std::unordered_map<const CallNode*, int64_t> number_calls(const Topology& topology) {
  std::unordered_map<const Layer*, std::vector<const CallNode*>> calls;
  for (const NodePtr& node : topology.nodes) calls[node->layer().get()].push_back(node.get());
  std::unordered_map<const CallNode*, int64_t> numbers;
  for (auto& item : calls) {
    std::sort(item.second.begin(), item.second.end(),
              [](const CallNode* a, const CallNode* b) { return a->index() < b->index(); });
    for (size_t i = 0; i < item.second.size(); ++i)
      numbers.emplace(item.second[i], static_cast<int64_t>(i));
  }
  return numbers;
}

bool is_functional(const Layer& layer) {
  return dynamic_cast<const FunctionalLayer*>(&layer) != nullptr;
}

class Writer {
 public:
  explicit Writer(const FunctionalLayer& model)
      : model_(model), numbers_(number_calls(model.topology())) {
    for (const NodePtr& node : model.topology().nodes)
      calls_[node->layer().get()].push_back(node.get());
    for (auto& item : calls_)
      std::sort(item.second.begin(), item.second.end(),
                [](const CallNode* a, const CallNode* b) { return a->index() < b->index(); });
  }

  Json write() const {
    Json layers = Json::array();
    for (const LayerPtr& layer : model_.operations()) {
      Json entry = serialize_layer(*layer);
      entry["name"] = layer->name();
      Json nodes = Json::array();
      for (const CallNode* node : calls_.at(layer.get()))
        if (!node->is_input()) nodes.push_back(call(*node));
      entry["inbound_nodes"] = nodes;
      layers.push_back(entry);
    }
    return Json::Object{{"name", model_.name()},
                        {"trainable", model_.trainable()},
                        {"layers", layers},
                        {"input_layers", ends(model_.input())},
                        {"output_layers", ends(model_.output())}};
  }

 private:
  Json call(const CallNode& node) const {
    Json args = Json::array(), kwargs = Json::object();
    const auto given = detail::saved_arguments(*node.layer(), node.arguments());
    for (const Symbols& tree : given.positional) args.push_back(argument(tree));
    for (const auto& [key, tree] : given.named) kwargs[key] = argument(tree);
    return Json::Object{{"args", args}, {"kwargs", kwargs}};
  }

  Json argument(const Symbols& tree) const {
    return structure(tree, [&](const SymbolicTensor& t) -> Json {
      return Json::Object{
          {"class_name", "__keras_tensor__"},
          {"config",
           Json::Object{{"shape", detail::shape_json(t.shape())},
                        {"dtype", keras_name(t.dtype())},
                        {"keras_history", Json::Array{t.layer()->name(), numbers_.at(&t.node()),
                                                      static_cast<int64_t>(t.index())}}}}};
    });
  }

  // Here Keras counts the calls of a nested functional model from one.
  Json ends(const Symbols& tree) const {
    return structure(tree, [&](const SymbolicTensor& t) -> Json {
      const auto other = detail::saved_form(*t.layer());
      const int64_t first = is_functional(other ? *other : *t.layer()) ? 1 : 0;
      return Json::Array{t.layer()->name(), numbers_.at(&t.node()) + first,
                         static_cast<int64_t>(t.index())};
    });
  }

  template <class Leaf>
  static Json structure(const Symbols& tree, const Leaf& leaf) {
    if (tree.is_leaf()) return leaf(tree.leaf());
    if (tree.is_constant()) return tree.constant();
    if (tree.is_list()) {
      Json items = Json::array();
      for (const Symbols& item : tree.list()) items.push_back(structure(item, leaf));
      return items;
    }
    Json items = Json::object();
    for (const auto& [key, item] : tree.dict()) items[key] = structure(item, leaf);
    return items;
  }

  const FunctionalLayer& model_;
  std::unordered_map<const CallNode*, int64_t> numbers_;
  std::unordered_map<const Layer*, std::vector<const CallNode*>> calls_;
};

// A reference to one output of one call: ["dense", 0, 1].
struct Reference {
  std::string layer;
  int64_t node = 0;
  int64_t tensor = 0;
};

bool is_reference(const Json& json) {
  return json.is_array() && json.size() >= 3 && json[0].is_string() && json[1].is_number() &&
         json[2].is_number();
}

Reference reference(const Json& json) {
  require(is_reference(json), "expected [layer name, node index, tensor index], got ", json);
  return {json[0].as_string(), json[1].as_int(), json[2].as_int()};
}

class Reader {
 public:
  Reader(const Json& config, const ConfigContext& context) : config_(config), context_(context) {}

  LayerPtr read() {
    const LayerOptions options = detail::read_options(config_, context_);
    model_name_ = options.name;
    for (const Json& entry : config_.at("layers").as_array()) declare(entry);
    settle_offsets();
    make_calls();
    const Symbols inputs = ends(config_.at("input_layers"));
    const Symbols outputs = ends(config_.at("output_layers"));
    auto model = FunctionalLayer::make(inputs, outputs, options);
    model->set_dialect(context_.dialect);
    return model;
  }

 private:
  struct Entry {
    LayerPtr layer;
    Json::Array calls;
    size_t done = 0;
    std::vector<std::vector<SymbolicTensor>> results = {};
    int64_t first_index = 0;                // Keras 2 counts the calls of a nested model from one
    std::vector<std::string> waiting = {};  // layers that need the next call of this one
  };

  [[noreturn]] void refuse(const std::string& why) const {
    fail("Invalid Functional model configuration of '", model_name_, "'. ", why);
  }

  void declare(const Json& json) {
    Entry entry{context_.make_layer(json), {}};
    const Json* name = json.find("name");
    const std::string key = name != nullptr ? name->as_string() : entry.layer->name();
    if (auto input = std::dynamic_pointer_cast<InputLayer>(entry.layer))
      entry.results.push_back({input->output()});
    else if (const Json* nodes = json.find("inbound_nodes"))
      entry.calls = nodes->as_array();
    if (!entries_.emplace(key, std::move(entry)).second)
      refuse(text("The layer name '", key, "' is used twice."));
    order_.push_back(key);
  }

  Entry& find(const std::string& name) {
    const auto found = entries_.find(name);
    if (found == entries_.end()) refuse(text("There is no layer named '", name, "'."));
    return found->second;
  }

  // Whether a call has Keras 2's form: a list of [layer, node, tensor, kwargs] instead of an object
  // of args and kwargs.
  static bool old_form(const Json& call) { return call.is_array(); }

  static std::vector<const Json*> old_references(const Json& call) {
    std::vector<const Json*> found;
    if (call.size() > 0 && call[0].is_string()) return {&call};  // one, not wrapped in a list
    for (const Json& item : call.as_array()) found.push_back(&item);
    return found;
  }

  // In Keras 2 a nested model's calls are counted from one: nothing refers to call zero then.
  void settle_offsets() {
    for (const std::string& name : order_)
      for (const Json& call : entries_.at(name).calls) old_style_ = old_style_ || old_form(call);
    if (!old_style_) return;
    for (const std::string& name : order_) {
      Entry& entry = entries_.at(name);
      entry.first_index = dynamic_cast<const ModelLayer*>(entry.layer.get()) != nullptr ? 1 : 0;
    }
    for (const std::string& name : order_)
      for (const Json& call : entries_.at(name).calls)
        for (const Json* item : old_references(call)) note_reference(*item);
    note_references(config_.at("output_layers"));
  }

  void note_reference(const Json& json) {
    if (!is_reference(json) || !entries_.contains(json[0].as_string())) return;
    if (json[1].as_int() == 0) entries_.at(json[0].as_string()).first_index = 0;
  }

  void note_references(const Json& json) {
    if (is_reference(json) || !json.is_array()) return note_reference(json);
    for (const Json& item : json.as_array()) note_references(item);
  }

  // Makes the calls as their inputs become available. A layer that must wait is put on the list of
  // the layer it waits for, so that each call is tried about once, whatever the order in the file.
  void make_calls() {
    std::deque<std::string> ready(order_.begin(), order_.end());
    size_t left = 0;
    for (const auto& item : entries_) left += item.second.calls.size();
    while (!ready.empty()) {
      const std::string name = ready.front();
      ready.pop_front();
      Entry& entry = entries_.at(name);
      while (entry.done < entry.calls.size()) {
        const std::string* blocked = nullptr;
        auto arguments = read_call(*entry.layer, entry.calls[entry.done], blocked);
        if (blocked != nullptr) {
          find(*blocked).waiting.push_back(name);
          break;
        }
        entry.results.push_back(entry.layer->call_symbolic(std::move(arguments)).flat());
        ++entry.done;
        --left;
        for (std::string& waiting : entry.waiting) ready.push_back(std::move(waiting));
        entry.waiting.clear();
      }
    }
    if (left == 0) return;
    std::string unresolved;
    for (const std::string& name : order_)
      if (entries_.at(name).done < entries_.at(name).calls.size())
        unresolved += (unresolved.empty() ? "'" : ", '") + name + "'";
    refuse(
        text("The graph of the Functional model either has loops or disconnected nodes. The "
             "following nodes failed to be resolved: ",
             unresolved));
  }

  // The tensor, or nothing and the name of the layer whose call is missing.
  std::optional<SymbolicTensor> tensor(const Reference& ref, int64_t first,
                                       const std::string*& blocked) {
    Entry& entry = find(ref.layer);
    const int64_t index = ref.node - first;
    const auto calls = static_cast<int64_t>(std::max<size_t>(entry.calls.size(), 1));
    if (index < 0 || index >= calls)
      refuse(text("Layer '", ref.layer, "' has no call number ", ref.node, "."));
    if (static_cast<size_t>(index) >= entry.results.size()) {
      blocked = &entries_.find(ref.layer)->first;
      return std::nullopt;
    }
    const auto& outputs = entry.results[static_cast<size_t>(index)];
    if (ref.tensor < 0 || ref.tensor >= static_cast<int64_t>(outputs.size()))
      refuse(text("Call ", ref.node, " of layer '", ref.layer, "' has no output number ",
                  ref.tensor, "."));
    return outputs[static_cast<size_t>(ref.tensor)];
  }

  // null, or the masks of several inputs of which none has one.
  static bool is_nothing(const Json& json) {
    if (json.is_array())
      return !json.as_array().empty() &&
             std::all_of(json.as_array().begin(), json.as_array().end(), is_nothing);
    if (json.is_object())
      return !json.as_object().empty() &&
             std::all_of(json.as_object().begin(), json.as_object().end(),
                         [](const auto& item) { return is_nothing(item.second); });
    return json.is_null();
  }

  Arguments<SymbolicTensor> read_call(const Layer& layer, const Json& call,
                                      const std::string*& blocked) {
    if (old_form(call)) return read_old_call(call, blocked);
    Arguments<SymbolicTensor> arguments;
    const bool trains = dynamic_cast<const TrainsByDefault*>(&layer) != nullptr;
    for (const Json& arg : call.at("args").as_array())
      arguments.positional.push_back(argument(arg, blocked));
    for (const auto& [key, value] : call.at("kwargs").as_object()) {
      // Keras 3 writes masks and flags that it has filled in itself; they are filled in again in
      // every run.
      const bool filled_in = context_.dialect == Dialect::keras3 &&
                             (is_nothing(value) || (key == "training" && value == Json(trains)));
      if (!filled_in) arguments.named.emplace(key, argument(value, blocked));
    }
    return arguments;
  }

  Symbols argument(const Json& json, const std::string*& blocked) {
    if (json.is_array()) {
      Symbols::List items;
      for (const Json& item : json.as_array()) items.push_back(argument(item, blocked));
      return items;
    }
    if (!json.is_object()) return json;
    const Json* kind = json.find("class_name");
    if (kind != nullptr && kind->is_string() && kind->as_string() == "__keras_tensor__") {
      const auto found = tensor(reference(json.at("config").at("keras_history")), 0, blocked);
      return found ? Symbols(*found) : Symbols();
    }
    if (kind != nullptr && json.contains("config")) return json;  // a constant of some kind
    Symbols::Dict items;
    size_t tensors = 0;
    for (const auto& [key, item] : json.as_object())
      tensors += items.emplace(key, argument(item, blocked)).first->second.leaf_count();
    // Without tensors it is a constant, whose keys keep their order.
    return tensors > 0 ? Symbols(items) : Symbols(json);
  }

  // Keras 2: the inputs as a list, keyword arguments repeated on each; the last one counts.
  Arguments<SymbolicTensor> read_old_call(const Json& call, const std::string*& blocked) {
    Symbols::List inputs;
    Arguments<SymbolicTensor> arguments;
    for (const Json* item : old_references(call)) {
      inputs.push_back(old_value(*item, blocked));
      if (item->is_array() && item->size() > 3 && (*item)[3].is_object()) {
        arguments.named.clear();
        for (const auto& [key, value] : (*item)[3].as_object())
          arguments.named.emplace(key, old_argument(value, blocked));
      }
    }
    arguments.positional.push_back(inputs.size() == 1 ? inputs[0] : Symbols(inputs));
    return arguments;
  }

  Symbols old_value(const Json& json, const std::string*& blocked) {
    if (json.is_array() && json.size() >= 3 && json[0].is_string() &&
        json[0].as_string() == "_CONSTANT_VALUE")
      return json[2];
    const Reference ref = reference(json);
    const auto found = tensor(ref, find(ref.layer).first_index, blocked);
    return found ? Symbols(*found) : Symbols();
  }

  Symbols old_argument(const Json& json, const std::string*& blocked) {
    if (is_reference(json) &&
        (entries_.contains(json[0].as_string()) || json[0].as_string() == "_CONSTANT_VALUE"))
      return old_value(json, blocked);
    if (!json.is_array()) return json;
    Symbols::List items;
    for (const Json& item : json.as_array()) items.push_back(old_argument(item, blocked));
    return items;
  }

  // The model's inputs and outputs, in the structure of the file.
  Symbols ends(const Json& json) {
    if (is_reference(json)) return end(json);
    if (json.is_array()) {
      Symbols::List items;
      for (const Json& item : json.as_array()) items.push_back(ends(item));
      // Keras 2 always writes lists.
      return old_style_ && items.size() == 1 ? items[0] : Symbols(items);
    }
    Symbols::Dict items;
    for (const auto& [key, item] : json.as_object()) items.emplace(key, ends(item));
    return items;
  }

  SymbolicTensor end(const Json& json) {
    const Reference ref = reference(json);
    const Entry& entry = find(ref.layer);
    int64_t first = entry.first_index;
    if (!old_style_) first = is_functional(*entry.layer) ? 1 : 0;
    const std::string* blocked = nullptr;
    const auto found = tensor(ref, first, blocked);
    if (!found) refuse(text("Layer '", ref.layer, "' is not connected."));
    return *found;
  }

  const Json& config_;
  const ConfigContext& context_;
  std::string model_name_;
  std::unordered_map<std::string, Entry> entries_;
  std::vector<std::string> order_;
  bool old_style_ = false;
};

}  // namespace

Json FunctionalLayer::get_config() const { return Writer(*this).write(); }

LayerPtr FunctionalLayer::from_config(const Json& config, const ConfigContext& context) {
  return Reader(config, context).read();
}

}  // namespace keratin
