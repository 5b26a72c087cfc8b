#include "keratin/backend/cuda/kernels.h"

namespace keratin::cuda {

// Each in the file that implements it.
extern const CudaKernel transfer_kernel;
extern const CudaKernel fused_matmul_kernel, matmul_with_sum_kernel, conv_epilogue_kernel;
extern const CudaKernel cublas_matmul_kernel, plain_matmul_kernel;
extern const CudaKernel library_conv_kernel, conv_kernel, conv_grad_input_kernel,
    conv_grad_filter_kernel;
extern const CudaKernel max_pool_kernel, max_unpool_kernel, max_repool_kernel, avg_pool_kernel,
    avg_pool_grad_kernel;
extern const CudaKernel all_reduce_kernel;
extern const CudaKernel attention_kernel, attention_grad_kernel;
extern const CudaKernel lstm_kernel, lstm_grad_kernel, gru_kernel, gru_grad_kernel;
extern const CudaKernel softmax_kernel, cross_entropy_kernel;
extern const CudaKernel layer_norm_kernel, layer_norm_grad_kernel, rms_norm_kernel,
    rms_norm_grad_kernel, moments_kernel;
extern const CudaKernel transpose_kernel, slice_kernel, reverse_kernel, dynamic_slice_kernel,
    dynamic_update_slice_kernel, pad_kernel, concat_kernel, iota_kernel;
extern const CudaKernel gather_kernel, take_along_axis_kernel;
extern const CudaKernel sorted_scatter_kernel, searching_scatter_kernel,
    sorted_scatter_along_axis_kernel, searching_scatter_along_axis_kernel;
extern const CudaKernel radix_argsort_kernel, counting_argsort_kernel;
extern const CudaKernel cumsum_kernel, cumprod_kernel, argmax_kernel, argmin_kernel,
    random_bits_kernel;
extern const CudaKernel loop_kernel;

namespace {

// Best first: of the kernels for an op, the first that does not refuse a node runs it.
constexpr const CudaKernel* records[] = {
    &transfer_kernel,
    &fused_matmul_kernel,
    &matmul_with_sum_kernel,
    &conv_epilogue_kernel,
    &cublas_matmul_kernel,
    &plain_matmul_kernel,
    &library_conv_kernel,
    &conv_kernel,
    &conv_grad_input_kernel,
    &conv_grad_filter_kernel,
    &max_pool_kernel,
    &max_unpool_kernel,
    &max_repool_kernel,
    &avg_pool_kernel,
    &avg_pool_grad_kernel,
    &all_reduce_kernel,
    &attention_kernel,
    &attention_grad_kernel,
    &lstm_kernel,
    &lstm_grad_kernel,
    &gru_kernel,
    &gru_grad_kernel,
    &softmax_kernel,
    &cross_entropy_kernel,
    &layer_norm_kernel,
    &layer_norm_grad_kernel,
    &rms_norm_kernel,
    &rms_norm_grad_kernel,
    &moments_kernel,
    &transpose_kernel,
    &slice_kernel,
    &reverse_kernel,
    &dynamic_slice_kernel,
    &dynamic_update_slice_kernel,
    &pad_kernel,
    &concat_kernel,
    &iota_kernel,
    &gather_kernel,
    &take_along_axis_kernel,
    &sorted_scatter_kernel,
    &searching_scatter_kernel,
    &sorted_scatter_along_axis_kernel,
    &searching_scatter_along_axis_kernel,
    &radix_argsort_kernel,
    &counting_argsort_kernel,
    &cumsum_kernel,
    &cumprod_kernel,
    &argmax_kernel,
    &argmin_kernel,
    &random_bits_kernel,
    &loop_kernel,
};

}  // namespace

std::span<const CudaKernel* const> kernels() { return records; }

}  // namespace keratin::cuda
