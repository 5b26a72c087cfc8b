#pragma once

#include <array>

#include "keratin/ir/op.h"
#include "keratin/ops/scalar.h"

// The records of all ops, for rewrites, kernels and tests, which must name one. An op is declared
// here and listed below; pointwise ops follow from the table of scalar.h.
namespace keratin::ops {

// constant.cpp
extern const OpDef constant_op, iota_op;
// fill.cpp, positions.cpp
extern const OpDef fill_like_op, positions_op;
// pointwise.cpp
extern const OpDef stop_gradient_op;
// reduce.cpp
extern const OpDef sum_op, max_op, min_op, prod_op, any_op, all_op, argmax_op, argmin_op, mean_op,
    variance_op, logsumexp_op;
// movement.cpp
extern const OpDef reshape_op, transpose_op, broadcast_to_op, expand_dims_op, squeeze_op;
// slicing.cpp
extern const OpDef slice_op, reverse_op, dynamic_slice_op, dynamic_update_slice_op;
// cumulative.cpp
extern const OpDef cumsum_op, cumprod_op;
// sort.cpp
extern const OpDef argsort_op, sort_op, top_k_op;
// resize.cpp
extern const OpDef resize_op;
// einsum.cpp
extern const OpDef einsum_op;
// indexing.cpp
extern const OpDef gather_op, scatter_add_op, take_along_axis_op, scatter_add_along_axis_op;
// joining.cpp
extern const OpDef pad_op, reflect_pad_op, concat_op, roll_op, tile_op, repeat_op;
// matmul.cpp
extern const OpDef matmul_op;
// conv.cpp, conv_transpose.cpp
extern const OpDef conv_op, conv_grad_input_op, conv_grad_filter_op, conv_transpose_op;
// pool.cpp
extern const OpDef max_pool_op, max_unpool_op, max_repool_op, avg_pool_op, avg_pool_grad_op;
// scan.cpp, cond.cpp
extern const OpDef scan_op, cond_op;
// transfer.cpp
extern const OpDef transfer_op;
// all_reduce.cpp, mirrored.cpp
extern const OpDef all_reduce_op, mirrored_op;
// lstm.cpp, gru.cpp
extern const OpDef lstm_op, lstm_grad_op, gru_op, gru_grad_op;
// softmax.cpp, cross_entropy.cpp
extern const OpDef softmax_op, softmax_grad_op, log_softmax_op, log_softmax_grad_op,
    sparse_softmax_cross_entropy_op, sparse_softmax_cross_entropy_grad_op;
// layer_norm.cpp, batch_norm.cpp, group_norm.cpp
extern const OpDef layer_norm_op, layer_norm_grad_op, rms_norm_op, rms_norm_grad_op,
    batch_norm_training_op, batch_norm_grad_op, batch_norm_inference_op, group_norm_op;
// moments.cpp
extern const OpDef moments_op;
// random.cpp
extern const OpDef random_bits_op, dropout_op;
// attention.cpp
extern const OpDef scaled_dot_product_attention_op, scaled_dot_product_attention_grad_op;
// lookup.cpp
extern const OpDef lookup_op, hash_bucket_op, cross_hash_op, text_ids_op;
// fused.cpp
extern const OpDef fused_op;

// pointwise.cpp: by ScalarOp
extern const std::array<OpDef, pointwise_op_count> pointwise_ops;
constexpr const OpDef& record_of(ScalarOp op) { return pointwise_ops[static_cast<size_t>(op)]; }

// All ops that are not pointwise.
inline constexpr const OpDef* structured_ops[] = {
    // constants
    &constant_op,
    &fill_like_op,
    &iota_op,
    &positions_op,
    // pointwise
    &stop_gradient_op,
    // reductions
    &sum_op,
    &max_op,
    &min_op,
    &prod_op,
    &any_op,
    &all_op,
    &argmax_op,
    &argmin_op,
    &mean_op,
    &variance_op,
    &logsumexp_op,
    // movement
    &reshape_op,
    &transpose_op,
    &broadcast_to_op,
    &expand_dims_op,
    &squeeze_op,
    // slicing
    &slice_op,
    &reverse_op,
    &dynamic_slice_op,
    &dynamic_update_slice_op,
    // cumulative
    &cumsum_op,
    &cumprod_op,
    // sorting
    &argsort_op,
    &sort_op,
    &top_k_op,
    // images
    &resize_op,
    // index notation
    &einsum_op,
    // indexing
    &gather_op,
    &scatter_add_op,
    &take_along_axis_op,
    &scatter_add_along_axis_op,
    // joining
    &pad_op,
    &reflect_pad_op,
    &concat_op,
    &roll_op,
    &tile_op,
    &repeat_op,
    // matrices
    &matmul_op,
    // convolutions
    &conv_op,
    &conv_grad_input_op,
    &conv_grad_filter_op,
    &conv_transpose_op,
    // pooling
    &max_pool_op,
    &max_unpool_op,
    &max_repool_op,
    &avg_pool_op,
    &avg_pool_grad_op,
    // control flow
    &scan_op,
    &cond_op,
    // devices
    &transfer_op,
    &all_reduce_op,
    &mirrored_op,
    // recurrent layers over a sequence
    &lstm_op,
    &lstm_grad_op,
    &gru_op,
    &gru_grad_op,
    // softmax and its losses
    &softmax_op,
    &softmax_grad_op,
    &log_softmax_op,
    &log_softmax_grad_op,
    &sparse_softmax_cross_entropy_op,
    &sparse_softmax_cross_entropy_grad_op,
    // normalisation
    &layer_norm_op,
    &layer_norm_grad_op,
    &rms_norm_op,
    &rms_norm_grad_op,
    &moments_op,
    &batch_norm_training_op,
    &batch_norm_grad_op,
    &batch_norm_inference_op,
    &group_norm_op,
    // random numbers
    &random_bits_op,
    &dropout_op,
    // attention
    &scaled_dot_product_attention_op,
    &scaled_dot_product_attention_grad_op,
    // strings
    &lookup_op,
    &hash_bucket_op,
    &cross_hash_op,
    &text_ids_op,
    // what passes make
    &fused_op,
};

}  // namespace keratin::ops
