#include "keratin/backend/cpu/kernels.h"

namespace keratin::cpu {

// Each is defined in the file that implements it.
extern const KernelDef arg_reduce_kernel, avg_pool_grad_kernel, avg_pool_kernel,
    batch_norm_grad_kernel, batch_norm_inference_kernel, batch_norm_training_kernel,
    broadcast_kernel, concat_kernel, conv_kernel, cumulative_kernel, dynamic_slice_kernel,
    dynamic_update_slice_kernel, epilogue_kernel, fused_loop_kernel, gather_kernel, gru_grad_kernel,
    gru_kernel, layer_norm_grad_kernel, layer_norm_kernel, lstm_grad_kernel, lstm_kernel,
    matmul_kernel, max_pool_kernel, max_unpool_kernel, pad_kernel, pointwise_loop_kernel,
    random_bits_kernel, reduce_kernel, reverse_kernel, rms_norm_grad_kernel, rms_norm_kernel,
    scatter_kernel, slice_kernel, softmax_grad_kernel, softmax_kernel, sort_kernel, top_k_kernel,
    transpose_kernel;

// Order matters where two kernels run the same op.
std::span<const KernelDef* const> all_kernels() {
  static constexpr const KernelDef* all[] = {
      &matmul_kernel,
      &conv_kernel,
      &epilogue_kernel,
      &max_pool_kernel,
      &max_unpool_kernel,
      &avg_pool_kernel,
      &avg_pool_grad_kernel,
      &lstm_kernel,
      &lstm_grad_kernel,
      &gru_kernel,
      &gru_grad_kernel,
      &layer_norm_kernel,
      &layer_norm_grad_kernel,
      &rms_norm_kernel,
      &rms_norm_grad_kernel,
      &batch_norm_training_kernel,
      &batch_norm_inference_kernel,
      &batch_norm_grad_kernel,
      &softmax_kernel,
      &softmax_grad_kernel,
      &reduce_kernel,
      &arg_reduce_kernel,
      &sort_kernel,
      &top_k_kernel,
      &cumulative_kernel,
      &gather_kernel,
      &scatter_kernel,
      &transpose_kernel,
      &broadcast_kernel,
      &slice_kernel,
      &reverse_kernel,
      &pad_kernel,
      &concat_kernel,
      &dynamic_slice_kernel,
      &dynamic_update_slice_kernel,
      &random_bits_kernel,
      &fused_loop_kernel,
      &pointwise_loop_kernel,
  };
  return all;
}

const KernelList& kernels() {
  static const KernelList list(all_kernels());
  return list;
}

}  // namespace keratin::cpu
