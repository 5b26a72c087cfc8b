#pragma once

#include <vector>

#include "keratin/backend/cpu/kernels/convert.h"
#include "keratin/backend/cpu/kernels/copy.h"
#include "keratin/backend/cpu/kernels/cumulative.h"
#include "keratin/backend/cpu/kernels/depthwise.h"
#include "keratin/backend/cpu/kernels/gather.h"
#include "keratin/backend/cpu/kernels/norm.h"
#include "keratin/backend/cpu/kernels/pack.h"
#include "keratin/backend/cpu/kernels/pool.h"
#include "keratin/backend/cpu/kernels/random.h"
#include "keratin/backend/cpu/kernels/reduce.h"
#include "keratin/backend/cpu/kernels/rnn.h"
#include "keratin/backend/cpu/kernels/softmax.h"
#include "keratin/backend/cpu/kernels/sort.h"

namespace keratin::cpu {

// The fixed kernels of one x86-64 level. They are plain functions on raw pointers that know nothing
// of the ir, take the number of threads with their arguments, allocate nothing, and give the same
// bits whatever that number is.
struct KernelTable {
  ConvertKernels convert;
  CopyKernels copy;
  CumulativeKernels cumulative;
  DepthwiseKernels depthwise;
  GatherKernels gather;
  NormKernels norm;
  PackKernels pack;
  PoolKernels pool;
  RandomKernels random;
  ReduceKernels reduce;
  RnnKernels rnn;
  SoftmaxKernels softmax;
  SortKernels sort;
};

enum class Level { v2, v3, v4 };

// The levels this processor can run, lowest first; never empty.
const std::vector<Level>& levels();

// The kernels of a level, which must be one of levels(); and those of the highest.
const KernelTable& kernels(Level level);
const KernelTable& kernels();

}  // namespace keratin::cpu
