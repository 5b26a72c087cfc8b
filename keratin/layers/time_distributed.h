#pragma once

#include "keratin/base/export.h"
#include "keratin/graph/config.h"

namespace keratin {

struct KERATIN_API TimeDistributedConfig {
  LayerPtr layer = {};

  static constexpr std::string_view keras_name = "TimeDistributed";
  static constexpr auto call_arguments = arguments_of_call("inputs", "training", "mask");
  static constexpr auto fields = field_list(field("layer", &TimeDistributedConfig::layer));
};

// Applies a layer or model to every step of a sequence: y[:, t] = layer(x[:, t]).
class KERATIN_API TimeDistributedLayer final
    : public LayerOf<TimeDistributedLayer, TimeDistributedConfig>,
      public CallsLayers {
 public:
  TimeDistributedLayer(TimeDistributedConfig config, LayerOptions options);

  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;
  // In Keras 2, the mask that the inner layer computes; in Keras 3, the one of the input.
  Tree<Traced> call_layers(const Call& call, const Call& for_masks) const override;
  bool places_layers() const override { return false; }
  bool supports_masking() const override { return true; }
  bool takes_mask() const override { return true; }

 private:
  Results on(const Call& c, Value x, Value mask) const;
  Results on_all_steps(const Call& c, Value x, Value mask) const;
  Results on_each_step(const Call& c, Value x, Value mask) const;
  Results on_unknown_steps(const Call& c, Value x, Value mask) const;
};

using TimeDistributed = Shared<TimeDistributedLayer>;

}  // namespace keratin
