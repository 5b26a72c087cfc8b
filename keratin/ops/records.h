#pragma once

#include "keratin/ir/op.h"

// The records of all ops, for those who must name one: rewrites, kernels, tests.
namespace keratin::ops {

// constant.cpp
extern const OpDef constant_op, iota_op;
// pointwise.cpp, pointwise_float.cpp
extern const OpDef add_op, sub_op, mul_op, div_op, mod_op, floor_div_op, maximum_op, minimum_op,
    pow_op, atan2_op, equal_op, not_equal_op, less_op, less_equal_op, greater_op, greater_equal_op,
    bit_and_op, bit_or_op, bit_xor_op, bit_not_op, shift_left_op, shift_right_op,
    shift_right_logical_op, select_op, cast_op, neg_op, abs_op, sign_op, relu_op, stop_gradient_op;
extern const OpDef floor_op, ceil_op, round_op, trunc_op, sqrt_op, rsqrt_op, exp_op, expm1_op,
    log_op, log1p_op, sin_op, cos_op, tan_op, asin_op, acos_op, atan_op, sinh_op, cosh_op, tanh_op,
    asinh_op, acosh_op, atanh_op, erf_op, erfinv_op, sigmoid_op, is_nan_op, is_inf_op, is_finite_op;
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
// mirrored.cpp
extern const OpDef mirrored_op;
// lstm.cpp, gru.cpp
extern const OpDef lstm_op, lstm_grad_op, gru_op, gru_grad_op;
// softmax.cpp, cross_entropy.cpp
extern const OpDef softmax_op, softmax_grad_op, log_softmax_op, log_softmax_grad_op,
    sparse_softmax_cross_entropy_op, sparse_softmax_cross_entropy_grad_op;
// layer_norm.cpp, batch_norm.cpp, group_norm.cpp
extern const OpDef layer_norm_op, layer_norm_grad_op, rms_norm_op, rms_norm_grad_op,
    batch_norm_training_op, batch_norm_grad_op, batch_norm_inference_op, group_norm_op;
// random.cpp
extern const OpDef random_bits_op, dropout_op;
// attention.cpp
extern const OpDef scaled_dot_product_attention_op, scaled_dot_product_attention_grad_op;
// fused.cpp
extern const OpDef fused_op;

}  // namespace keratin::ops
