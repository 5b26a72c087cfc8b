#include "keratin/layers/attention_masks.h"

#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/positions.h"

namespace keratin::attention {
namespace {

Value rows(Value query) { return ops::reshape(ops::positions(query, 1), {1, ops::infer_size, 1}); }
Value columns(Value key) { return ops::reshape(ops::positions(key, 1), {1, 1, ops::infer_size}); }

}  // namespace

Value causal_mask(Value query, Value key) { return rows(query) >= columns(key); }

Value window_mask(Value query, Value key, int64_t window) {
  return ops::abs(rows(query) - columns(key)) < static_cast<double>(window);
}

Value both(Value a, Value b) {
  if (!a.defined()) return b;
  return b.defined() ? a & b : a;
}

}  // namespace keratin::attention
