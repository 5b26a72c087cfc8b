#pragma once

#include "keratin/base/export.h"
#include "keratin/graph/config.h"

namespace keratin {

struct KERATIN_API NormalizationConfig {
  Sizes axis = -1;  // that have their own statistics; Dims{}: one mean for all elements
  Json mean = {};   // default: computed by adapt()
  Json variance = {};
  bool invert = false;

  static constexpr std::string_view keras_name = "Normalization";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields = field_list(field("axis", &NormalizationConfig::axis),
                                            field("mean", &NormalizationConfig::mean),
                                            field("variance", &NormalizationConfig::variance),
                                            field("invert", &NormalizationConfig::invert));
};

// y = (x - mean) / max(√variance, 1e-7); inverted: x · max(√variance, 1e-7) + mean.
class KERATIN_API NormalizationLayer final
    : public LayerOf<NormalizationLayer, NormalizationConfig> {
 public:
  NormalizationLayer(NormalizationConfig config, LayerOptions options);
  static LayerPtr from_config(const Json& json, const ConfigContext& context);

  // Computes the mean and variance of data: one tensor, or batches, each weighted by its size.
  void adapt(const Tensor& data) { adapt(std::vector<Tensor>{data}); }
  void adapt(const std::vector<Tensor>& batches);

  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;
  bool supports_masking() const override { return true; }

 private:
  bool given() const { return !cfg.mean.is_null(); }
  // A statistic from the config, in a shape that broadcasts against the input.
  Tensor aligned(const Json& statistic, DType dtype) const;

  Dims keep_;       // the axes that have their own statistics, not negative
  Dims broadcast_;  // the shape of the statistics against the input
  Variable mean_, variance_, count_;
};

using Normalization = Shared<NormalizationLayer>;

}  // namespace keratin
