#pragma once

#include "keratin/backend/cuda/source.h"

// The texts of all ops that are no loops, by file.
namespace keratin::cuda {

// movement.cpp
Source make_transpose(const Node& node);
Source make_slice(const Node& node);
Source make_reverse(const Node& node);
Source make_dynamic_slice(const Node& node);
Source make_dynamic_update_slice(const Node& node);
Source make_pad(const Node& node);
Source make_concat(const Node& node);
Source make_iota(const Node& node);
// indexing.cpp
Source make_gather(const Node& node);
Source make_take_along_axis(const Node& node);
// scatter.cpp
Source make_scatter_add(const Node& node);
Source make_scatter_add_along_axis(const Node& node);
// lines.cpp
Source make_cumsum(const Node& node);
Source make_cumprod(const Node& node);
Source make_argmax(const Node& node);
Source make_argmin(const Node& node);
Source make_random_bits(const Node& node);
// attention.cpp, with products of all bits
Source make_attention(const Node& node);
// argsort.cpp
Source make_argsort(const Node& node);
// recurrent.cpp
bool fits_lstm(const Node& node);
bool fits_lstm_grad(const Node& node);
bool fits_gru(const Node& node);
bool fits_gru_grad(const Node& node);
Source make_lstm(const Node& node);
Source make_lstm_grad(const Node& node);
Source make_gru(const Node& node);
Source make_gru_grad(const Node& node);
// rows.cpp
bool fits_softmax(const Node& node);
bool fits_cross_entropy(const Node& node);
bool fits_norm(const Node& node);
Source make_rows(const Node& node);  // softmax, log_softmax, cross-entropy, and their gradients
Source make_layer_norm(const Node& node);
Source make_layer_norm_grad(const Node& node);
Source make_rms_norm(const Node& node);
Source make_rms_norm_grad(const Node& node);
// window_kernels.cpp
Source make_conv(const Node& node);
Source make_conv_grad_input(const Node& node);
Source make_conv_grad_filter(const Node& node);
Source make_max_pool(const Node& node);
Source make_max_unpool(const Node& node);
Source make_max_repool(const Node& node);
Source make_avg_pool(const Node& node);
Source make_avg_pool_grad(const Node& node);
// moments.cpp
Source make_moments(const Node& node);
// matmul.cpp
Source make_matmul_text(const Node& node);

}  // namespace keratin::cuda
