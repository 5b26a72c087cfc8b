#pragma once

#include "keratin/backend/cpu/kernel_table.h"

// What the files of one level share: each family of kernels adds itself to the level's table.
namespace keratin::cpu::KERATIN_LEVEL {

void add_arg_reduce(KernelTable& table);
void add_batch_norm(KernelTable& table);
void add_convert(KernelTable& table);
void add_copy(KernelTable& table);
void add_cumulative(KernelTable& table);
void add_gather(KernelTable& table);
void add_layer_norm(KernelTable& table);
void add_pack(KernelTable& table);
void add_random(KernelTable& table);
void add_reduce(KernelTable& table);
void add_softmax(KernelTable& table);
void add_sort(KernelTable& table);

// Sets pick(TypeTag<T>) for the given storage types.
template <class... T, class Function, class Pick>
[[gnu::always_inline]] inline void set_types(ByDType<Function>& out, const Pick& pick) {
  ((out[dtype_of<T>()] = pick(TypeTag<T>{})), ...);
}
template <class Function, class Pick>
[[gnu::always_inline]] inline void set_floats(ByDType<Function>& out, const Pick& pick) {
  set_types<double, float, Half, BFloat16>(out, pick);
}

}  // namespace keratin::cpu::KERATIN_LEVEL
