#pragma once

#include <algorithm>
#include <concepts>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "keratin/base/export.h"
#include "keratin/graph/call.h"
#include "keratin/graph/dtype_policy.h"
#include "keratin/graph/symbolic.h"
#include "keratin/graph/variable.h"

namespace keratin {

// What every layer can be given beside its own config.
struct LayerOptions {
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
  Regularizer activity_regularizer = {};  // a penalty on the outputs, added to the losses
};

// What a layer asks of one input; unset means anything goes.
struct InputSpec {
  std::optional<int64_t> ndim = {};
  std::optional<int64_t> min_ndim = {};
  std::optional<int64_t> max_ndim = {};
  std::map<int64_t, int64_t> axes = {};  // axis (negative: from the end) → size
};

using Shapes = std::vector<Shape>;

// What can be a positional argument.
template <class T>
concept Positional = std::convertible_to<const T&, Symbols> && !std::same_as<T, Keywords>;

struct WeightOptions {
  bool trainable = true;
  std::optional<DType> dtype = {};
  Regularizer regularizer = {};
  Constraint constraint = {};
};

// A piece of a model: a config, weights made by `build`, and what a call computes. Layers are
// shared by reference: calling one twice uses the same weights twice.
class KERATIN_API Layer : public std::enable_shared_from_this<Layer> {
 public:
  virtual ~Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  virtual std::string_view class_name() const = 0;
  // Where Python finds the class, and the name it is registered under ("" if it is public there).
  virtual std::string_view module() const { return "keras.layers"; }
  virtual std::string_view registered_name() const { return ""; }

  const std::string& name() const { return options_.name; }
  const DTypePolicy& dtype_policy() const { return options_.dtype; }
  DType compute_dtype() const { return options_.dtype.compute(); }
  DType variable_dtype() const { return options_.dtype.variable(); }
  const LayerOptions& options() const { return options_; }

  // Where it lives: its weights do, and its calls run there. Nothing for a layer made outside all
  // device scopes: its weights live on cpu:0, its calls run where their first tensor is.
  const std::optional<Device>& device() const { return device_; }
  // Is it made of layers that are placed one by one?
  virtual bool places_parts() const { return false; }

  bool trainable() const { return options_.trainable; }
  virtual void set_trainable(bool trainable);  // its weights' and its sublayers' too

  // Another number whenever what a call writes may have changed: a layer was added or removed here
  // or below, or was frozen. Programs made before are made anew.
  size_t revision() const;
  // How often any layer of the program changed in this way, or was made.
  static uint64_t changes();

  // Keras's config: name, trainable, dtype and the layer's own.
  virtual Json get_config() const;
  virtual Json own_config() const { return Json::object(); }
  // A layer with the same config and weights of its own; callables are copied, not serialised.
  virtual LayerPtr fresh_copy() const = 0;

  // Makes the weights. Called once, with the shapes of the tensors of the positional arguments.
  virtual void build(const Shapes& inputs) { (void)inputs; }
  bool built() const { return built_; }
  void ensure_built(const Shapes& inputs);
  const Shapes& built_with() const { return built_with_; }  // the shapes `build` saw

  // Keras lists ops between layers as operations of a model, not among its layers.
  virtual bool is_operation() const { return false; }

  // What the layer computes.
  virtual Results call(const Call& c) const = 0;
  // One mask per output, given how many there are.
  virtual Masks compute_mask(const Call& c, size_t outputs) const;
  // Call and masks together; models override it.
  virtual Tree<Traced> apply(const Call& call, const Call& for_masks) const;
  // Without it, a mask that arrives is lost, with a warning.
  virtual bool supports_masking() const { return false; }
  // Does `call` look at the mask of its input? Keras counts it as an argument then.
  virtual bool takes_mask() const { return false; }
  // How many masks a list of them must have for so many inputs; inputs beyond have none.
  virtual size_t least_masks(size_t inputs) const { return inputs; }
  virtual bool autocasts() const { return true; }
  // The arguments of `call` in Keras's order: first those that hold its tensors, then masks,
  // `training` and options. Each may be passed by position or by name; any other is an error. A
  // layer that lists none, as layers of your own may, takes all that it is given: `call` finds an
  // argument as it was passed, by position or by name, and "mask" and "training" by name.
  virtual std::vector<std::string_view> call_arguments() const { return {}; }
  // The leading ones that hold tensors.
  virtual std::vector<std::string_view> argument_names() const;
  // Keras 2 passes the states of a recurrent layer in one list with its input.
  virtual bool takes_rest_of_list() const { return false; }
  // Arguments as they were passed, but for that list.
  template <class T>
  Arguments<T> arranged(Arguments<T> arguments) const;
  // Arguments as `call` finds them: tensors by position, all others by name.
  template <class T>
  Arguments<T> bound(Arguments<T> arguments) const;
  const std::vector<InputSpec>& input_specs() const { return input_specs_; }
  void check_inputs(const Shapes& shapes) const;

  // Weights: its own trainable ones, its own others, then its sublayers'; no variable twice.
  std::vector<Variable> weights() const;
  std::vector<Variable> trainable_weights() const;
  std::vector<Variable> non_trainable_weights() const;
  // Those and the seeds of random layers.
  std::vector<Variable> variables() const;
  int64_t count_params() const;
  std::vector<Tensor> get_weights() const;  // copies
  void set_weights(const std::vector<Tensor>& values);
  // Weights this layer itself owns, in the order files keep them.
  std::vector<Variable> own_weights() const;

  struct Sublayer {
    std::string attribute;  // Keras's name of the member that holds it
    LayerPtr layer;
    bool in_list = false;  // is that member a list of layers?
  };
  virtual std::vector<Sublayer> sublayers() const { return sublayers_; }

  // Calls the layer on symbolic tensors, which makes a node of the graph.
  Symbols operator()(const Symbols& input, const Keywords& named = {});
  template <Positional First, Positional Second, Positional... Rest>
  Symbols operator()(const First& first, const Second& second, const Rest&... rest) {
    return call_symbolic({{Symbols(first), Symbols(second), Symbols(rest)...}, {}});
  }
  Symbols call_symbolic(Arguments<SymbolicTensor> arguments);
  // How often it was called, and the calls that something still refers to.
  size_t call_count() const { return call_count_; }
  std::vector<NodePtr> inbound_nodes() const;

 protected:
  explicit Layer(std::string_view class_name, LayerOptions options);

  Variable add_weight(const std::string& name, const Shape& shape, const Initializer& initializer,
                      const WeightOptions& options = {});
  // State for random numbers: i64[2], from the seed or from the program's stream.
  Variable add_seed(std::optional<int64_t> seed);
  void add_sublayer(std::string attribute, LayerPtr layer, bool in_list = false);
  void set_input_spec(std::vector<InputSpec> specs) { input_specs_ = std::move(specs); }
  void set_built() { built_ = true; }
  // To be called when a layer computes something else from now on.
  void mark_changed();
  // A node that is not the result of a call: that of an input layer.
  NodePtr add_node(Arguments<SymbolicTensor> arguments, std::vector<OutputSpec> outputs);

  LayerOptions options_;

 private:
  void own_variables(std::vector<Variable>& out, bool seeds) const;
  [[noreturn]] void refuse_argument(const std::string& what) const;

  std::vector<Variable> own_trainable_, own_others_, seeds_;
  std::vector<Sublayer> sublayers_;
  std::vector<InputSpec> input_specs_;
  std::optional<Device> device_ = DeviceScope::current();
  bool built_ = false;
  uint64_t changed_at_ = 0;  // changes() when it was made or last changed
  Shapes built_with_;
  size_t call_count_ = 0;
  std::vector<std::weak_ptr<const CallNode>> nodes_;
};

template <class T>
Arguments<T> Layer::arranged(Arguments<T> arguments) const {
  if (takes_rest_of_list() && arguments.positional.size() == 1 &&
      arguments.positional[0].is_list() && arguments.positional[0].list().size() > 1) {
    const typename Tree<T>::List all = arguments.positional[0].list();
    arguments.positional = {all[0], typename Tree<T>::List(all.begin() + 1, all.end())};
  }
  return arguments;
}

template <class T>
Arguments<T> Layer::bound(Arguments<T> given) const {
  given = arranged(std::move(given));
  const auto all = call_arguments(), tensors = argument_names();
  Arguments<T> out;
  for (size_t i = 0; i < given.positional.size(); ++i) {
    Tree<T>& value = given.positional[i];
    if (all.empty() || i < tensors.size())
      out.positional.push_back(std::move(value));
    else if (i >= all.size())
      refuse_argument(detail::text("got ", given.positional.size(), " positional arguments"));
    else if (!value.is_none())
      out.named.emplace(all[i], std::move(value));
  }
  for (auto& [name, value] : given.named) {
    const auto twice = [&, &name = name] {
      refuse_argument(detail::text("got multiple values for '", name, "'"));
    };
    const auto tensor = std::find(tensors.begin(), tensors.end(), name);
    if (tensor == tensors.end()) {
      const bool known = all.empty() || name == "training" || value.is_none() ||
                         std::find(all.begin(), all.end(), name) != all.end();
      if (!known) refuse_argument(detail::text("got an unexpected argument '", name, "'"));
      if (!out.named.emplace(name, std::move(value)).second) twice();
      continue;
    }
    const auto at = static_cast<size_t>(tensor - tensors.begin());
    if (out.positional.size() <= at) out.positional.resize(at + 1);
    if (!out.positional[at].is_none()) twice();
    out.positional[at] = std::move(value);
  }
  return out;
}

// While it lives, weights that are made have the layer's name in their paths.
class KERATIN_API BuildScope {
 public:
  explicit BuildScope(const Layer& layer);
  ~BuildScope();
  BuildScope(const BuildScope&) = delete;
  BuildScope& operator=(const BuildScope&) = delete;
};

// The layer of that name, or at that place; errors in Keras's words.
KERATIN_API LayerPtr find_layer(const std::vector<LayerPtr>& layers, const std::string& name);
KERATIN_API LayerPtr find_layer(const std::vector<LayerPtr>& layers, size_t index);

// "dense", then "dense_1", "dense_2", …: unique in the program until clear_session().
KERATIN_API std::string unique_name(std::string_view prefix);
KERATIN_API void clear_session();

// The layer a user holds. Copies share the layer and its weights.
template <class L>
class Shared {
 public:
  using Config = typename L::ConfigType;

  Shared() : Shared(Config{}) {}
  Shared(Config config, LayerOptions options = {})  // NOLINT(google-explicit-constructor)
      : layer_(std::make_shared<L>(std::move(config), std::move(options))) {}
  Shared(Config config, std::string name)
      : Shared(std::move(config), LayerOptions{std::move(name)}) {}
  explicit Shared(std::shared_ptr<L> layer) : layer_(std::move(layer)) {}

  Symbols operator()(const Symbols& input, const Keywords& named = {}) const {
    return (*layer_)(input, named);
  }
  // Several positional arguments: attention(query, value).
  Symbols operator()(const SymbolicTensor& a, const SymbolicTensor& b,
                     const Keywords& named = {}) const {
    return layer_->call_symbolic({{a, b}, named});
  }
  Symbols operator()(const SymbolicTensor& a, const SymbolicTensor& b, const SymbolicTensor& c,
                     const Keywords& named = {}) const {
    return layer_->call_symbolic({{a, b, c}, named});
  }
  // Any arguments in Keras's order: lstm(x, Symbols(), mask), where Symbols() is Python's None.
  template <Positional First, Positional Second, Positional... Rest>
  Symbols operator()(const First& first, const Second& second, const Rest&... rest) const {
    return (*layer_)(first, second, rest...);
  }
  L* operator->() const { return layer_.get(); }
  L& operator*() const { return *layer_; }
  const std::shared_ptr<L>& ptr() const { return layer_; }
  operator LayerPtr() const { return layer_; }  // NOLINT(google-explicit-constructor)

 private:
  std::shared_ptr<L> layer_;
};

}  // namespace keratin
