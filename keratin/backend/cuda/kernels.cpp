#include "keratin/backend/cuda/kernels.h"

#include "keratin/backend/cuda/attention/attention.h"
#include "keratin/backend/cuda/families.h"
#include "keratin/backend/cuda/loops/loop.h"
#include "keratin/ops/norm_rules.h"
#include "keratin/ops/records.h"

namespace keratin::cuda {

namespace {

struct Entry {
  const OpDef* op;
  TextMaker maker;
  bool (*fits)(const Node&) = nullptr;  // not every node of the op, only these
};

// One line per op that is no loop.
constexpr Entry table[] = {
    {&ops::argmax_op, make_argmax},
    {&ops::argmin_op, make_argmin},
    {&ops::argsort_op, make_argsort},
    {&ops::avg_pool_op, make_avg_pool},
    {&ops::avg_pool_grad_op, make_avg_pool_grad},
    {&ops::concat_op, make_concat},
    {&ops::conv_op, make_conv},
    {&ops::conv_grad_filter_op, make_conv_grad_filter},
    {&ops::conv_grad_input_op, make_conv_grad_input},
    {&ops::cumprod_op, make_cumprod},
    {&ops::cumsum_op, make_cumsum},
    {&ops::dynamic_slice_op, make_dynamic_slice},
    {&ops::dynamic_update_slice_op, make_dynamic_update_slice},
    {&ops::gather_op, make_gather},
    {&ops::gru_op, make_gru, fits_gru},
    {&ops::gru_grad_op, make_gru_grad, fits_gru_grad},
    {&ops::iota_op, make_iota},
    {&ops::layer_norm_op, make_layer_norm, fits_norm},
    {&ops::layer_norm_grad_op, make_layer_norm_grad, fits_norm},
    {&ops::log_softmax_op, make_rows, fits_softmax},
    {&ops::log_softmax_grad_op, make_rows, fits_softmax},
    {&ops::lstm_op, make_lstm, fits_lstm},
    {&ops::lstm_grad_op, make_lstm_grad, fits_lstm_grad},
    {&ops::matmul_op, make_matmul_text},
    {&ops::max_pool_op, make_max_pool},
    {&ops::max_repool_op, make_max_repool},
    {&ops::max_unpool_op, make_max_unpool},
    {&ops::moments_op, make_moments},
    {&ops::pad_op, make_pad},
    {&ops::random_bits_op, make_random_bits},
    {&ops::reverse_op, make_reverse},
    {&ops::rms_norm_op, make_rms_norm, fits_norm},
    {&ops::rms_norm_grad_op, make_rms_norm_grad, fits_norm},
    {&ops::scaled_dot_product_attention_op, make_attention, fits_attention},
    {&ops::scaled_dot_product_attention_grad_op, make_attention, fits_attention_grad},
    {&ops::scatter_add_op, make_scatter_add},
    {&ops::scatter_add_along_axis_op, make_scatter_add_along_axis},
    {&ops::slice_op, make_slice},
    {&ops::softmax_op, make_rows, fits_softmax},
    {&ops::softmax_grad_op, make_rows, fits_softmax},
    {&ops::sparse_softmax_cross_entropy_op, make_rows, fits_cross_entropy},
    {&ops::sparse_softmax_cross_entropy_grad_op, make_rows, fits_cross_entropy},
    {&ops::take_along_axis_op, make_take_along_axis},
    {&ops::transpose_op, make_transpose},
};

}  // namespace

TextMaker find_text(const Node& node) {
  for (const Entry& entry : table)
    if (entry.op == &node.op())
      return entry.fits == nullptr || entry.fits(node) ? entry.maker : nullptr;
  return is_loop(node) ? make_loop : nullptr;
}

}  // namespace keratin::cuda
