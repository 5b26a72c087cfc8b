#pragma once

#include <vector>

#include "keratin/backend/cpu/jit/loop_block.h"
#include "keratin/backend/cpu/jit/tile_ops.h"

namespace keratin::cpu {

// Runs a nest one operation at a time over tiles of 256 elements. It works for every operation and
// dtype on every machine; generated code is tested against it.
class Interpreter {
 public:
  explicit Interpreter(const LoopNest& nest);

  void run(const LoopBlock& block) const;

 private:
  struct Load {
    TileLoad load;
    int32_t pointer, slot;
    int64_t row_stride, column_stride;
    int64_t element;  // bytes of an element in the tile
  };
  struct Step {
    TileFunction function;
    int32_t slot;
    std::array<int32_t, 3> args;
  };
  struct Sink {
    int32_t pointer, slot;
    int64_t row_stride, column_stride;
    int64_t element;
    TileStore store;     // null when reduced
    TileReduction fold;  // of a reduction
    bool overwrites;
  };
  struct Constant {
    LoopInst inst;
    int32_t slot;
  };

  void assign_slots(const LoopProgram& program);
  void load_tile(const LoopBlock& block, char* tiles, int64_t row, int64_t column, int64_t rows,
                 int64_t columns) const;
  void store_tile(const LoopBlock& block, char* tiles, int64_t row, int64_t column, int64_t rows,
                  int64_t columns) const;
  void fold_row(const Sink& sink, char* to, const char* from, int64_t column,
                int64_t columns) const;
  char* tile(char* tiles, int32_t slot) const;

  std::vector<int32_t> slots_;  // of each value
  int32_t slot_count_ = 0;
  std::vector<Constant> constants_;
  std::vector<Load> loads_;
  std::vector<Step> steps_;
  std::vector<Sink> sinks_;
};

}  // namespace keratin::cpu
