#pragma once

#include <vector>

#include "keratin/backend/cpu/jit/loop_nest.h"

namespace keratin::cpu {

// How a nest is divided into blocks that threads may run in any order. It depends on the nest
// alone, so a reduction gives the same bits with any number of threads: blocks that would fold into
// the same accumulator have one each ("partials"), which are combined in the order of the blocks.
struct Grid {
  int64_t row_block = 1, column_block = 1;    // rows (of all dims but the last) and columns of one
  int64_t row_blocks = 1, column_blocks = 1;  // how many
  struct Partials {
    bool by_row = false, by_column = false;
    int64_t count = 1;
  };
  std::vector<Partials> partials;  // of each output; one for a store

  int64_t blocks() const { return row_blocks * column_blocks; }
  int64_t partial(size_t output, int64_t block) const;
};

Grid make_grid(const LoopNest& nest);

}  // namespace keratin::cpu
