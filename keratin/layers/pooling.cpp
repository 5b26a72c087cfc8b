#include "keratin/layers/pooling.h"

#include "keratin/layers/windows.h"
#include "keratin/ops/pool.h"

namespace keratin {

template <int rank, Pool pool>
PoolingLayer<rank, pool>::PoolingLayer(PoolingConfig<rank, pool> config, LayerOptions options)
    : LayerOf<PoolingLayer, PoolingConfig<rank, pool>>(std::move(config), std::move(options)) {
  cfg.pool_size = windows::sizes(cfg.pool_size, rank, "pool_size");
  cfg.strides = windows::sizes(cfg.strides.value_or(cfg.pool_size), rank, "strides");
  cfg.padding = windows::padding(cfg.padding);
  cfg.data_format = windows::data_format(cfg.data_format);
  this->set_input_spec({{.ndim = rank + 2}});
  this->set_built();
}

template <int rank, Pool pool>
Results PoolingLayer<rank, pool>::call(const Call& c) const {
  const Value x = pool == Pool::max ? c.input() : c.float_input();
  windows::check_fits(x.shape(),
                      {"pool_size", cfg.pool_size, *cfg.strides, {}, cfg.padding, cfg.data_format});
  const ops::PoolAttrs attrs{
      .window = cfg.pool_size.dims(), .strides = cfg.strides->dims(), .padding = cfg.padding};
  return pool == Pool::max ? ops::max_pool(x, attrs, cfg.data_format)
                           : ops::avg_pool(x, attrs, cfg.data_format);
}

template class PoolingLayer<1, Pool::max>;
template class PoolingLayer<2, Pool::max>;
template class PoolingLayer<3, Pool::max>;
template class PoolingLayer<1, Pool::average>;
template class PoolingLayer<2, Pool::average>;
template class PoolingLayer<3, Pool::average>;

}  // namespace keratin
