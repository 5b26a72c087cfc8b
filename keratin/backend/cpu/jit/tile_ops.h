#pragma once

#include "keratin/backend/cpu/jit/loop_nest.h"
#include "keratin/tensor/elements.h"

namespace keratin::cpu {

// One operation over n elements of contiguous tiles, which hold a dtype's arithmetic type: float
// for the half types, else the type it is stored as. dst may be an operand.
using TileFunction = void (*)(void* dst, const void* a, const void* b, const void* c, int64_t n);

// The function for an operation on `operand`s that gives `result`s; never null, throws
// InternalError if the operation does not take the dtype.
TileFunction tile_function(ScalarOp op, DType operand, DType result);

// True if tile_function would find one.
bool has_tile_function(ScalarOp op, DType operand, DType result);

constexpr size_t tile_element_size(DType dtype) {
  return dtype == DType::f16 || dtype == DType::bf16 ? 4 : size_of(dtype);
}

// Between an array, read or written with a stride in bytes, and a tile.
using TileLoad = void (*)(void* tile, const char* memory, int64_t stride, int64_t n);
using TileStore = void (*)(char* memory, const void* tile, int64_t n);
TileLoad tile_load(DType dtype);
TileStore tile_store(DType from, DType to);  // converts, then writes contiguously

// Fills a tile with a constant.
void tile_fill(void* tile, const LoopInst& constant, int64_t n);

// Accumulators (see accumulator_dtype): the neutral element, folding a tile into one accumulator
// or element by element into many, and the final conversion into the output.
struct TileReduction {
  void (*clear)(char* accumulators, int64_t n);
  void (*fold)(char* accumulator, const void* tile, int64_t n);
  void (*fold_each)(char* accumulators, const void* tile, int64_t n);
  void (*combine)(char* accumulators, const char* others, int64_t n);
  void (*finish)(char* output, const char* accumulators, int64_t n);
};
TileReduction tile_reduction(Reduce kind, DType value, DType output);

// Calls f(TypeTag<T>{}) with the arithmetic type of the dtype.
template <class F>
decltype(auto) dispatch_tile(DType dtype, F&& f) {
  return dispatch(accumulator_dtype(dtype) == DType::f32 ? DType::f32 : dtype, std::forward<F>(f));
}

}  // namespace keratin::cpu
