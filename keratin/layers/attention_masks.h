#pragma once

#include "keratin/graph/config.h"

// Who may look at whom in attention: booleans that broadcast to [batch, queries, keys].
namespace keratin::attention {

// Query t sees the keys 0 … t: [1, queries, keys]. Both tensors are [batch, time, …].
Value causal_mask(Value query, Value key);
// Query t sees the keys nearer than `window`: likewise.
Value window_mask(Value query, Value key, int64_t window);

// Both, where there are two.
Value both(Value a, Value b);

}  // namespace keratin::attention
