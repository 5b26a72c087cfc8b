#include "keratin/backend/cpu/kernel_table.h"

namespace keratin::cpu::KERATIN_LEVEL {

// One per file of this folder.
void add_arg_reduce(ReduceKernels& k);
void add_batch_norm(NormKernels& k);
void add_convert(ConvertKernels& k);
void add_copy(CopyKernels& k);
void add_cumulative(CumulativeKernels& k);
void add_depthwise(DepthwiseKernels& k);
void add_gather(GatherKernels& k);
void add_gru(RnnKernels& k);
void add_layer_norm(NormKernels& k);
void add_lstm(RnnKernels& k);
void add_pack(PackKernels& k);
void add_pool(PoolKernels& k);
void add_random(RandomKernels& k);
void add_reduce(ReduceKernels& k);
void add_softmax(SoftmaxKernels& k);
void add_sort(SortKernels& k);

KernelTable make_table() {
  KernelTable table{};
  add_arg_reduce(table.reduce);
  add_batch_norm(table.norm);
  add_convert(table.convert);
  add_copy(table.copy);
  add_cumulative(table.cumulative);
  add_depthwise(table.depthwise);
  add_gather(table.gather);
  add_gru(table.rnn);
  add_layer_norm(table.norm);
  add_lstm(table.rnn);
  add_pack(table.pack);
  add_pool(table.pool);
  add_random(table.random);
  add_reduce(table.reduce);
  add_softmax(table.softmax);
  add_sort(table.sort);
  return table;
}

}  // namespace keratin::cpu::KERATIN_LEVEL
