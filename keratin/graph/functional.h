#pragma once

#include "keratin/base/export.h"
#include "keratin/graph/config.h"
#include "keratin/graph/input.h"

namespace keratin {

struct Topology;

namespace detail {

// The layer of that name, or at that index; errors in Keras's words.
KERATIN_API LayerPtr find_layer(const std::vector<LayerPtr>& layers, const std::string& name);
KERATIN_API LayerPtr find_layer(const std::vector<LayerPtr>& layers, size_t index);

}  // namespace detail

// A layer made of layers, which users see as a model.
class KERATIN_API ModelLayer : public Layer, public CallsLayers {
 public:
  // The layers it lists, as Keras does.
  virtual std::vector<LayerPtr> layers() const = 0;
  std::vector<Sublayer> sublayers() const override;
  LayerPtr get_layer(const std::string& name) const { return detail::find_layer(layers(), name); }
  LayerPtr get_layer(size_t index) const { return detail::find_layer(layers(), index); }

  Dialect dialect() const { return dialect_; }
  virtual void set_dialect(Dialect dialect) {
    dialect_ = dialect;
    mark_changed();
  }
  Results call(const Call& c) const override;
  bool supports_masking() const override { return true; }
  bool takes_mask() const override { return true; }
  std::vector<std::string_view> call_arguments() const override {
    return {"inputs", "training", "mask"};
  }
  bool autocasts() const override { return false; }

 protected:
  using Layer::Layer;
  Dialect dialect_ = Dialect::keras3;
};

// The graph between some inputs and outputs, as a layer.
class KERATIN_API FunctionalLayer final : public ModelLayer {
 public:
  FunctionalLayer(Symbols inputs, Symbols outputs, LayerOptions options);
  static std::shared_ptr<FunctionalLayer> make(Symbols inputs, Symbols outputs,
                                               LayerOptions options = {});

  std::string_view class_name() const override { return "Functional"; }
  std::string_view module() const override { return "keras.src.models.functional"; }
  std::string_view registered_name() const override { return "Functional"; }
  Json get_config() const override;
  static LayerPtr from_config(const Json& config, const ConfigContext& context);
  LayerPtr fresh_copy() const override;
  // Keras 2 refuses a model that loses a mask when the model is built, not only when it runs.
  void set_dialect(Dialect dialect) override;

  Tree<Traced> call_layers(const Call& call, const Call& for_masks) const override;

  std::vector<LayerPtr> layers() const override;
  // The layers and, among them, the ops.
  const std::vector<LayerPtr>& operations() const;
  const Topology& topology() const { return *topology_; }
  const Symbols& input() const { return inputs_; }
  const Symbols& output() const { return outputs_; }
  std::vector<SymbolicTensor> inputs() const { return inputs_.flat(); }
  std::vector<SymbolicTensor> outputs() const { return outputs_.flat(); }

 private:
  Symbols inputs_, outputs_;
  std::shared_ptr<const Topology> topology_;
};

namespace detail {

// Calls `substitute(layer)` of every layer of a graph on other tensors, to clone a model. Each call
// is made by `call(layer, arguments)`, if given.
using Substitute = std::function<LayerPtr(const LayerPtr&)>;
using CallLayer = std::function<Symbols(const LayerPtr&, Arguments<SymbolicTensor>)>;
KERATIN_API Symbols rebuild(const FunctionalLayer& model, const Symbols& inputs,
                            const Substitute& substitute, const CallLayer& call = {});

// New inputs like the model's: same structure, shapes, names and flags.
KERATIN_API Symbols fresh_inputs(const FunctionalLayer& model);

}  // namespace detail

}  // namespace keratin
