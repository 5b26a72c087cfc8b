#include "keratin/backend/reference/kernels.h"

namespace keratin::reference {

extern const KernelDef pointwise_loop;
extern const KernelDef sum_loop, prod_loop, max_loop, min_loop, any_loop, all_loop, argmax_loop,
    argmin_loop;
extern const KernelDef transpose_loop, broadcast_to_loop, iota_loop, transfer_loop;
extern const KernelDef matmul_loop;
extern const KernelDef conv_loop, conv_grad_input_loop, conv_grad_filter_loop;
extern const KernelDef max_pool_loop, max_unpool_loop, max_repool_loop, avg_pool_loop,
    avg_pool_grad_loop;
extern const KernelDef slice_loop, reverse_loop, dynamic_slice_loop, dynamic_update_slice_loop,
    pad_loop, concat_loop;
extern const KernelDef gather_loop, take_along_axis_loop, scatter_add_loop,
    scatter_add_along_axis_loop;
extern const KernelDef cumsum_loop, cumprod_loop;
extern const KernelDef argsort_loop;
extern const KernelDef random_bits_loop;
extern const KernelDef lookup_loop, hash_bucket_loop, cross_hash_loop, text_ids_loop;

namespace {

// One kernel for each primitive op, and one for all pointwise ops.
constexpr const KernelDef* records[] = {
    &pointwise_loop,
    &sum_loop,
    &prod_loop,
    &max_loop,
    &min_loop,
    &any_loop,
    &all_loop,
    &argmax_loop,
    &argmin_loop,
    &transpose_loop,
    &broadcast_to_loop,
    &iota_loop,
    &transfer_loop,
    &matmul_loop,
    &conv_loop,
    &conv_grad_input_loop,
    &conv_grad_filter_loop,
    &max_pool_loop,
    &max_unpool_loop,
    &max_repool_loop,
    &avg_pool_loop,
    &avg_pool_grad_loop,
    &slice_loop,
    &reverse_loop,
    &dynamic_slice_loop,
    &dynamic_update_slice_loop,
    &pad_loop,
    &concat_loop,
    &gather_loop,
    &take_along_axis_loop,
    &scatter_add_loop,
    &scatter_add_along_axis_loop,
    &cumsum_loop,
    &cumprod_loop,
    &argsort_loop,
    &random_bits_loop,
    &lookup_loop,
    &hash_bucket_loop,
    &cross_hash_loop,
    &text_ids_loop,
};

}  // namespace

std::span<const KernelDef* const> kernels() { return records; }

}  // namespace keratin::reference
