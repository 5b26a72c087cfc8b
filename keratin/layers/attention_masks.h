#pragma once

#include "keratin/graph/config.h"

// Which keys a query attends to: booleans that broadcast to [batch, queries, keys].
namespace keratin::attention {

// Query t attends to the keys 0 … t: [1, queries, keys]. Both tensors are [batch, time, …].
Value causal_mask(Value query, Value key);
// Query t attends to the keys that are less than `window` steps away: [1, queries, keys].
Value window_mask(Value query, Value key, int64_t window);

// The conjunction of two masks, either of which may be undefined.
Value both(Value a, Value b);

}  // namespace keratin::attention
