#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "keratin/backend/cpu/jit/loop_kernel.h"
#include "keratin/backend/cpu/parallel.h"
#include "keratin/tensor/elements.h"

namespace keratin::cpu::loop_testing {

// One element: `real` of a float dtype, `whole` of any other.
struct Element {
  double real = 0;
  int64_t whole = 0;
};

// An array with bytes before and after that must stay as they are.
class Array {
 public:
  Array(DType dtype, int64_t count, int64_t misalign = 0)
      : dtype_(dtype), count_(count), bytes_(size_t(count) * size_of(dtype) + 4 * guard, fill) {
    const auto at = reinterpret_cast<uintptr_t>(bytes_.data()) + guard;
    start_ = guard + (64 - at % 64) % 64 + size_t(misalign) * size_of(dtype);
  }

  DType dtype() const { return dtype_; }
  int64_t count() const { return count_; }
  char* data() { return bytes_.data() + start_; }
  const char* data() const { return bytes_.data() + start_; }

  Element get(int64_t i) const {
    return dispatch(dtype_, [&]<class Tag>(Tag) -> Element {
      using T = typename Tag::type;
      T value;
      std::memcpy(&value, data() + size_t(i) * sizeof(T), sizeof(T));
      if (is_float(dtype_)) return {convert<double>(value), 0};
      return {0, convert<int64_t>(value)};
    });
  }
  void set(int64_t i, Element e) {
    dispatch(dtype_, [&]<class Tag>(Tag) {
      using T = typename Tag::type;
      const T value = is_float(dtype_) ? convert<T>(e.real) : convert<T>(e.whole);
      std::memcpy(data() + size_t(i) * sizeof(T), &value, sizeof(T));
    });
  }
  bool guards_intact() const {
    const size_t end = start_ + size_t(count_) * size_of(dtype_);
    for (size_t i = 0; i < bytes_.size(); ++i)
      if ((i < start_ || i >= end) && bytes_[i] != fill) return false;
    return true;
  }
  bool same_bytes(const Array& other) const {
    return std::memcmp(data(), other.data(), size_t(count_) * size_of(dtype_)) == 0;
  }

 private:
  static constexpr size_t guard = 128;
  static constexpr char fill = 0x5a;
  DType dtype_;
  int64_t count_;
  std::vector<char> bytes_;
  size_t start_;
};

// Elements an input must have: one more than the farthest it is read at.
inline int64_t extent(const LoopProgram& p, const LoopInput& input) {
  int64_t last = 0;
  for (int d = 0; d < p.rank; ++d) last += (p.dims[d] - 1) * input.strides[d];
  return p.element_count() == 0 ? 0 : last + 1;
}

inline Array random_array(DType dtype, int64_t count, std::mt19937& random, double range = 4) {
  Array array(dtype, count);
  std::uniform_real_distribution<double> real(-range, range);
  for (int64_t i = 0; i < count; ++i) {
    Element e{real(random), int64_t(std::lround(real(random) * 5))};
    if (dtype == DType::boolean) e.whole = int64_t(random() % 2);
    array.set(i, e);
  }
  return array;
}

inline std::vector<Array> random_inputs(const LoopProgram& p, std::mt19937& random) {
  std::vector<Array> arrays;
  for (const LoopInput& input : p.inputs)
    arrays.push_back(random_array(input.dtype, extent(p, input), random));
  return arrays;
}

inline std::vector<Array> output_arrays(const LoopProgram& p) {
  std::vector<Array> arrays;
  for (const LoopOutput& out : p.outputs) arrays.emplace_back(out.dtype, p.element_count(out));
  return arrays;
}

// Runs a kernel as a plan would: denormals flushed, scratch full of garbage.
inline void run(const LoopKernel& kernel, const std::vector<char*>& inputs,
                const std::vector<char*>& outputs) {
  std::vector<char> scratch(kernel.scratch_bytes() + 64, char(0x7f));
  char* aligned = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) % 64;
  const FlushDenormals flush;
  kernel.run(reinterpret_cast<void* const*>(inputs.data()),
             reinterpret_cast<void* const*>(outputs.data()), aligned);
}

inline std::vector<Array> execute(const LoopProgram& p, LoopOptions options,
                                  std::vector<Array>& inputs) {
  std::vector<Array> outputs = output_arrays(p);
  std::vector<char*> in, out;
  for (Array& array : inputs) in.push_back(array.data());
  for (Array& array : outputs) out.push_back(array.data());
  run(LoopKernel::compile(p, options), in, out);
  return outputs;
}

inline std::vector<LoopIsa> isas() {
  std::vector<LoopIsa> all = {LoopIsa::interpreter};
  if (best_loop_isa() >= LoopIsa::avx2) all.push_back(LoopIsa::avx2);
  if (best_loop_isa() >= LoopIsa::avx512) all.push_back(LoopIsa::avx512);
  return all;
}

// The expected result of an instruction, in double precision or 64-bit integers, computed apart
// from the code under test and not rounded to the dtype.
Element evaluate(const LoopInst& inst, DType operand, const Element* args);

// The largest error allowed for a float result, in units of the last place.
double allowed_ulps(ScalarOp op, DType dtype);

// Ordinary numbers and edge cases.
Array awkward_array(DType dtype, int64_t count, std::mt19937& random);

// The distance of a result from the exact value, in units of the last place of the dtype, with
// denormals flushed.
inline double ulps(DType dtype, double got, double exact) {
  if (std::isnan(got) || std::isnan(exact)) return std::isnan(got) == std::isnan(exact) ? 0 : 1e30;
  const bool single = dtype != DType::f64;
  const double smallest = single ? std::numeric_limits<float>::min() : 0x1p-1022;
  const double largest =
      single ? double(std::numeric_limits<float>::max()) : 0x1.fffffffffffffp1023;
  if (std::abs(exact) < smallest * 1.000001 && std::abs(got) <= smallest) return 0;
  if (std::isinf(got) || std::abs(exact) > largest)
    return std::isinf(got) && std::abs(exact) > largest * 0.9999995 && (got > 0) == (exact > 0)
               ? 0
               : 1e30;
  const int exponent = std::ilogb(exact == 0 ? smallest : exact);
  return std::abs(got - exact) / std::ldexp(1.0, exponent - (single ? 23 : 52));
}

}  // namespace keratin::cpu::loop_testing
