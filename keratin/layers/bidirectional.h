#pragma once

#include "keratin/base/export.h"
#include "keratin/layers/rnn.h"

namespace keratin {

struct KERATIN_API BidirectionalConfig {
  LayerPtr layer = {};
  // How the outputs of the two directions are merged: "concat", "sum", "mul", "ave"; null: not.
  Json merge_mode = "concat";
  LayerPtr backward_layer = {};  // default: a copy of the layer that goes backwards

  static constexpr std::string_view keras_name = "Bidirectional";
  static constexpr auto call_arguments =
      arguments_of_call("sequences", "initial_state", "mask", "training");
  static constexpr auto fields =
      field_list(field("merge_mode", &BidirectionalConfig::merge_mode),
                 field("layer", &BidirectionalConfig::layer),
                 field("backward_layer", &BidirectionalConfig::backward_layer));
};

// A recurrent layer applied to a sequence forwards and backwards. It is copied, and keeps its own
// weights. If sequences are returned, outputs of masked steps are zeros, as in Keras.
class KERATIN_API BidirectionalLayer final
    : public LayerOf<BidirectionalLayer, BidirectionalConfig>,
      public TakesStates {
 public:
  BidirectionalLayer(BidirectionalConfig config, LayerOptions options);

  const std::shared_ptr<RecurrentLayer>& forward_layer() const { return forward_; }
  const std::shared_ptr<RecurrentLayer>& backward_layer() const { return backward_; }
  std::vector<Variable> states() const;
  void reset_states() const;

  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;
  Masks compute_mask(const Call& c, size_t outputs) const override;
  bool supports_masking() const override { return true; }
  bool takes_mask() const override { return true; }

 private:
  void check_layers() const;

  std::shared_ptr<RecurrentLayer> forward_, backward_;
};

using Bidirectional = Shared<BidirectionalLayer>;

}  // namespace keratin
