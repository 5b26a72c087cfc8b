#pragma once

#include "keratin/base/export.h"
#include "keratin/layers/rnn.h"

namespace keratin {

struct KERATIN_API BidirectionalConfig {
  LayerPtr layer = {};
  // How the two outputs become one: "concat", "sum", "mul", "ave"; null: they are two outputs.
  Json merge_mode = "concat";
  LayerPtr backward_layer = {};  // the same layer the other way round, unless given

  static constexpr std::string_view keras_name = "Bidirectional";
  static constexpr auto call_arguments =
      arguments_of_call("sequences", "initial_state", "mask", "training");
  static constexpr auto fields =
      field_list(field("merge_mode", &BidirectionalConfig::merge_mode),
                 field("layer", &BidirectionalConfig::layer),
                 field("backward_layer", &BidirectionalConfig::backward_layer));
};

// A recurrent layer from both ends of a sequence. The layer given is copied: it keeps its own
// weights. Outputs of masked steps are zeros where sequences are returned, as Keras has it.
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
