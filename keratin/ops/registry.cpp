#include "keratin/ops/registry.h"

#include <unordered_map>

namespace keratin::ops {

extern const OpDef positions_op;   // positions.cpp
extern const OpDef fill_like_op;   // fill.cpp
extern const OpDef moments_op;     // moments.cpp
extern const OpDef all_reduce_op;  // all_reduce.cpp

namespace {

const OpDef* const table[] = {
    // constants
    &constant_op,
    &fill_like_op,
    &iota_op,
    &positions_op,
    // pointwise: numbers, comparisons, bits
    &add_op,
    &sub_op,
    &mul_op,
    &div_op,
    &mod_op,
    &floor_div_op,
    &maximum_op,
    &minimum_op,
    &pow_op,
    &atan2_op,
    &equal_op,
    &not_equal_op,
    &less_op,
    &less_equal_op,
    &greater_op,
    &greater_equal_op,
    &bit_and_op,
    &bit_or_op,
    &bit_xor_op,
    &bit_not_op,
    &shift_left_op,
    &shift_right_op,
    &shift_right_logical_op,
    &select_op,
    &cast_op,
    &neg_op,
    &abs_op,
    &sign_op,
    &relu_op,
    &stop_gradient_op,
    // pointwise: floats
    &floor_op,
    &ceil_op,
    &round_op,
    &trunc_op,
    &sqrt_op,
    &rsqrt_op,
    &exp_op,
    &expm1_op,
    &log_op,
    &log1p_op,
    &sin_op,
    &cos_op,
    &tan_op,
    &asin_op,
    &acos_op,
    &atan_op,
    &sinh_op,
    &cosh_op,
    &tanh_op,
    &asinh_op,
    &acosh_op,
    &atanh_op,
    &erf_op,
    &erfinv_op,
    &sigmoid_op,
    &is_nan_op,
    &is_inf_op,
    &is_finite_op,
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
    // what passes make
    &fused_op,
};

}  // namespace

std::span<const OpDef* const> all_ops() { return table; }

const OpDef* find_op(std::string_view name) {
  static const auto by_name = [] {
    std::unordered_map<std::string_view, const OpDef*> map;
    for (const OpDef* op : table) map.emplace(op->name, op);
    return map;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

}  // namespace keratin::ops
