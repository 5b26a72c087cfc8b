#pragma once

#include "keratin/base/export.h"
#include "keratin/graph/config.h"

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

}  // namespace keratin
