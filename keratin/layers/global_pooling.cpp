#include "keratin/layers/pooling.h"

#include "keratin/layers/windows.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/pool.h"
#include "keratin/ops/reduce.h"

namespace keratin {
namespace {

// The mean of the steps that are not masked; NaN if all are, as in Keras.
Value masked_mean(Value x, Value mask, bool channels_first, bool keepdims) {
  const int64_t steps = channels_first ? 2 : 1;
  const Value counts = ops::expand_dims(ops::cast(mask, DType::boolean), channels_first ? 1 : 2);
  const Value kept = ops::where(counts, x, ops::scalar_like(x, 0));
  return ops::sum(kept, {steps}, keepdims) /
         ops::sum(ops::cast(counts, x.dtype()), {steps}, keepdims);
}

}  // namespace

template <int rank, Pool pool>
GlobalPoolingLayer<rank, pool>::GlobalPoolingLayer(GlobalPoolingConfig<rank, pool> config,
                                                   LayerOptions options)
    : LayerOf<GlobalPoolingLayer, GlobalPoolingConfig<rank, pool>>(std::move(config),
                                                                   std::move(options)) {
  cfg.data_format = windows::data_format(cfg.data_format);
  this->set_input_spec({{.ndim = rank + 2}});
  this->set_built();
}

template <int rank, Pool pool>
Results GlobalPoolingLayer<rank, pool>::call(const Call& c) const {
  if (pool == Pool::max) return ops::global_max_pool(c.input(), cfg.keepdims, cfg.data_format);
  const Value x = c.float_input();
  if (const auto mask = c.mask(); masked && mask)
    return masked_mean(x, *mask, cfg.data_format == "channels_first", cfg.keepdims);
  return ops::global_avg_pool(x, cfg.keepdims, cfg.data_format);
}

template class GlobalPoolingLayer<1, Pool::max>;
template class GlobalPoolingLayer<2, Pool::max>;
template class GlobalPoolingLayer<3, Pool::max>;
template class GlobalPoolingLayer<1, Pool::average>;
template class GlobalPoolingLayer<2, Pool::average>;
template class GlobalPoolingLayer<3, Pool::average>;

}  // namespace keratin
