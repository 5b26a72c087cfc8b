#pragma once

#include "keratin/plan/backend.h"

// Layer and rms norm over the last axes, batch norm with the channels last; the rest is decomposed.
namespace keratin::cpu {

bool claims_layer_norm(const Node& node);
Offer make_layer_norm(const Node& node, const KernelOptions& options);  // and rms_norm
Offer make_layer_norm_grad(const Node& node, const KernelOptions& options);

bool claims_batch_norm(const Node& node);
Offer make_batch_norm_training(const Node& node, const KernelOptions& options);
Offer make_batch_norm_inference(const Node& node, const KernelOptions& options);
Offer make_batch_norm_grad(const Node& node, const KernelOptions& options);

}  // namespace keratin::cpu
