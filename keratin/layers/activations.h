#pragma once

#include "keratin/base/export.h"
#include "keratin/graph/config.h"

// Activation functions as layers. Each computes element by element or along some axes, so masks
// pass through.
namespace keratin {

// What they share: they have nothing to build, and masks pass through.
template <class Derived, class Config>
class KERATIN_API ActivationLayerOf : public LayerOf<Derived, Config> {
 public:
  bool supports_masking() const override { return true; }

 protected:
  ActivationLayerOf(Config config, LayerOptions options)
      : LayerOf<Derived, Config>(std::move(config), std::move(options)) {
    this->set_built();
  }
};

struct KERATIN_API ActivationConfig {
  Activation activation;

  static constexpr std::string_view keras_name = "Activation";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields = field_list(field("activation", &ActivationConfig::activation));
};

// y = activation(x)
class KERATIN_API ActivationLayer final
    : public ActivationLayerOf<ActivationLayer, ActivationConfig> {
 public:
  ActivationLayer(ActivationConfig config, LayerOptions options);
  Results call(const Call& c) const override;
};

struct KERATIN_API ReLUConfig {
  std::optional<double> max_value = {};
  double negative_slope = 0;
  double threshold = 0;

  static constexpr std::string_view keras_name = "ReLU";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields = field_list(field("max_value", &ReLUConfig::max_value),
                                            field("negative_slope", &ReLUConfig::negative_slope),
                                            field("threshold", &ReLUConfig::threshold));
};

// y = min(x, max_value) from the threshold on, negative_slope · (x - threshold) below it.
class KERATIN_API ReLULayer final : public ActivationLayerOf<ReLULayer, ReLUConfig> {
 public:
  ReLULayer(ReLUConfig config, LayerOptions options);
  Results call(const Call& c) const override;
};

struct KERATIN_API LeakyReLUConfig {
  double negative_slope = 0.3;

  static constexpr std::string_view keras_name = "LeakyReLU";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields =
      field_list(field("negative_slope", &LeakyReLUConfig::negative_slope));
};

// y = x >= 0 ? x : negative_slope · x
class KERATIN_API LeakyReLULayer final : public ActivationLayerOf<LeakyReLULayer, LeakyReLUConfig> {
 public:
  LeakyReLULayer(LeakyReLUConfig config, LayerOptions options);
  // Keras 2 calls the slope alpha.
  static LayerPtr from_config(const Json& json, const ConfigContext& context);
  Results call(const Call& c) const override;
};

struct KERATIN_API ELUConfig {
  double alpha = 1;

  static constexpr std::string_view keras_name = "ELU";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields = field_list(field("alpha", &ELUConfig::alpha));
};

// y = x > 0 ? x : alpha · (exp x - 1)
class KERATIN_API ELULayer final : public ActivationLayerOf<ELULayer, ELUConfig> {
 public:
  ELULayer(ELUConfig config, LayerOptions options);
  Results call(const Call& c) const override;
};

struct KERATIN_API PReLUConfig {
  Initializer alpha_initializer = "zeros";
  Regularizer alpha_regularizer = {};
  Constraint alpha_constraint = {};
  std::optional<Dims> shared_axes = {};  // axes that share a slope; the batch is axis 0

  static constexpr std::string_view keras_name = "PReLU";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields =
      field_list(field("alpha_initializer", &PReLUConfig::alpha_initializer),
                 field("alpha_regularizer", &PReLUConfig::alpha_regularizer),
                 field("alpha_constraint", &PReLUConfig::alpha_constraint),
                 field("shared_axes", &PReLUConfig::shared_axes));
};

// y = x >= 0 ? x : alpha · x, with a learned alpha for each feature.
class KERATIN_API PReLULayer final : public LayerOf<PReLULayer, PReLUConfig> {
 public:
  PReLULayer(PReLUConfig config, LayerOptions options);
  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;
  bool supports_masking() const override { return true; }

 private:
  Variable alpha_;
};

struct KERATIN_API SoftmaxConfig {
  Sizes axis = -1;

  static constexpr std::string_view keras_name = "Softmax";
  static constexpr auto call_arguments = arguments_of_call("inputs", "mask");
  static constexpr auto fields = field_list(field("axis", &SoftmaxConfig::axis));
};

// softmax(x) along one or several axes. Masked elements are left out of the sum and become 0; the
// mask has the shape of x or broadcasts to it.
class KERATIN_API SoftmaxLayer final : public ActivationLayerOf<SoftmaxLayer, SoftmaxConfig> {
 public:
  SoftmaxLayer(SoftmaxConfig config, LayerOptions options);
  Results call(const Call& c) const override;
  bool takes_mask() const override { return true; }
};

using ReLU = Shared<ReLULayer>;
using LeakyReLU = Shared<LeakyReLULayer>;
using ELU = Shared<ELULayer>;
using PReLU = Shared<PReLULayer>;
using Softmax = Shared<SoftmaxLayer>;

// Keras's layers.Activation. keratin::Activation is the function.
namespace layers {
using Activation = Shared<ActivationLayer>;
}

}  // namespace keratin
