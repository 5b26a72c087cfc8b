#pragma once

#include "keratin/base/export.h"
#include "keratin/layers/spatial.h"

// Layers that enlarge the spatial axes by integer factors.
namespace keratin {

struct KERATIN_API UpSampling1DConfig {
  int64_t size = 2;

  static constexpr std::string_view keras_name = "UpSampling1D";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields = field_list(field("size", &UpSampling1DConfig::size));
};

// Repeats each timestep `size` times.
class KERATIN_API UpSampling1DLayer final : public LayerOf<UpSampling1DLayer, UpSampling1DConfig> {
 public:
  UpSampling1DLayer(UpSampling1DConfig config, LayerOptions options);
  Results call(const Call& c) const override;
};

struct KERATIN_API UpSampling2DConfig {
  Sizes size = 2;
  std::string data_format = "channels_last";
  std::string interpolation = "nearest";  // or bilinear, bicubic, lanczos3, lanczos5

  static constexpr std::string_view keras_name = "UpSampling2D";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields =
      field_list(field("size", &UpSampling2DConfig::size),
                 field("data_format", &UpSampling2DConfig::data_format),
                 field("interpolation", &UpSampling2DConfig::interpolation));
};

// Repeats each pixel, or interpolates between pixels.
class KERATIN_API UpSampling2DLayer final : public LayerOf<UpSampling2DLayer, UpSampling2DConfig> {
 public:
  UpSampling2DLayer(UpSampling2DConfig config, LayerOptions options);
  Results call(const Call& c) const override;
};

struct KERATIN_API UpSampling3DConfig {
  Sizes size = 2;
  std::string data_format = "channels_last";

  static constexpr std::string_view keras_name = "UpSampling3D";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields = field_list(field("size", &UpSampling3DConfig::size),
                                            field("data_format", &UpSampling3DConfig::data_format));
};

// Repeats each element along each axis.
class KERATIN_API UpSampling3DLayer final : public LayerOf<UpSampling3DLayer, UpSampling3DConfig> {
 public:
  UpSampling3DLayer(UpSampling3DConfig config, LayerOptions options);
  Results call(const Call& c) const override;
};

using UpSampling1D = Shared<UpSampling1DLayer>;
using UpSampling2D = Shared<UpSampling2DLayer>;
using UpSampling3D = Shared<UpSampling3DLayer>;

}  // namespace keratin
