#pragma once

#include <mutex>

#include "keratin/base/export.h"
#include "keratin/graph/functional.h"

namespace keratin {

// Layers one after the other. Its graph is built when the shape of the input is known: from an
// Input at its head, or from the first call.
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
  Results call(const Call& c) const override;
  Tree<Traced> apply(const Call& call, const Call& for_masks) const override;

  // Without the input layer, which is there only when the graph is built or was given one.
  std::vector<LayerPtr> layers() const override;
  std::shared_ptr<InputLayer> input_layer() const { return input_; }
  // The graph, when the shape of the input is known and there are layers.
  const FunctionalLayer* functional() const;

 private:
  void start();  // calls the layers on the input

  std::shared_ptr<InputLayer> input_;
  std::vector<LayerPtr> layers_;
  SymbolicTensor head_;
  std::vector<Symbols> outputs_;  // of each layer
  mutable std::mutex lock_;       // guards the next, made when first asked for
  mutable std::shared_ptr<FunctionalLayer> functional_;
};

}  // namespace keratin
