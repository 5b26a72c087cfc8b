#pragma once

#include "keratin/base/export.h"
#include "keratin/graph/config.h"
#include "keratin/layers/shared_fields.h"

// Layers that add noise to their input in training, and return it unchanged in inference. Each has
// a stream of random numbers of its own, which starts at its seed and advances with every call.
namespace keratin {

using NoiseShape = std::optional<OpenDims>;

// What they share: masks pass through, and there is a seed if the rate is not 0.
template <class Derived, class Config>
class KERATIN_API NoiseLayerOf : public LayerOf<Derived, Config> {
 public:
  bool supports_masking() const override { return true; }

 protected:
  NoiseLayerOf(Config config, LayerOptions options, double amount)
      : LayerOf<Derived, Config>(std::move(config), std::move(options)), amount_(amount) {
    if (amount > 0) seed_ = this->add_seed(this->cfg.seed);
    this->set_built();
  }

  bool active(const Call& c) const { return c.training() && amount_ > 0; }
  Variable seed_;

 private:
  double amount_;
};

struct KERATIN_API DropoutConfig {
  double rate = 0;
  std::optional<int64_t> seed = {};
  NoiseShape noise_shape =
      {};  // 1 where elements along an axis share their fate; default: the input's shape

  static constexpr std::string_view keras_name = "Dropout";
  static constexpr auto call_arguments = arguments_of_call("inputs", "training");
  static constexpr auto fields =
      field_list(field("rate", &DropoutConfig::rate), field("seed", &DropoutConfig::seed),
                 field("noise_shape", &DropoutConfig::noise_shape));
};

// Zero with probability `rate`, else x / (1 - rate).
class KERATIN_API DropoutLayer final : public NoiseLayerOf<DropoutLayer, DropoutConfig> {
 public:
  DropoutLayer(DropoutConfig config, LayerOptions options);
  Results call(const Call& c) const override;
};

template <int n>
struct KERATIN_API SpatialDropoutConfig {
  double rate = 0;
  std::optional<int64_t> seed = {};
  std::string data_format = "channels_last";

  static constexpr std::string_view keras_name = n == 2 ? "SpatialDropout2D" : "SpatialDropout3D";
  static constexpr auto call_arguments = arguments_of_call("inputs", "training");
  static constexpr auto fields = field_list(
      field("rate", &SpatialDropoutConfig::rate), field("seed", &SpatialDropoutConfig::seed),
      field("data_format", &SpatialDropoutConfig::data_format));
};
template <>
struct KERATIN_API SpatialDropoutConfig<1> {
  double rate = 0;
  std::optional<int64_t> seed = {};
  static constexpr std::string_view data_format = "channels_last";

  static constexpr std::string_view keras_name = "SpatialDropout1D";
  static constexpr auto call_arguments = arguments_of_call("inputs", "training");
  static constexpr auto fields = field_list(field("rate", &SpatialDropoutConfig::rate),
                                            field("seed", &SpatialDropoutConfig::seed));
};

// Dropout of whole channels.
template <int n>
class KERATIN_API SpatialDropoutLayer final
    : public NoiseLayerOf<SpatialDropoutLayer<n>, SpatialDropoutConfig<n>> {
 public:
  SpatialDropoutLayer(SpatialDropoutConfig<n> config, LayerOptions options);
  Results call(const Call& c) const override;
  // Keras writes the dtype as a plain name here, and leaves out `trainable`.
  Json get_config() const override;
};

struct KERATIN_API AlphaDropoutConfig {
  double rate = 0;
  std::optional<int64_t> seed = {};
  NoiseShape noise_shape = {};

  static constexpr std::string_view keras_name = "AlphaDropout";
  static constexpr auto call_arguments = arguments_of_call("inputs", "training");
  static constexpr auto fields =
      field_list(field("rate", &AlphaDropoutConfig::rate), field("seed", &AlphaDropoutConfig::seed),
                 field("noise_shape", &AlphaDropoutConfig::noise_shape));
};

// Sets elements to the lowest value of selu and rescales, which keeps mean and variance.
class KERATIN_API AlphaDropoutLayer final
    : public NoiseLayerOf<AlphaDropoutLayer, AlphaDropoutConfig> {
 public:
  AlphaDropoutLayer(AlphaDropoutConfig config, LayerOptions options);
  Results call(const Call& c) const override;
};

struct KERATIN_API GaussianDropoutConfig {
  double rate = 0;
  std::optional<int64_t> seed = {};

  static constexpr std::string_view keras_name = "GaussianDropout";
  static constexpr auto call_arguments = arguments_of_call("inputs", "training");
  static constexpr auto fields = field_list(field("rate", &GaussianDropoutConfig::rate),
                                            field("seed", &GaussianDropoutConfig::seed));
};

// x times normal noise of mean 1 and variance rate / (1 - rate).
class KERATIN_API GaussianDropoutLayer final
    : public NoiseLayerOf<GaussianDropoutLayer, GaussianDropoutConfig> {
 public:
  GaussianDropoutLayer(GaussianDropoutConfig config, LayerOptions options);
  Results call(const Call& c) const override;
};

struct KERATIN_API GaussianNoiseConfig {
  double stddev = 0;
  std::optional<int64_t> seed = {};

  static constexpr std::string_view keras_name = "GaussianNoise";
  static constexpr auto call_arguments = arguments_of_call("inputs", "training");
  static constexpr auto fields = field_list(field("stddev", &GaussianNoiseConfig::stddev),
                                            field("seed", &GaussianNoiseConfig::seed));
};

// x plus normal noise of mean 0.
class KERATIN_API GaussianNoiseLayer final
    : public NoiseLayerOf<GaussianNoiseLayer, GaussianNoiseConfig> {
 public:
  GaussianNoiseLayer(GaussianNoiseConfig config, LayerOptions options);
  Results call(const Call& c) const override;
};

extern template class SpatialDropoutLayer<1>;
extern template class SpatialDropoutLayer<2>;
extern template class SpatialDropoutLayer<3>;

using Dropout = Shared<DropoutLayer>;
using SpatialDropout1D = Shared<SpatialDropoutLayer<1>>;
using SpatialDropout2D = Shared<SpatialDropoutLayer<2>>;
using SpatialDropout3D = Shared<SpatialDropoutLayer<3>>;
using AlphaDropout = Shared<AlphaDropoutLayer>;
using GaussianDropout = Shared<GaussianDropoutLayer>;
using GaussianNoise = Shared<GaussianNoiseLayer>;

struct KERATIN_API ActivityRegularizationConfig {
  double l1 = 0;
  double l2 = 0;

  static constexpr std::string_view keras_name = "ActivityRegularization";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields = field_list(field("l1", &ActivityRegularizationConfig::l1),
                                            field("l2", &ActivityRegularizationConfig::l2));
};

// Returns its input, and adds l1 · Σ|x| + l2 · Σx², per sample, to the losses.
class KERATIN_API ActivityRegularizationLayer final
    : public LayerOf<ActivityRegularizationLayer, ActivityRegularizationConfig> {
 public:
  ActivityRegularizationLayer(ActivityRegularizationConfig config, LayerOptions options);

  Results call(const Call& c) const override;
  bool supports_masking() const override { return true; }
  // Not the activity regularizer: l1 and l2 already say it.
  Json get_config() const override;
};

using ActivityRegularization = Shared<ActivityRegularizationLayer>;

}  // namespace keratin
