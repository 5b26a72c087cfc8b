#pragma once

#include "keratin/base/export.h"
#include "keratin/layers/pooling.h"

namespace keratin {

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

}  // namespace keratin
