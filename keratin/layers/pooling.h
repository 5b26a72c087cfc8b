#pragma once

#include <array>

#include "keratin/base/export.h"
#include "keratin/graph/config.h"

namespace keratin {

enum class Pool : uint8_t { max, average };

template <int rank, Pool pool>
struct KERATIN_API PoolingConfig {
  Sizes pool_size = 2;
  std::optional<Sizes> strides = {};  // default: the pool size
  std::string padding = "valid";      // or same
  std::string data_format = "channels_last";

  static constexpr std::string_view keras_name =
      pool == Pool::max
          ? std::array{"MaxPooling1D", "MaxPooling2D", "MaxPooling3D"}[rank - 1]
          : std::array{"AveragePooling1D", "AveragePooling2D", "AveragePooling3D"}[rank - 1];
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields = field_list(
      field("pool_size", &PoolingConfig::pool_size), field("padding", &PoolingConfig::padding),
      field("strides", &PoolingConfig::strides), field("data_format", &PoolingConfig::data_format));
};

// The maximum or the mean of each window, without padding.
template <int rank, Pool pool>
class KERATIN_API PoolingLayer final
    : public LayerOf<PoolingLayer<rank, pool>, PoolingConfig<rank, pool>> {
 public:
  PoolingLayer(PoolingConfig<rank, pool> config, LayerOptions options);

  Results call(const Call& c) const override;

 private:
  using LayerOf<PoolingLayer, PoolingConfig<rank, pool>>::cfg;
};

extern template class PoolingLayer<1, Pool::max>;
extern template class PoolingLayer<2, Pool::max>;
extern template class PoolingLayer<3, Pool::max>;
extern template class PoolingLayer<1, Pool::average>;
extern template class PoolingLayer<2, Pool::average>;
extern template class PoolingLayer<3, Pool::average>;

using MaxPooling1D = Shared<PoolingLayer<1, Pool::max>>;
using MaxPooling2D = Shared<PoolingLayer<2, Pool::max>>;
using MaxPooling3D = Shared<PoolingLayer<3, Pool::max>>;
using AveragePooling1D = Shared<PoolingLayer<1, Pool::average>>;
using AveragePooling2D = Shared<PoolingLayer<2, Pool::average>>;
using AveragePooling3D = Shared<PoolingLayer<3, Pool::average>>;

template <int rank, Pool pool>
struct KERATIN_API GlobalPoolingConfig {
  std::string data_format = "channels_last";
  bool keepdims = false;  // keep the spatial axes, with size 1

  static constexpr std::string_view keras_name =
      pool == Pool::max
          ? std::array{"GlobalMaxPooling1D", "GlobalMaxPooling2D", "GlobalMaxPooling3D"}[rank - 1]
          : std::array{"GlobalAveragePooling1D", "GlobalAveragePooling2D",
                       "GlobalAveragePooling3D"}[rank - 1];
  static constexpr auto fields = field_list(field("data_format", &GlobalPoolingConfig::data_format),
                                            field("keepdims", &GlobalPoolingConfig::keepdims));
};

// The maximum or mean of each channel over all spatial positions. GlobalAveragePooling1D leaves
// masked steps out, and gives no mask; the others do not support masks.
template <int rank, Pool pool>
class KERATIN_API GlobalPoolingLayer final
    : public LayerOf<GlobalPoolingLayer<rank, pool>, GlobalPoolingConfig<rank, pool>> {
 public:
  GlobalPoolingLayer(GlobalPoolingConfig<rank, pool> config, LayerOptions options);

  Results call(const Call& c) const override;
  Masks compute_mask(const Call&, size_t outputs) const override { return Masks(outputs); }
  bool supports_masking() const override { return masked; }
  bool takes_mask() const override { return masked; }
  std::vector<std::string_view> call_arguments() const override {
    if (masked) return {"inputs", "mask"};
    return {"inputs"};
  }

 private:
  static constexpr bool masked = rank == 1 && pool == Pool::average;
  using LayerOf<GlobalPoolingLayer, GlobalPoolingConfig<rank, pool>>::cfg;
};

extern template class GlobalPoolingLayer<1, Pool::max>;
extern template class GlobalPoolingLayer<2, Pool::max>;
extern template class GlobalPoolingLayer<3, Pool::max>;
extern template class GlobalPoolingLayer<1, Pool::average>;
extern template class GlobalPoolingLayer<2, Pool::average>;
extern template class GlobalPoolingLayer<3, Pool::average>;

using GlobalMaxPooling1D = Shared<GlobalPoolingLayer<1, Pool::max>>;
using GlobalMaxPooling2D = Shared<GlobalPoolingLayer<2, Pool::max>>;
using GlobalMaxPooling3D = Shared<GlobalPoolingLayer<3, Pool::max>>;
using GlobalAveragePooling1D = Shared<GlobalPoolingLayer<1, Pool::average>>;
using GlobalAveragePooling2D = Shared<GlobalPoolingLayer<2, Pool::average>>;
using GlobalAveragePooling3D = Shared<GlobalPoolingLayer<3, Pool::average>>;

template <int rank, Pool pool>
struct KERATIN_API AdaptivePoolingConfig {
  Sizes output_size = 1;  // of the spatial axes
  std::string data_format = "channels_last";

  static constexpr std::string_view keras_name =
      pool == Pool::max ? std::array{"AdaptiveMaxPooling1D", "AdaptiveMaxPooling2D",
                                     "AdaptiveMaxPooling3D"}[rank - 1]
                        : std::array{"AdaptiveAveragePooling1D", "AdaptiveAveragePooling2D",
                                     "AdaptiveAveragePooling3D"}[rank - 1];
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields =
      field_list(field("output_size", &AdaptivePoolingConfig::output_size),
                 field("data_format", &AdaptivePoolingConfig::data_format));
};

// The maximum or the mean of windows that cover each spatial axis evenly, as many as the output is
// long. Windows overlap where the sizes do not divide.
template <int rank, Pool pool>
class KERATIN_API AdaptivePoolingLayer final
    : public LayerOf<AdaptivePoolingLayer<rank, pool>, AdaptivePoolingConfig<rank, pool>> {
 public:
  AdaptivePoolingLayer(AdaptivePoolingConfig<rank, pool> config, LayerOptions options);

  Results call(const Call& c) const override;

 private:
  using LayerOf<AdaptivePoolingLayer, AdaptivePoolingConfig<rank, pool>>::cfg;
};

extern template class AdaptivePoolingLayer<1, Pool::max>;
extern template class AdaptivePoolingLayer<2, Pool::max>;
extern template class AdaptivePoolingLayer<3, Pool::max>;
extern template class AdaptivePoolingLayer<1, Pool::average>;
extern template class AdaptivePoolingLayer<2, Pool::average>;
extern template class AdaptivePoolingLayer<3, Pool::average>;

using AdaptiveMaxPooling1D = Shared<AdaptivePoolingLayer<1, Pool::max>>;
using AdaptiveMaxPooling2D = Shared<AdaptivePoolingLayer<2, Pool::max>>;
using AdaptiveMaxPooling3D = Shared<AdaptivePoolingLayer<3, Pool::max>>;
using AdaptiveAveragePooling1D = Shared<AdaptivePoolingLayer<1, Pool::average>>;
using AdaptiveAveragePooling2D = Shared<AdaptivePoolingLayer<2, Pool::average>>;
using AdaptiveAveragePooling3D = Shared<AdaptivePoolingLayer<3, Pool::average>>;

}  // namespace keratin
