#pragma once

#include "keratin/plan/backend.h"

// Recurrent layers over a sequence, f32 and f64; other types are decomposed.
namespace keratin::cpu {

bool claims_recurrent(const Node& node);
Offer make_lstm(const Node& node, const KernelOptions& options);
Offer make_lstm_grad(const Node& node, const KernelOptions& options);
Offer make_gru(const Node& node, const KernelOptions& options);
Offer make_gru_grad(const Node& node, const KernelOptions& options);

}  // namespace keratin::cpu
