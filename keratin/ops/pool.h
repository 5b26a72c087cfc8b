#pragma once

#include <string>

#include "keratin/ir/node.h"
#include "keratin/ops/window.h"

#pragma GCC visibility push(default)

// Pooling over the 1 to 3 spatial axes of [batch, spatial…, channels], each channel by itself.
namespace keratin::ops {

struct PoolAttrs {
  Dims window;                    // one size per spatial axis
  Dims strides;                   // empty: the window
  std::string padding = "valid";  // "valid" or "same"
  Dims sizes;                     // of the gradient ops: the spatial sizes of the input
  static constexpr auto fields =
      field_list(field("window", &PoolAttrs::window), field("strides", &PoolAttrs::strides),
                 field("padding", &PoolAttrs::padding), field("sizes", &PoolAttrs::sizes));
};

// Each window's largest element (NaN wins). Padding never does.
Value max_pool(Value x, PoolAttrs attrs, const std::string& data_format = "channels_last");
// The largest elements and where they lie: the position in the window, row by row, of the first of
// equals; u8, or i32 when a window has more than 256 elements.
struct MaxPool {
  Value y;
  Value where;
};
MaxPool max_pool_where(Value x, PoolAttrs attrs);
// x[i] = Σ of the dy whose window found its largest element at i: the gradient of max_pool.
Value max_unpool(Value dy, Value where, PoolAttrs attrs);
// y[o] = x at the element of window o that `where` names: the gradient of max_unpool.
Value max_repool(Value x, Value where, PoolAttrs attrs);

// Each window's mean; padding does not count.
Value avg_pool(Value x, PoolAttrs attrs, const std::string& data_format = "channels_last");
// x[i] = Σ over the windows o that contain i of dy[o] / (how many elements o has).
Value avg_pool_grad(Value dy, PoolAttrs attrs);

// Over all of space; with keepdims the spatial axes stay, of size 1.
Value global_max_pool(Value x, bool keepdims = false,
                      const std::string& data_format = "channels_last");
Value global_avg_pool(Value x, bool keepdims = false,
                      const std::string& data_format = "channels_last");

// What a backend must know of a pooling node (any of the five ops).
struct PoolGeometry {
  int64_t batch = 0;
  int64_t channels = 0;
  int64_t spatial = 1;  // how many axes
  WindowAxes axes;      // the last `spatial` ones matter

  Shape input() const;
  Shape output() const;
};
PoolGeometry pool_geometry(const Node& n);

}  // namespace keratin::ops

#pragma GCC visibility pop
