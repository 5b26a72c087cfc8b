#include "keratin/backend/cpu/kernels.h"

#include <unordered_map>

#include "keratin/backend/cpu/conv.h"
#include "keratin/backend/cpu/epilogue.h"
#include "keratin/backend/cpu/fused.h"
#include "keratin/backend/cpu/indexing.h"
#include "keratin/backend/cpu/matmul.h"
#include "keratin/backend/cpu/movement.h"
#include "keratin/backend/cpu/norm.h"
#include "keratin/backend/cpu/pool.h"
#include "keratin/backend/cpu/recurrent.h"
#include "keratin/backend/cpu/reduce.h"
#include "keratin/backend/cpu/sequence.h"
#include "keratin/backend/cpu/softmax.h"
#include "keratin/ops/records.h"

namespace keratin::cpu {

namespace {

// One line per op: {&ops::softmax_op, one<make_softmax>, claims_softmax}.
template <Maker... makers>
constexpr Maker one[] = {makers...};

bool claims_fused(const Node& node) { return claims_epilogue(node) || claims_loop(node); }

constexpr KernelEntry table[] = {
    {&ops::all_op, one<make_min, make_loop>},
    {&ops::any_op, one<make_max, make_loop>},
    {&ops::argmax_op, one<make_argmax>},
    {&ops::argmin_op, one<make_argmin>},
    {&ops::argsort_op, one<make_argsort>},
    {&ops::avg_pool_grad_op, one<make_avg_pool_grad>},
    {&ops::avg_pool_op, one<make_avg_pool>},
    {&ops::batch_norm_grad_op, one<make_batch_norm_grad>, claims_batch_norm},
    {&ops::batch_norm_inference_op, one<make_batch_norm_inference>, claims_batch_norm},
    {&ops::batch_norm_training_op, one<make_batch_norm_training>, claims_batch_norm},
    {&ops::broadcast_to_op, one<make_broadcast_to, make_loop>},
    {&ops::concat_op, one<make_concat>},
    {&ops::conv_grad_filter_op, one<make_conv_grad_filter>},
    {&ops::conv_grad_input_op, one<make_conv_grad_input>},
    {&ops::conv_op, one<make_conv_forward>},
    {&ops::cumprod_op, one<make_cumprod>},
    {&ops::cumsum_op, one<make_cumsum>},
    {&ops::dynamic_slice_op, one<make_dynamic_slice>},
    {&ops::dynamic_update_slice_op, one<make_dynamic_update_slice>},
    {&ops::fused_op, one<make_epilogue, make_loop>, claims_fused},
    {&ops::gather_op, one<make_gather>},
    {&ops::gru_grad_op, one<make_gru_grad>, claims_recurrent},
    {&ops::gru_op, one<make_gru>, claims_recurrent},
    {&ops::layer_norm_grad_op, one<make_layer_norm_grad>, claims_layer_norm},
    {&ops::layer_norm_op, one<make_layer_norm>, claims_layer_norm},
    {&ops::log_softmax_grad_op, one<make_log_softmax_grad>},
    {&ops::log_softmax_op, one<make_log_softmax>},
    {&ops::lstm_grad_op, one<make_lstm_grad>, claims_recurrent},
    {&ops::lstm_op, one<make_lstm>, claims_recurrent},
    {&ops::matmul_op, one<make_matmul>},
    {&ops::max_op, one<make_max, make_loop>},
    {&ops::max_pool_op, one<make_max_pool>},
    {&ops::max_unpool_op, one<make_max_unpool>},
    {&ops::min_op, one<make_min, make_loop>},
    {&ops::pad_op, one<make_pad>},
    {&ops::prod_op, one<make_prod, make_loop>},
    {&ops::random_bits_op, one<make_random_bits>},
    {&ops::reverse_op, one<make_reverse>},
    {&ops::rms_norm_grad_op, one<make_layer_norm_grad>, claims_layer_norm},
    {&ops::rms_norm_op, one<make_layer_norm>, claims_layer_norm},
    {&ops::scatter_add_along_axis_op, one<make_scatter_add_along_axis>},
    {&ops::scatter_add_op, one<make_scatter_add>},
    {&ops::slice_op, one<make_slice>},
    {&ops::softmax_grad_op, one<make_softmax_grad>},
    {&ops::softmax_op, one<make_softmax>},
    {&ops::sort_op, one<make_sort>, claims_sort},
    {&ops::sum_op, one<make_sum, make_loop>},
    {&ops::take_along_axis_op, one<make_take_along_axis>},
    {&ops::top_k_op, one<make_top_k>, claims_sort},
    {&ops::transpose_op, one<make_transpose>},
};

// Every pointwise op that has no line of its own.
constexpr KernelEntry pointwise{nullptr, one<make_loop>};

}  // namespace

const KernelEntry* find_kernels(const OpDef& op) {
  static const auto by_op = [] {
    std::unordered_map<const OpDef*, const KernelEntry*> map;
    for (const KernelEntry& entry : table) map.emplace(entry.op, &entry);
    return map;
  }();
  const auto found = by_op.find(&op);
  if (found != by_op.end()) return found->second;
  return op.scalar ? &pointwise : nullptr;
}

}  // namespace keratin::cpu
