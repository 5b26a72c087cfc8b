#pragma once

#include <string>

#include "keratin/base/export.h"
#include "keratin/base/fields.h"
#include "keratin/ir/value.h"
#include "keratin/ops/window.h"

// Pooling over the 1 to 3 spatial axes of [batch, spatial…, channels], for each channel.
namespace keratin::ops {

struct KERATIN_API PoolAttrs {
  Dims window;                    // one size per spatial axis
  Dims strides;                   // empty: the window
  std::string padding = "valid";  // "valid" or "same"
  Dims sizes;                     // of the gradient ops: the spatial sizes of the input
  static constexpr auto fields =
      field_list(field("window", &PoolAttrs::window), field("strides", &PoolAttrs::strides),
                 field("padding", &PoolAttrs::padding), field("sizes", &PoolAttrs::sizes));
};

// Each window's largest element (NaN wins). Padding is never the largest.
KERATIN_API Value max_pool(Value x, PoolAttrs attrs,
                           const std::string& data_format = "channels_last");
// The largest elements and their positions in the window, in row-major order; of equal elements,
// the first; u8, or i32 when a window has more than 256 elements.
struct MaxPool {
  Value y;
  Value where;
};
KERATIN_API MaxPool max_pool_where(Value x, PoolAttrs attrs);
// x[i] = Σ of the dy whose window found its largest element at i: the gradient of max_pool.
KERATIN_API Value max_unpool(Value dy, Value where, PoolAttrs attrs);
// y[o] = x at the element of window o that `where` names: the gradient of max_unpool.
KERATIN_API Value max_repool(Value x, Value where, PoolAttrs attrs);

// Each window's mean; padding does not count.
KERATIN_API Value avg_pool(Value x, PoolAttrs attrs,
                           const std::string& data_format = "channels_last");
// x[i] = Σ over the windows o that contain i of dy[o] / (how many elements o has).
KERATIN_API Value avg_pool_grad(Value dy, PoolAttrs attrs);

// Over all spatial axes; with keepdims these stay, with size 1.
KERATIN_API Value global_max_pool(Value x, bool keepdims = false,
                                  const std::string& data_format = "channels_last");
KERATIN_API Value global_avg_pool(Value x, bool keepdims = false,
                                  const std::string& data_format = "channels_last");

// The sizes of a pooling node (any of the five ops), for backends.
struct KERATIN_API PoolGeometry {
  int64_t batch = 0;
  int64_t channels = 0;
  int64_t spatial = 1;  // how many axes
  WindowAxes axes;      // the last `spatial` ones matter

  Shape input() const;
  Shape output() const;
};
KERATIN_API PoolGeometry pool_geometry(const Node& n);

}  // namespace keratin::ops
