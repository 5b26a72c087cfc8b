#pragma once

#include "keratin/backend/cuda/source.h"

namespace keratin::cuda {

// Is it attention, or its gradient, that a kernel of ours can do?
bool fits_attention(const Node& node);
bool fits_attention_grad(const Node& node);

// Products of f32 take 11 significant bits with `tf32`, all of them without.
Source attention_text(const Node& node, bool tf32);

}  // namespace keratin::cuda
