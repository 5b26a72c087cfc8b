#include "keratin/backend/cpu/kernels/level.h"

namespace keratin::cpu::KERATIN_LEVEL {

KernelTable make_table() {
  KernelTable table;
  add_batch_norm(table);
  add_layer_norm(table);
  add_pack(table);
  add_softmax(table);
  return table;
}

}  // namespace keratin::cpu::KERATIN_LEVEL
