#include "keratin/backend/cpu/jit/loop_kernel.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "keratin/backend/cpu/jit/generate.h"
#include "keratin/backend/cpu/jit/grid.h"
#include "keratin/backend/cpu/jit/interpreter.h"
#include "keratin/backend/cpu/parallel.h"
#include "keratin/base/text.h"

namespace keratin::cpu {

namespace {

// Elements that one call of a block function folds into a set of accumulators: few enough to keep
// the sum accurate, many enough to amortise the call.
constexpr int64_t fold_elements = 8192;
constexpr double serial_ns = 3000;  // less work than this does not pay for waking a thread

int64_t last_level_cache() {
  static const int64_t bytes = [] {
    const long found = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return found > 0 ? int64_t{found} : int64_t{32} << 20;
  }();
  return bytes;
}

// A rough cost per element, to tell microseconds from milliseconds.
double element_ns(const LoopNest& nest, LoopIsa isa) {
  double ns = 0;
  for (const LoopPointer& pointer : nest.pointers)
    if (pointer.strides[size_t(nest.program.rank - 1)] != 0)
      ns += 0.03 * static_cast<double>(size_of(pointer.dtype));
  for (const LoopInst& inst : nest.program.body) ns += inst_ns(inst, isa);
  return ns;
}

int64_t streamed_bytes(const LoopNest& nest) {
  int64_t bytes = 0;
  for (const LoopPointer& pointer : nest.pointers) {
    int64_t span = int64_t(size_of(pointer.dtype));
    for (int d = 0; d < nest.program.rank; ++d)
      if (pointer.strides[size_t(d)] != 0) span *= nest.program.dims[size_t(d)];
    bytes += span;
  }
  return bytes;
}

void require_operation(const LoopProgram& p, const LoopInst& inst) {
  if (inst.op == ScalarOp::constant) return;
  tile_function(inst.op, p.operand_dtype(inst), inst.dtype);
}

}  // namespace

struct Reduction {
  size_t output;
  TileReduction tile;
  int64_t elements;
  int64_t bytes;    // of one set of accumulators
  bool direct;      // the output array itself holds the accumulators
  bool clear;       // needs the neutral element before
  int64_t scratch;  // offset of the partials
};

struct LoopKernel::Impl {
  LoopNest nest;
  std::vector<int64_t> row_strides;
  Grid grid;
  int threads = 1;
  int64_t grain = 1;  // blocks per thread, at least
  LoopIsa isa = LoopIsa::interpreter;
  std::optional<Interpreter> interpreter;
  GeneratedCode code, streaming_code;  // the latter bypasses the cache
  std::vector<Reduction> reductions;
  std::vector<int32_t> reduction_of_output;  // -1 for a store
  int64_t rows_per_call = INT64_MAX, columns_per_call = INT64_MAX;
  int64_t scratch = 0;
  bool empty = false;
  bool single = false;  // one block of two dims, nothing to prepare or combine

  void plan_reductions();
  void run_single(void* const* inputs, void* const* outputs) const;
  void run_block_range(const void* const* inputs, char* const* outputs, BlockFunction function,
                       int64_t begin, int64_t end, char* partials) const;
  void run_columns(char* const* base, BlockFunction function, int64_t row, int64_t row_end,
                   int64_t column, int64_t column_end) const;
  void run_rows(char* const* base, BlockFunction function, int64_t row, int64_t row_end,
                int64_t column, int64_t columns) const;
  void run_block(BlockFunction function, LoopBlock& block) const {
    function != nullptr ? function(&block) : interpreter->run(block);
  }
  // Reductions write their results straight into the outputs.
  bool overwrites_all() const {
    return std::all_of(reductions.begin(), reductions.end(),
                       [](const Reduction& r) { return r.direct && !r.clear; });
  }
  bool skips_outputs(void* const* outputs) const;
  BlockFunction choose_code(void* const* inputs, void* const* outputs) const;
  void clear_reduction(const Reduction& r, char* output, char* partials) const;
  void finish_reduction(const Reduction& r, char* output, char* partials) const;
};

void LoopKernel::Impl::plan_reductions() {
  reduction_of_output.assign(nest.program.outputs.size(), -1);
  for (size_t i = 0; i < nest.program.outputs.size(); ++i) {
    const LoopOutput& out = nest.program.outputs[i];
    if (out.reduce == Reduce::none) continue;
    const DType value = nest.program.dtype_of(out.value);
    const DType accumulator = accumulator_dtype(value);
    const uint32_t last = 1u << (nest.program.rank - 1);
    Reduction r{.output = i,
                .tile = tile_reduction(out.reduce, value, out.dtype),
                .elements = nest.program.element_count(out),
                .bytes = 0,
                .direct = false,
                .clear = true,
                .scratch = scratch};
    const bool by_row = (out.reduced & last) != 0;
    if (by_row) columns_per_call = fold_elements;
    if (by_row && (out.reduced & last >> 1))
      rows_per_call = std::max<int64_t>(1, fold_elements / std::max<int64_t>(1, nest.columns()));
    nest.overwrites[i] = out.reduced == last && nest.columns() <= fold_elements;
    r.clear = !nest.overwrites[i];
    r.bytes = (r.elements * int64_t(size_of(accumulator)) + 63) / 64 * 64;
    r.direct = grid.partials[i].count == 1 && accumulator == out.dtype && value != DType::boolean;
    if (!r.direct) scratch += r.bytes * grid.partials[i].count;
    reduction_of_output[i] = int32_t(reductions.size());
    reductions.push_back(r);
  }
}

LoopKernel LoopKernel::compile(LoopProgram program, LoopOptions options) {
  auto impl = std::make_shared<Impl>();
  const bool contract = options.contract && best_loop_isa() != LoopIsa::interpreter;
  impl->nest = make_nest(std::move(program), contract);
  LoopNest& nest = impl->nest;
  impl->row_strides = nest.row_strides();
  for (const LoopInst& inst : nest.program.body) require_operation(nest.program, inst);
  ensure(nest.pointers.size() <= size_t(max_loop_pointers), "loop program: at most ",
         max_loop_pointers, " arrays, got ", nest.pointers.size());
  impl->empty = nest.program.element_count() == 0;
  if (!impl->empty) impl->grid = make_grid(nest);
  if (impl->empty) impl->grid.partials.resize(nest.program.outputs.size());
  impl->plan_reductions();
  if (options.isa != LoopIsa::interpreter && !impl->empty) {
    impl->code = generate(nest, options.isa, false);
    const int64_t limit = options.stream_bytes >= 0 ? options.stream_bytes : last_level_cache() / 2;
    if (impl->code && streamed_bytes(nest) > limit)
      impl->streaming_code = generate(nest, options.isa, true);
  }
  impl->isa = impl->code ? options.isa : LoopIsa::interpreter;
  impl->interpreter.emplace(nest);
  impl->single = impl->code && !impl->streaming_code && impl->grid.blocks() == 1 &&
                 nest.program.rank == 2 && impl->overwrites_all() &&
                 impl->columns_per_call >= nest.columns() && impl->rows_per_call >= nest.rows();
  impl->threads = options.threads;
  const double block_ns =
      element_ns(nest, impl->isa) * double(impl->grid.row_block * impl->grid.column_block);
  impl->grain = std::max<int64_t>(1, int64_t(serial_ns / std::max(block_ns, 1.0)));
  LoopKernel kernel;
  kernel.impl_ = std::move(impl);
  return kernel;
}

size_t LoopKernel::scratch_bytes() const { return size_t(impl_->scratch); }
LoopIsa LoopKernel::isa() const { return impl_->isa; }
size_t LoopKernel::code_bytes() const { return impl_->code.size() + impl_->streaming_code.size(); }

std::string LoopKernel::describe() const {
  std::ostringstream out;
  out << name(isa()) << ' ' << impl_->grid.row_blocks << 'x' << impl_->grid.column_blocks
      << " blocks, " << code_bytes() << " code bytes" << (impl_->streaming_code ? ", streams" : "")
      << '\n'
      << cpu::describe(impl_->nest.program);
  return out.str();
}

bool LoopKernel::Impl::skips_outputs(void* const* outputs) const {
  for (size_t i = 0; i < nest.program.outputs.size(); ++i)
    if (outputs[i] == nullptr) return true;
  return false;
}

// Code that bypasses the cache needs aligned outputs, and is slower where an output is also an
// input.
BlockFunction LoopKernel::Impl::choose_code(void* const* inputs, void* const* outputs) const {
  if (skips_outputs(outputs)) return nullptr;
  if (!streaming_code) return code.function();
  for (size_t i = 0; i < nest.program.outputs.size(); ++i) {
    if (nest.program.outputs[i].reduce != Reduce::none) continue;
    const LoopPointer& pointer = nest.output_pointer(i);
    int64_t misaligned = int64_t(reinterpret_cast<uintptr_t>(outputs[i]) % 64);
    for (int d = 0; d + 1 < nest.program.rank; ++d) misaligned |= pointer.strides[size_t(d)] % 64;
    if (misaligned != 0) return code.function();
    for (size_t j = 0; j < nest.program.inputs.size(); ++j)
      if (inputs[j] == outputs[i]) return code.function();
  }
  return streaming_code.function();
}

void LoopKernel::Impl::run_columns(char* const* base, BlockFunction function, int64_t row,
                                   int64_t row_end, int64_t column, int64_t column_end) const {
  while (column < column_end) {
    const int64_t columns = std::min(column_end - column, columns_per_call);
    run_rows(base, function, row, row_end, column, columns);
    column += columns;
  }
}

void LoopKernel::Impl::run_rows(char* const* base, BlockFunction function, int64_t row,
                                int64_t row_end, int64_t column, int64_t columns) const {
  const LoopProgram& p = nest.program;
  const size_t count = nest.pointers.size();
  const int64_t inner = p.dims[size_t(p.rank - 2)];
  LoopBlock block;
  block.row_strides = row_strides.data();
  if (function == nullptr)
    for (size_t i = p.inputs.size(); i < count; ++i) block.skipped[i] = base[i] == nullptr;
  while (row < row_end) {
    const int64_t rows = std::min({inner - row % inner, row_end - row, rows_per_call});
    block.rows = rows;
    block.columns = columns;
    for (size_t i = 0; i < count; ++i)
      block.pointers[i] =
          base[i] + column * nest.column_stride(i) + row % inner * nest.row_stride(i);
    int64_t rest = row / inner;
    for (int d = p.rank - 2; d-- > 0; rest /= p.dims[size_t(d)])
      if (const int64_t at = rest % p.dims[size_t(d)]; at != 0)
        for (size_t i = 0; i < count; ++i)
          block.pointers[i] += at * nest.pointers[i].strides[size_t(d)];
    row += rows;
    run_block(function, block);
  }
}

void LoopKernel::Impl::run_block_range(const void* const* inputs, char* const* outputs,
                                       BlockFunction function, int64_t begin, int64_t end,
                                       char* partials) const {
  const LoopProgram& p = nest.program;
  std::array<char*, max_loop_pointers> base;
  for (size_t i = 0; i < p.inputs.size(); ++i)
    base[i] = static_cast<char*>(const_cast<void*>(inputs[i]));
  for (size_t i = 0; i < p.outputs.size(); ++i) base[p.inputs.size() + i] = outputs[i];
  const int64_t rows = nest.rows(), columns = nest.columns();
  const bool merge = reductions.empty();
  if (merge && grid.column_blocks == 1) {
    return run_rows(base.data(), function, begin * grid.row_block,
                    std::min(rows, end * grid.row_block), 0, columns);
  }
  if (merge && grid.row_blocks == 1) {
    const int64_t first = begin * grid.column_block;
    return run_rows(base.data(), function, 0, rows, first,
                    std::min(columns, end * grid.column_block) - first);
  }
  for (int64_t b = begin; b < end; ++b) {
    for (const Reduction& r : reductions)
      if (!r.direct)
        base[p.inputs.size() + r.output] =
            partials + r.scratch + grid.partial(r.output, b) * r.bytes;
    const int64_t row = b / grid.column_blocks * grid.row_block;
    const int64_t column = b % grid.column_blocks * grid.column_block;
    run_columns(base.data(), function, row, std::min(rows, row + grid.row_block), column,
                std::min(columns, column + grid.column_block));
  }
}

void LoopKernel::Impl::clear_reduction(const Reduction& r, char* output, char* partials) const {
  if (output == nullptr || (!r.clear && !empty)) return;
  if (r.direct) return r.tile.clear(output, r.elements);
  for (int64_t i = 0; i < grid.partials[r.output].count; ++i)
    r.tile.clear(partials + r.scratch + i * r.bytes, r.elements);
}

void LoopKernel::Impl::finish_reduction(const Reduction& r, char* output, char* partials) const {
  if (r.direct || output == nullptr) return;
  char* first = partials + r.scratch;
  const int64_t count = grid.partials[r.output].count;
  for (int64_t step = 1; step < count; step *= 2)  // as a tree, which is more accurate
    for (int64_t i = 0; i + step < count; i += 2 * step)
      r.tile.combine(first + i * r.bytes, first + (i + step) * r.bytes, r.elements);
  r.tile.finish(output, first, r.elements);
}

// Small loops run without the preparations of `run`, which would take longer than they do.
void LoopKernel::Impl::run_single(void* const* inputs, void* const* outputs) const {
  LoopBlock block;
  block.rows = nest.rows();
  block.columns = nest.columns();
  block.row_strides = row_strides.data();
  const size_t count = nest.program.inputs.size();
  for (size_t i = 0; i < count; ++i) block.pointers[i] = static_cast<char*>(inputs[i]);
  for (size_t i = 0; i < nest.program.outputs.size(); ++i)
    block.pointers[count + i] = static_cast<char*>(outputs[i]);
  code.function()(&block);
}

void LoopKernel::run(void* const* inputs, void* const* outputs, void* scratch) const {
  const Impl& impl = *impl_;
  if (impl.single && !impl.skips_outputs(outputs)) return impl.run_single(inputs, outputs);
  auto* partials = static_cast<char*>(scratch);
  auto* const* out = reinterpret_cast<char* const*>(outputs);
  for (const Reduction& r : impl.reductions) impl.clear_reduction(r, out[r.output], partials);
  if (!impl.empty) {
    const BlockFunction function = impl.choose_code(inputs, outputs);
    parallel_for(impl.threads, impl.grid.blocks(), impl.grain, [&](int64_t begin, int64_t end) {
      impl.run_block_range(inputs, out, function, begin, end, partials);
    });
  }
  for (const Reduction& r : impl.reductions) impl.finish_reduction(r, out[r.output], partials);
}

}  // namespace keratin::cpu
