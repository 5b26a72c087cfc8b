#pragma once

#include "keratin/base/export.h"
#include "keratin/graph/config.h"
#include "keratin/layers/rnn.h"

namespace keratin {

// The base of layers that wrap another one, `layer` in their configs.
template <class Derived, class Config>
class KERATIN_API WrapperOf : public LayerOf<Derived, Config> {
 public:
  const LayerPtr& layer() const { return this->cfg.layer; }
  void build(const Shapes& inputs) override { layer()->ensure_built(inputs); }

 protected:
  WrapperOf(Config config, LayerOptions options)
      : LayerOf<Derived, Config>(std::move(config), std::move(options)) {
    detail::require(
        layer() != nullptr, "Layer None supplied to ", Config::keras_name,
        " isn't a supported layer type. Please ensure wrapped layer is a valid Keras layer.");
    this->add_sublayer("layer", layer());
  }
};

struct KERATIN_API WrapperConfig {
  LayerPtr layer = {};

  static constexpr std::string_view keras_name = "Wrapper";
  static constexpr auto fields = field_list(field("layer", &WrapperConfig::layer));
};

// Keras's abstract wrapper: it can be made, built and saved, but not called.
class KERATIN_API WrapperLayer final : public WrapperOf<WrapperLayer, WrapperConfig> {
 public:
  WrapperLayer(WrapperConfig config, LayerOptions options);
  Results call(const Call&) const override;
};

using Wrapper = Shared<WrapperLayer>;

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

struct KERATIN_API SpectralNormalizationConfig {
  LayerPtr layer = {};
  int64_t power_iterations = 1;

  static constexpr std::string_view keras_name = "SpectralNormalization";
  static constexpr auto call_arguments = arguments_of_call("inputs", "training");
  static constexpr auto fields =
      field_list(field("layer", &SpectralNormalizationConfig::layer),
                 field("power_iterations", &SpectralNormalizationConfig::power_iterations));
};

// A layer whose kernel, or table of embeddings, is divided by its largest singular value in each
// call that trains. The singular value is approximated by power iterations, which go on from call
// to call.
class KERATIN_API SpectralNormalizationLayer final
    : public WrapperOf<SpectralNormalizationLayer, SpectralNormalizationConfig> {
 public:
  SpectralNormalizationLayer(SpectralNormalizationConfig config, LayerOptions options);

  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;
  // The masks of the layer. As in Keras, they are lost where its result is cast.
  Masks compute_mask(const Call& c, size_t outputs) const override;

 private:
  void normalize(const Call& c) const;

  Variable kernel_, vector_u_;
};

using SpectralNormalization = Shared<SpectralNormalizationLayer>;

struct KERATIN_API PipelineConfig {
  std::vector<LayerPtr> layers = {};

  static constexpr std::string_view keras_name = "Pipeline";
  static constexpr auto call_arguments = arguments_of_call("inputs", "training", "mask");
  static constexpr auto fields = field_list(field("layers", &PipelineConfig::layers));
};

// Layers that run one after the other, as one layer. They may take and return dicts.
class KERATIN_API PipelineLayer final : public LayerOf<PipelineLayer, PipelineConfig>,
                                        public CallsLayers,
                                        public TrainsByDefault {
 public:
  PipelineLayer(PipelineConfig config, LayerOptions options);
  static LayerPtr from_config(const Json& json, const ConfigContext& context);
  // Keras writes the name and the layers alone.
  Json get_config() const override;

  const std::vector<LayerPtr>& layers() const { return cfg.layers; }

  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;
  Tree<Traced> call_layers(const Call& call, const Call& for_masks) const override;
  bool takes_mask() const override { return true; }
};

using Pipeline = Shared<PipelineLayer>;

}  // namespace keratin
