#pragma once

#include <concepts>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "keratin/graph/call.h"
#include "keratin/graph/layer_state.h"

namespace keratin {

// What a layer requires of one input; unset means that anything is accepted.
struct InputSpec {
  std::optional<int64_t> ndim = {};
  std::optional<int64_t> min_ndim = {};
  std::optional<int64_t> max_ndim = {};
  std::map<int64_t, int64_t> axes = {};  // axis (negative: from the end) → size
};

using Shapes = std::vector<Shape>;

// What a .keras keeps of a layer beside its weights: tensors in the group of its variables, and
// files of its own, such as a vocabulary.
struct LayerAssets {
  std::map<std::string, Tensor> tensors = {};
  std::map<std::string, std::string> files = {};
};

// The names under which files have a layer's class.
struct SavedClass {
  std::string class_name = {};
  std::string module = {};
  std::string registered_name = {};
  Json config = {};  // keys of a model's config that only its class reads; null if there are none
};

// What can be a positional argument.
template <class T>
concept Positional = std::convertible_to<const T&, Symbols> && !std::same_as<T, Keywords>;

// A piece of a model: a config, weights made by `build`, and what a call computes. Layers are
// shared by reference: calling one twice uses the same weights twice.
//
// A layer of your own derives from LayerOf (config.h), which derives its config and its copies from
// a config struct. It makes weights in `build` and computes in `call`; the other functions that may
// be overridden have defaults.
class KERATIN_API Layer : public LayerState, public std::enable_shared_from_this<Layer> {
 public:
  // What it is: names and config.
  virtual std::string_view class_name() const = 0;
  // Where Python finds the class, and the name it is registered under ("" if it is public there).
  virtual std::string_view module() const { return "keras.layers"; }
  virtual std::string_view registered_name() const { return ""; }
  // The names that files have instead of these three: those of the file that the layer is from.
  const std::optional<SavedClass>& saved_class() const { return saved_class_; }
  void set_saved_class(SavedClass names) { saved_class_ = std::move(names); }

  // Keras's config: name, trainable, dtype and the layer's own.
  virtual Json get_config() const;
  virtual Json own_config() const { return Json::object(); }
  // A layer with the same config and weights of its own; callables are copied, not serialised.
  virtual LayerPtr fresh_copy() const = 0;

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

  // Makes the weights. Called once, with the shapes of the tensors of the positional arguments.
  virtual void build(const Shapes& inputs) { (void)inputs; }
  void ensure_built(const Shapes& inputs);
  const Shapes& built_with() const { return built_with_; }  // the shapes `build` saw
  // The shapes of the outputs for inputs of these shapes. Nothing is built by it.
  Shapes compute_output_shape(const Shapes& inputs) const;
  // Its name behind those of the layers in whose `build` it was built: "encoder/dense". Empty
  // before.
  std::string path() const;

  // What it keeps in a file beside its weights; the names of what it would read; and reading it.
  // Tensors lie beside the layer's weights, as after Keras's save_own_variables, and files in its
  // folder of assets, as after save_assets.
  virtual LayerAssets assets() const { return {}; }
  virtual LayerAssets expected_assets() const { return {}; }
  virtual void load_assets(const LayerAssets& assets) { (void)assets; }

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
  // The tensors of the first call: one, or a list. An error if it was never called.
  Symbols input() const;
  Symbols output() const;

 protected:
  explicit Layer(std::string_view class_name, LayerOptions options)
      : LayerState(class_name, std::move(options)) {}

  void set_input_spec(std::vector<InputSpec> specs) { input_specs_ = std::move(specs); }
  void set_min_masks(size_t count) { min_masks_ = count; }
  // A node that is not the result of a call: that of an input layer.
  NodePtr add_node(Arguments<SymbolicTensor> arguments, std::vector<OutputSpec> outputs);

 private:
  std::vector<InputSpec> input_specs_;
  std::optional<size_t> min_masks_;
  Shapes built_with_;
  std::string path_;
  std::optional<SavedClass> saved_class_;
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

// A layer whose call has `training=True` as its default in Keras, such as an augmentation. Keras
// writes that flag into files though nobody set it, and `fit` and `predict` override it.
class KERATIN_API TrainsByDefault {
 public:
  virtual ~TrainsByDefault() = default;
};

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
