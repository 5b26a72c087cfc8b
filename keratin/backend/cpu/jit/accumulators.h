#pragma once

#include "keratin/backend/cpu/jit/body_emitter.h"

namespace keratin::cpu {

// The reductions of a nest. A sum over columns has its accumulators in registers, one per unrolled
// vector; so have sums over rows where rows are short. Other sums over rows are in memory.
class Accumulators {
 public:
  Accumulators(const LoopNest& nest, const LoopAnalysis& analysis, LaneAssembler& code,
               ArrayAddresses& arrays, BodyEmitter& body)
      : nest_(nest), analysis_(analysis), code_(code), arrays_(arrays), body_(body) {}

  // How often the columns' code is repeated, or the vectors of a whole short row.
  struct Copies {
    int unroll = 1;
    int row_vectors = 0;  // of a short row, the tail included; 0 where rows are looped over
    bool row_tail = false;
  };
  void reserve(Copies copies);

  void clear(bool per_row);
  // Folds the outputs' values of one vector.
  void fold_outputs(int copy, bool tail);
  // Folds the registers into one element: of those that are finished after every row, or the last.
  void finish(bool per_row);
  // Sums over rows: into registers before the first row, back after the last.
  void load_columns() { move_columns(true); }
  void store_columns() { move_columns(false); }

 private:
  struct Accumulator {
    size_t output, pointer;
    Reduce kind;
    Lane lane;
    bool per_row;                // finished after every row, else after the last
    bool columns;                // one element per column, else one in all
    std::vector<int> registers;  // one per unrolled copy, or vector of columns
  };

  const Accumulator* find(size_t output) const;
  Address neutral(Reduce kind, Lane lane);
  void fold(Reduce kind, Lane lane, const Xmm& d, const Xmm& a, const Xmm& b);
  void fold_column(size_t output, const Xmm& value, int copy, bool tail);
  void fold_lanes(const Accumulator& a, const Xmm& all);
  void move_columns(bool load);

  const LoopNest& nest_;
  const LoopAnalysis& analysis_;
  LaneAssembler& code_;
  ArrayAddresses& arrays_;
  BodyEmitter& body_;
  std::vector<Accumulator> all_;
  Copies copies_;
};

// Registers that reductions may have.
constexpr int max_accumulators(bool evex) { return evex ? 8 : 4; }

}  // namespace keratin::cpu
