#pragma once

#include "keratin/base/export.h"
#include "keratin/layers/spatial.h"

// Layers that remove elements at the borders of the spatial axes, or add zeros there.
namespace keratin {

template <size_t n>
struct KERATIN_API CroppingConfig {
  Borders<n> cropping = n == 2 ? 0 : 1;
  std::string data_format = "channels_last";

  static constexpr std::string_view keras_name = n == 2 ? "Cropping2D" : "Cropping3D";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields = field_list(field("cropping", &CroppingConfig::cropping),
                                            field("data_format", &CroppingConfig::data_format));
};
template <>
struct KERATIN_API CroppingConfig<1> {
  Borders<1> cropping = 1;
  static constexpr std::string_view data_format = "channels_last";

  static constexpr std::string_view keras_name = "Cropping1D";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields = field_list(field("cropping", &CroppingConfig::cropping));
};

template <size_t n>
class KERATIN_API CroppingLayer final : public LayerOf<CroppingLayer<n>, CroppingConfig<n>> {
 public:
  CroppingLayer(CroppingConfig<n> config, LayerOptions options);
  Results call(const Call& c) const override;
};

template <size_t n>
struct KERATIN_API ZeroPaddingConfig {
  Borders<n> padding = 1;
  std::string data_format = "channels_last";

  static constexpr std::string_view keras_name =
      n == 1 ? "ZeroPadding1D" : (n == 2 ? "ZeroPadding2D" : "ZeroPadding3D");
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields = field_list(field("padding", &ZeroPaddingConfig::padding),
                                            field("data_format", &ZeroPaddingConfig::data_format));
};

template <size_t n>
class KERATIN_API ZeroPaddingLayer final
    : public LayerOf<ZeroPaddingLayer<n>, ZeroPaddingConfig<n>> {
 public:
  ZeroPaddingLayer(ZeroPaddingConfig<n> config, LayerOptions options);
  Results call(const Call& c) const override;
};

extern template class CroppingLayer<1>;
extern template class CroppingLayer<2>;
extern template class CroppingLayer<3>;
extern template class ZeroPaddingLayer<1>;
extern template class ZeroPaddingLayer<2>;
extern template class ZeroPaddingLayer<3>;

using Cropping1D = Shared<CroppingLayer<1>>;
using Cropping2D = Shared<CroppingLayer<2>>;
using Cropping3D = Shared<CroppingLayer<3>>;
using ZeroPadding1D = Shared<ZeroPaddingLayer<1>>;
using ZeroPadding2D = Shared<ZeroPaddingLayer<2>>;
using ZeroPadding3D = Shared<ZeroPaddingLayer<3>>;

}  // namespace keratin
