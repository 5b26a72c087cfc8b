#include "keratin/backend/cpu/kernels/level.h"

namespace keratin::cpu::KERATIN_LEVEL {

KernelTable make_table() {
  KernelTable table;
  add_arg_reduce(table);
  add_batch_norm(table);
  add_convert(table);
  add_copy(table);
  add_cumulative(table);
  add_gather(table);
  add_layer_norm(table);
  add_pack(table);
  add_random(table);
  add_reduce(table);
  add_softmax(table);
  add_sort(table);
  return table;
}

}  // namespace keratin::cpu::KERATIN_LEVEL
