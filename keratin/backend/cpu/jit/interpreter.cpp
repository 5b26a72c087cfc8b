#include "keratin/backend/cpu/jit/interpreter.h"

#include <alloca.h>

#include <algorithm>

#include "keratin/base/text.h"

namespace keratin::cpu {

namespace {

constexpr int64_t tile_elements = 256;
// Tiles start 64 bytes apart modulo 4 KiB, so that they do not evict or alias one another.
constexpr int64_t tile_bytes = tile_elements * 8 + 64;
constexpr int32_t max_slots = 1024;

std::vector<int32_t> last_uses(const LoopProgram& p) {
  std::vector<int32_t> last(static_cast<size_t>(p.value_count()), -1);
  for (int32_t id = static_cast<int32_t>(p.inputs.size()); id < p.value_count(); ++id)
    for (int i = 0; i < operand_count(p.inst(id).op); ++i)
      last[static_cast<size_t>(p.inst(id).args[static_cast<size_t>(i)])] = id;
  for (const LoopOutput& out : p.outputs) last[static_cast<size_t>(out.value)] = p.value_count();
  return last;
}

}  // namespace

// A slot is free again after the last use of its value; constants keep theirs, being filled once.
void Interpreter::assign_slots(const LoopProgram& p) {
  const std::vector<int32_t> last = last_uses(p);
  std::vector<int32_t> free;
  slots_.assign(static_cast<size_t>(p.value_count()), -1);
  const auto take = [&](int32_t value) {
    if (free.empty()) free.push_back(slot_count_++);
    slots_[static_cast<size_t>(value)] = free.back();
    free.pop_back();
  };
  const auto inputs = static_cast<int32_t>(p.inputs.size());
  for (int32_t id = 0; id < inputs; ++id)
    if (last[static_cast<size_t>(id)] >= 0) take(id);
  for (int32_t id = inputs; id < p.value_count(); ++id)
    if (p.inst(id).op == ScalarOp::constant) take(id);
  for (int32_t id = inputs; id < p.value_count(); ++id) {
    const LoopInst& inst = p.inst(id);
    if (inst.op == ScalarOp::constant) continue;
    take(id);
    for (int i = 0; i < operand_count(inst.op); ++i) {
      const auto arg = static_cast<size_t>(inst.args[static_cast<size_t>(i)]);
      const bool constant =
          !p.is_input(int32_t(arg)) && p.inst(int32_t(arg)).op == ScalarOp::constant;
      if (last[arg] != id || constant) continue;
      if (std::find(free.begin(), free.end(), slots_[arg]) == free.end())
        free.push_back(slots_[arg]);
    }
  }
  ensure(slot_count_ <= max_slots, "loop program: needs ", slot_count_, " tiles at once");
}

Interpreter::Interpreter(const LoopNest& nest) {
  const LoopProgram& p = nest.program;
  assign_slots(p);
  const auto slot = [&](int32_t value) { return value < 0 ? 0 : slots_[size_t(value)]; };
  for (size_t i = 0; i < p.inputs.size(); ++i)
    if (slots_[i] >= 0)
      loads_.push_back({tile_load(p.inputs[i].dtype), int32_t(i), slots_[i], nest.row_stride(i),
                        nest.column_stride(i), int64_t(tile_element_size(p.inputs[i].dtype))});
  for (size_t i = 0; i < p.body.size(); ++i) {
    const LoopInst& inst = p.body[i];
    const int32_t own = slots_[p.inputs.size() + i];
    if (inst.op == ScalarOp::constant) {
      constants_.push_back({inst, own});
      continue;
    }
    steps_.push_back({tile_function(inst.op, p.operand_dtype(inst), inst.dtype),
                      own,
                      {slot(inst.args[0]), slot(inst.args[1]), slot(inst.args[2])}});
  }
  for (size_t i = 0; i < p.outputs.size(); ++i) {
    const LoopOutput& out = p.outputs[i];
    const DType value = p.dtype_of(out.value);
    const size_t pointer = p.inputs.size() + i;
    Sink sink{.pointer = int32_t(pointer),
              .slot = slot(out.value),
              .row_stride = nest.row_stride(pointer),
              .column_stride = nest.column_stride(pointer),
              .element = int64_t(tile_element_size(value)),
              .store = nullptr,
              .fold = {},
              .overwrites = nest.overwrites[i]};
    if (out.reduce == Reduce::none)
      sink.store = tile_store(value, out.dtype);
    else
      sink.fold = tile_reduction(out.reduce, value, out.dtype);
    sinks_.push_back(sink);
  }
}

char* Interpreter::tile(char* tiles, int32_t slot) const { return tiles + slot * tile_bytes; }

// A tile holds `rows` rows of `columns` elements, one after the other.
void Interpreter::load_tile(const LoopBlock& block, char* tiles, int64_t row, int64_t column,
                            int64_t rows, int64_t columns) const {
  for (const Load& load : loads_) {
    const char* from =
        block.pointers[size_t(load.pointer)] + row * load.row_stride + column * load.column_stride;
    if (rows > 1 && load.row_stride == columns * load.column_stride) {
      load.load(tile(tiles, load.slot), from, load.column_stride, rows * columns);
      continue;
    }
    for (int64_t r = 0; r < rows; ++r)
      load.load(tile(tiles, load.slot) + r * columns * load.element, from + r * load.row_stride,
                load.column_stride, columns);
  }
}

void Interpreter::store_tile(const LoopBlock& block, char* tiles, int64_t row, int64_t column,
                             int64_t rows, int64_t columns) const {
  for (const Sink& sink : sinks_) {
    if (block.skipped[size_t(sink.pointer)]) continue;
    char* to =
        block.pointers[size_t(sink.pointer)] + row * sink.row_stride + column * sink.column_stride;
    for (int64_t r = 0; r < rows; ++r) {
      const char* from = tile(tiles, sink.slot) + r * columns * sink.element;
      char* at = to + r * sink.row_stride;
      if (sink.store != nullptr)
        sink.store(at, from, columns);
      else if (sink.column_stride != 0)
        sink.fold.fold_each(at, from, columns);
      else
        fold_row(sink, at, from, column, columns);
    }
  }
}

void Interpreter::fold_row(const Sink& sink, char* to, const char* from, int64_t column,
                           int64_t columns) const {
  if (sink.overwrites && column == 0) sink.fold.clear(to, 1);
  sink.fold.fold(to, from, columns);
}

void Interpreter::run(const LoopBlock& block) const {
  auto* memory = static_cast<char*>(alloca(size_t(slot_count_) * tile_bytes + 64));
  char* tiles = memory + (64 - reinterpret_cast<uintptr_t>(memory) % 64) % 64;
  for (const Constant& constant : constants_)
    tile_fill(tile(tiles, constant.slot), constant.inst, tile_elements);
  const int64_t width = std::min(block.columns, tile_elements);
  const int64_t height = block.columns <= tile_elements / 2 ? tile_elements / block.columns : 1;
  for (int64_t row = 0; row < block.rows; row += height) {
    const int64_t rows = std::min(height, block.rows - row);
    for (int64_t column = 0; column < block.columns; column += width) {
      const int64_t columns = std::min(width, block.columns - column);
      load_tile(block, tiles, row, column, rows, columns);
      for (const Step& step : steps_)
        step.function(tile(tiles, step.slot), tile(tiles, step.args[0]), tile(tiles, step.args[1]),
                      tile(tiles, step.args[2]), rows * columns);
      store_tile(block, tiles, row, column, rows, columns);
    }
  }
}

}  // namespace keratin::cpu
