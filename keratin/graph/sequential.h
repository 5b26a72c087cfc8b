#pragma once

#include <mutex>

#include "keratin/base/export.h"
#include "keratin/graph/functional.h"

namespace keratin {

// Layers that are called one after the other. The graph is built when the shape of the input is
// known: from an Input as first layer, or from the first call.
class KERATIN_API SequentialLayer final : public ModelLayer {
 public:
  SequentialLayer(std::vector<LayerPtr> layers, LayerOptions options);

  std::string_view class_name() const override { return "Sequential"; }
  std::string_view module() const override { return "keras"; }
  Json get_config() const override;
  static LayerPtr from_config(const Json& config, const ConfigContext& context);
  LayerPtr fresh_copy() const override;

  void add(LayerPtr layer);
  void pop();

  void build(const Shapes& inputs) override;
  Tree<Traced> call_layers(const Call& call, const Call& for_masks) const override;

  // Without the input layer, which exists only if one was given or the graph is built.
  std::vector<LayerPtr> layers() const override;
  std::shared_ptr<InputLayer> input_layer() const { return input_; }
  // The graph; nullptr before the shape of the input is known, or without layers.
  const FunctionalLayer* functional() const;

 private:
  void start();  // calls the layers on the input

  std::shared_ptr<InputLayer> input_;
  std::vector<LayerPtr> layers_;
  SymbolicTensor head_;
  std::vector<Symbols> outputs_;  // of each layer
  mutable std::mutex lock_;       // guards functional_, which is made when it is first used
  mutable std::shared_ptr<FunctionalLayer> functional_;
};

}  // namespace keratin
