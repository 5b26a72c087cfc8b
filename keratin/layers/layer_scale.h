#pragma once

#include "keratin/base/export.h"
#include "keratin/graph/config.h"

namespace keratin {

struct KERATIN_API LayerScaleConfig {
  double init_values = 1e-6;
  int64_t projection_dim = 0;

  static constexpr std::string_view keras_name = "LayerScale";
  static constexpr auto call_arguments = arguments_of_call("x");
  static constexpr auto fields =
      field_list(field("init_values", &LayerScaleConfig::init_values),
                 field("projection_dim", &LayerScaleConfig::projection_dim));
};

// y = x · gamma, a weight for each feature. It is not in keras.layers: it belongs to ConvNeXt, and
// files name it by the module of that.
class KERATIN_API LayerScaleLayer final : public LayerOf<LayerScaleLayer, LayerScaleConfig> {
 public:
  LayerScaleLayer(LayerScaleConfig config, LayerOptions options);
  std::string_view module() const override { return "keras.src.applications.convnext"; }
  std::string_view registered_name() const override { return LayerScaleConfig::keras_name; }
  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;

 private:
  Variable gamma_;
};

using LayerScale = Shared<LayerScaleLayer>;

}  // namespace keratin
