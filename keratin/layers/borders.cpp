#include "keratin/layers/borders.h"

#include "keratin/base/text.h"
#include "keratin/layers/windows.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/slicing.h"

namespace keratin {

template <size_t n>
CroppingLayer<n>::CroppingLayer(CroppingConfig<n> config, LayerOptions options)
    : LayerOf<CroppingLayer, CroppingConfig<n>>(std::move(config), std::move(options)) {
  auto& cfg = this->cfg;
  if constexpr (n > 1) cfg.data_format = windows::data_format(cfg.data_format);
  cfg.cropping.check("cropping", cfg.keras_name);
  this->set_input_spec({{.ndim = static_cast<int64_t>(n) + 2}});
}

template <size_t n>
Results CroppingLayer<n>::call(const Call& c) const {
  const auto& cfg = this->cfg;
  const Value x = c.input();
  const auto first = static_cast<size_t>(detail::first_spatial_axis(std::string(cfg.data_format)));
  Dims start(n + 2, 0), limit(n + 2, ops::to_end);
  for (size_t i = 0; i < n; ++i) {
    const Side& side = cfg.cropping[i];
    const int64_t size = x.shape()[static_cast<int64_t>(first + i)];
    // Not their sum, which could overflow.
    require(size == unknown || (side.before < size && side.after < size - side.before),
            n == 1 ? "`cropping` parameter of `Cropping1D` layer must be smaller than the input "
                     "length."
                   : "Values in `cropping` argument should be smaller than the corresponding "
                     "spatial dimension of the input.",
            " Received: inputs.shape=", keras_shape(x.shape()), ", cropping=", cfg.cropping.text());
    start[first + i] = side.before;
    if (side.after > 0) limit[first + i] = -side.after;
  }
  return ops::slice(x, start, limit);
}

template <size_t n>
ZeroPaddingLayer<n>::ZeroPaddingLayer(ZeroPaddingConfig<n> config, LayerOptions options)
    : LayerOf<ZeroPaddingLayer, ZeroPaddingConfig<n>>(std::move(config), std::move(options)) {
  auto& cfg = this->cfg;
  cfg.data_format = windows::data_format(cfg.data_format);
  cfg.padding.check("padding", cfg.keras_name);
  this->set_input_spec({{.ndim = static_cast<int64_t>(n) + 2}});
}

template <size_t n>
Results ZeroPaddingLayer<n>::call(const Call& c) const {
  const auto& cfg = this->cfg;
  const auto first = static_cast<size_t>(detail::first_spatial_axis(cfg.data_format));
  Dims lo(n + 2, 0), hi(n + 2, 0);
  for (size_t i = 0; i < n; ++i) {
    lo[first + i] = cfg.padding[i].before;
    hi[first + i] = cfg.padding[i].after;
  }
  return ops::pad(c.input(), {.lo = lo, .hi = hi});
}

template class CroppingLayer<1>;
template class CroppingLayer<2>;
template class CroppingLayer<3>;
template class ZeroPaddingLayer<1>;
template class ZeroPaddingLayer<2>;
template class ZeroPaddingLayer<3>;

}  // namespace keratin
