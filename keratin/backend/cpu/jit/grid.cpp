#include "keratin/backend/cpu/jit/grid.h"

#include <algorithm>

#include "keratin/base/divide.h"

namespace keratin::cpu {

namespace {

constexpr int64_t block_elements = 8192;  // a few microseconds of work at most
constexpr int64_t max_blocks = 64;
constexpr int64_t longest_sum = 1024;  // terms that are added sequentially, for accuracy
constexpr int64_t column_unit = 1024;  // blocks keep the alignment of an array

// Blocks of a multiple of this many rows share no accumulator: the rows of one step of the dims
// before the first reduced one.
int64_t rows_per_group(const LoopNest& nest, const LoopOutput& out) {
  const LoopProgram& p = nest.program;
  int64_t rows = 1;
  bool reduced = false;
  for (int d = 0; d + 1 < p.rank; ++d) {
    reduced |= out.reduced >> d & 1;
    if (reduced) rows *= p.dims[static_cast<size_t>(d)];
  }
  return rows;
}

}  // namespace

int64_t Grid::partial(size_t output, int64_t block) const {
  const Partials& p = partials[output];
  const int64_t row = p.by_row ? block / column_blocks : 0;
  const int64_t column = p.by_column ? block % column_blocks : 0;
  return p.by_column ? row * column_blocks + column : row;
}

Grid make_grid(const LoopNest& nest) {
  const LoopProgram& p = nest.program;
  const int64_t rows = nest.rows(), columns = nest.columns(), total = rows * columns;
  int64_t wanted = std::clamp<int64_t>(total / block_elements, 1, max_blocks);
  int64_t group = 1, kept = 1;
  for (const LoopOutput& out : p.outputs) {
    if (out.reduce == Reduce::none) continue;
    group = std::max(group, rows_per_group(nest, out));
    kept = std::max(kept, p.element_count(out));
    if (!(out.reduced >> (p.rank - 1) & 1)) wanted = std::max(wanted, rows / longest_sum);
  }
  Grid grid;
  if (rows / group >= wanted) {
    grid.row_block = group * ceil_div(rows / group, wanted);
  } else {
    // Combining partials may cost a quarter of the work at most.
    const int64_t affordable = std::max(rows / group, std::max<int64_t>(total / (4 * kept), 1));
    grid.row_block = ceil_div(rows, std::min({wanted, rows, affordable}));
    if (grid.row_block > group / 2 && rows > group)
      grid.row_block = ceil_div(grid.row_block, group) * group;
  }
  grid.row_blocks = ceil_div(rows, grid.row_block);
  const int64_t column_blocks = std::min(wanted / grid.row_blocks, columns / (4 * column_unit));
  grid.column_block = columns;
  if (column_blocks > 1)
    grid.column_block = ceil_div(ceil_div(columns, column_blocks), column_unit) * column_unit;
  grid.column_blocks = ceil_div(columns, grid.column_block);
  for (const LoopOutput& out : p.outputs) {
    Grid::Partials partials;
    if (out.reduce != Reduce::none) {
      partials.by_row = grid.row_blocks > 1 && grid.row_block % rows_per_group(nest, out) != 0;
      partials.by_column = grid.column_blocks > 1 && (out.reduced >> (p.rank - 1) & 1);
    }
    partials.count =
        (partials.by_row ? grid.row_blocks : 1) * (partials.by_column ? grid.column_blocks : 1);
    grid.partials.push_back(partials);
  }
  return grid;
}

}  // namespace keratin::cpu
