#pragma once

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

// Options of every layer, beside its own config.
struct LayerOptions {
  std::string name = {};
  bool trainable = true;
  DTypePolicy dtype = {};
  Regularizer activity_regularizer = {};  // a penalty on the outputs, added to the losses
};

// What a layer requires of one input; unset means that anything is accepted.
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
//
// A layer of your own derives from LayerOf (config.h), which derives its config and its copies from
// a config struct. It makes weights in `build` and computes in `call`; the other functions that may
// be overridden have defaults.
class KERATIN_API Layer : public std::enable_shared_from_this<Layer> {
 public:
  virtual ~Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  // What it is: names and config.
  virtual std::string_view class_name() const = 0;
  // Where Python finds the class, and the name it is registered under ("" if it is public there).
  virtual std::string_view module() const { return "keras.layers"; }
  virtual std::string_view registered_name() const { return ""; }

  const std::string& name() const { return options_.name; }
  const DTypePolicy& dtype_policy() const { return options_.dtype; }
  DType compute_dtype() const { return options_.dtype.compute(); }
  DType variable_dtype() const { return options_.dtype.variable(); }
  const LayerOptions& options() const { return options_; }

  // Keras's config: name, trainable, dtype and the layer's own.
  virtual Json get_config() const;
  virtual Json own_config() const { return Json::object(); }
  // A layer with the same config and weights of its own; callables are copied, not serialised.
  virtual LayerPtr fresh_copy() const = 0;

  // The device of its weights and calls. None for a layer made outside all device scopes: its
  // weights are stored on cpu:0, its calls run where their first tensor is.
  const std::optional<Device>& device() const { return device_; }

  // A number that changes whenever a call may write another program: a layer was added or removed
  // here or below, or was frozen. Programs are compiled again then.
  size_t revision() const;
  // How often any layer was made or changed in this way.
  static uint64_t changes();

  // What a call computes.
  virtual Results call(const Call& c) const = 0;
  // One mask per output, given how many there are.
  virtual Masks compute_mask(const Call& c, size_t outputs) const;
  // If not, a mask that arrives is lost, with a warning.
  virtual bool supports_masking() const { return false; }
  // Whether `call` reads the mask of its input. Keras counts it as an argument then.
  virtual bool takes_mask() const { return false; }
  // Whether tensors of floats and weights are cast to the dtype in which the layer computes.
  virtual bool autocasts() const { return true; }
  // The arguments of `call` in Keras's order: first the tensors, then masks, `training` and
  // options. Each may be passed by position or by name; any other is an error. A layer that lists
  // none takes all arguments that it is given: `call` finds each as it was passed, by position or
  // by name, and "mask" and "training" by name.
  virtual std::vector<std::string_view> call_arguments() const { return {}; }
  // The leading arguments, which hold tensors.
  virtual std::vector<std::string_view> argument_names() const;
  const std::vector<InputSpec>& input_specs() const { return input_specs_; }
  void check_inputs(const Shapes& shapes) const;
  // How many masks a list of them must have; inputs beyond it have none. Default: one per input.
  std::optional<size_t> min_masks() const { return min_masks_; }

  // Weights.
  // Makes the weights. Called once, with the shapes of the tensors of the positional arguments.
  virtual void build(const Shapes& inputs) { (void)inputs; }
  bool built() const { return built_; }
  void ensure_built(const Shapes& inputs);
  const Shapes& built_with() const { return built_with_; }  // the shapes `build` saw

  bool trainable() const { return options_.trainable; }
  void set_trainable(bool trainable);  // its weights and its sublayers too

  // Its own trainable weights, its own others, then its sublayers'; no variable twice.
  std::vector<Variable> weights() const;
  std::vector<Variable> trainable_weights() const;
  std::vector<Variable> non_trainable_weights() const;
  // The weights and the seeds of random layers.
  std::vector<Variable> variables() const;
  int64_t count_params() const;
  std::vector<Tensor> get_weights() const;  // copies
  void set_weights(const std::vector<Tensor>& values);
  // Weights this layer itself owns, in the order files keep them.
  std::vector<Variable> own_weights() const;

  struct Sublayer {
    std::string attribute;  // Keras's name of the member that holds it
    LayerPtr layer;
    bool in_list = false;  // whether that member is a list of layers
  };
  virtual std::vector<Sublayer> sublayers() const { return sublayers_; }

  // Nodes of a model's graph.
  // Calls the layer on symbolic tensors, which makes a node.
  Symbols operator()(const Symbols& input, const Keywords& named = {});
  template <Positional First, Positional Second, Positional... Rest>
  Symbols operator()(const First& first, const Second& second, const Rest&... rest) {
    return call_symbolic({{Symbols(first), Symbols(second), Symbols(rest)...}, {}});
  }
  Symbols call_symbolic(Arguments<SymbolicTensor> arguments);
  // How often it was called, and the nodes that are still in use.
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
  void set_min_masks(size_t count) { min_masks_ = count; }
  void set_built() { built_ = true; }
  // Call this when the layer computes something else from now on.
  void mark_changed();
  // A node that is not the result of a call: that of an input layer.
  NodePtr add_node(Arguments<SymbolicTensor> arguments, std::vector<OutputSpec> outputs);

  LayerOptions options_;

 private:
  std::vector<Variable> own_variables(bool seeds) const;

  std::vector<Variable> own_trainable_, own_others_, seeds_;
  std::vector<Sublayer> sublayers_;
  std::vector<InputSpec> input_specs_;
  std::optional<size_t> min_masks_;
  std::optional<Device> device_ = DeviceScope::current();
  bool built_ = false;
  uint64_t changed_at_ = 0;  // changes() when it was made or last changed
  Shapes built_with_;
  size_t call_count_ = 0;
  std::vector<std::weak_ptr<const CallNode>> nodes_;
};

// A layer whose call is made of calls of other layers, which bring masks of their own: a model.
class KERATIN_API CallsLayers {
 public:
  virtual ~CallsLayers() = default;
  // The call and its masks together. `for_masks` has the arguments that masks are computed from.
  virtual Tree<Traced> call_layers(const Call& call, const Call& for_masks) const = 0;
  // Whether its layers run each on their own device; if not, all run on the outer layer's.
  virtual bool places_layers() const { return true; }
};

// A recurrent layer: it takes states, which Keras 2 passes in one list with the input.
class KERATIN_API TakesStates {
 public:
  virtual ~TakesStates() = default;
};

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
