#include <benchmark/benchmark.h>
#include <immintrin.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <vector>

#include "keratin/backend/cpu/jit/loop_kernel.h"
#include "keratin/backend/cpu/parallel.h"

// Compares generated loops with loops written by hand with AVX-512 intrinsics.
namespace keratin::bench {
namespace {

using cpu::LoopProgram;

struct Free {
  void operator()(float* p) const { std::free(p); }
};
using Floats = std::unique_ptr<float[], Free>;

Floats floats(int64_t count, float value) {
  Floats data(static_cast<float*>(std::aligned_alloc(64, size_t(count) * 4 + 4096)));
  for (int64_t i = 0; i < count; ++i) data[size_t(i)] = value * float(i % 97) / 97;
  return data;
}

// gelu(x w + b) mask, with gelu(z) = z / 2 (1 + tanh(√(2/π) (z + 0.044715 z³))).
LoopProgram gelu_program(int64_t count) {
  LoopProgram p{.rank = 1, .dims = {count}};
  const int32_t x = p.add_input(DType::f32), mask = p.add_input(DType::f32);
  const int32_t w = p.add_scalar_input(DType::f32), b = p.add_scalar_input(DType::f32);
  const auto constant = [&](double value) { return p.add_constant(DType::f32, value); };
  const int32_t z = p.add(ScalarOp::add, p.add(ScalarOp::mul, x, w), b);
  const int32_t cube = p.add(ScalarOp::mul, z, p.add(ScalarOp::mul, z, z));
  const int32_t inner = p.add(ScalarOp::add, z, p.add(ScalarOp::mul, cube, constant(0.044715)));
  const int32_t t = p.add(ScalarOp::tanh, p.add(ScalarOp::mul, inner, constant(0.7978845608)));
  const int32_t one_more = p.add(ScalarOp::add, t, constant(1));
  const int32_t gelu = p.add(ScalarOp::mul, p.add(ScalarOp::mul, z, constant(0.5)), one_more);
  p.store(p.add(ScalarOp::mul, gelu, mask));
  return p;
}

[[gnu::target("avx512f,avx512dq,fma")]] inline __m512 exp_by_hand(__m512 x) {
  x = _mm512_min_ps(_mm512_max_ps(x, _mm512_set1_ps(-87)), _mm512_set1_ps(88));
  const __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(1.44269504F)), 8);
  __m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(0.693145752F), x);
  r = _mm512_fnmadd_ps(n, _mm512_set1_ps(1.42860677e-6F), r);
  __m512 p = _mm512_set1_ps(1.39e-3F);
  for (const float c : {8.3333e-3F, 4.16666e-2F, 1.666666e-1F, 0.5F, 1.0F, 1.0F})
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(c));
  return _mm512_scalef_ps(p, n);
}

[[gnu::target("avx512f,avx512dq,fma")]] void gelu_by_hand(const float* x, const float* mask,
                                                          float w, float b, float* y, int64_t begin,
                                                          int64_t end) {
  const __m512 one = _mm512_set1_ps(1);
  for (int64_t i = begin; i < end; i += 16) {
    const __m512 z = _mm512_fmadd_ps(_mm512_loadu_ps(x + i), _mm512_set1_ps(w), _mm512_set1_ps(b));
    const __m512 square = _mm512_mul_ps(z, z);
    const __m512 inner = _mm512_fmadd_ps(_mm512_mul_ps(z, square), _mm512_set1_ps(0.044715F), z);
    const __m512 e = exp_by_hand(_mm512_mul_ps(inner, _mm512_set1_ps(-1.595769122F)));
    const __m512 gelu = _mm512_div_ps(z, _mm512_add_ps(one, e));
    _mm512_storeu_ps(y + i, _mm512_mul_ps(gelu, _mm512_loadu_ps(mask + i)));
  }
}

void gelu(benchmark::State& state) {
  const int64_t count = state.range(0);
  const int threads = static_cast<int>(state.range(1));
  const auto isa = static_cast<cpu::LoopIsa>(state.range(2));
  const auto kernel =
      cpu::LoopKernel::compile(gelu_program(count), {.threads = threads, .isa = isa});
  const Floats x = floats(count, 3), mask = floats(count, 1), y = floats(count, 0);
  float w = 1.5F, b = 0.25F;
  void* inputs[] = {x.get(), mask.get(), &w, &b};
  void* outputs[] = {y.get()};
  for (auto _ : state) kernel.run(inputs, outputs, nullptr);
  state.SetLabel(std::string(name(kernel.isa())));
  state.SetBytesProcessed(state.iterations() * count * 12);
}

void gelu_hand(benchmark::State& state) {
  const int64_t count = state.range(0);
  const int threads = static_cast<int>(state.range(1));
  const Floats x = floats(count, 3), mask = floats(count, 1), y = floats(count, 0);
  for (auto _ : state)
    cpu::parallel_for(threads, count / 1024, 1, [&](int64_t begin, int64_t end) {
      gelu_by_hand(x.get(), mask.get(), 1.5F, 0.25F, y.get(), begin * 1024, end * 1024);
    });
  state.SetBytesProcessed(state.iterations() * count * 12);
}

// m += (g - m) (1 - β₁); v += (g² - v) (1 - β₂); w -= rate m / (√v + ε), in place.
LoopProgram adam_program(int64_t count) {
  LoopProgram p{.rank = 1, .dims = {count}};
  const int32_t w = p.add_input(DType::f32), m = p.add_input(DType::f32);
  const int32_t v = p.add_input(DType::f32), g = p.add_input(DType::f32);
  const int32_t rate = p.add_scalar_input(DType::f32);
  const auto constant = [&](double value) { return p.add_constant(DType::f32, value); };
  const auto towards = [&](int32_t from, int32_t to, double fraction) {
    return p.add(ScalarOp::add, from,
                 p.add(ScalarOp::mul, p.add(ScalarOp::sub, to, from), constant(fraction)));
  };
  const int32_t m2 = towards(m, g, 0.1), v2 = towards(v, p.add(ScalarOp::mul, g, g), 0.001);
  const int32_t root = p.add(ScalarOp::add, p.add(ScalarOp::sqrt, v2), constant(1e-7));
  p.store(p.add(ScalarOp::sub, w, p.add(ScalarOp::div, p.add(ScalarOp::mul, m2, rate), root)));
  p.store(m2);
  p.store(v2);
  return p;
}

[[gnu::target("avx512f,fma")]] void adam_by_hand(float* w, float* m, float* v, const float* g,
                                                 float rate, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i += 16) {
    const __m512 gi = _mm512_loadu_ps(g + i), mi = _mm512_loadu_ps(m + i);
    const __m512 vi = _mm512_loadu_ps(v + i);
    const __m512 m2 = _mm512_fmadd_ps(_mm512_sub_ps(gi, mi), _mm512_set1_ps(0.1F), mi);
    const __m512 v2 = _mm512_fmadd_ps(_mm512_fmsub_ps(gi, gi, vi), _mm512_set1_ps(0.001F), vi);
    const __m512 root = _mm512_add_ps(_mm512_sqrt_ps(v2), _mm512_set1_ps(1e-7F));
    const __m512 step = _mm512_div_ps(_mm512_mul_ps(m2, _mm512_set1_ps(rate)), root);
    _mm512_storeu_ps(w + i, _mm512_sub_ps(_mm512_loadu_ps(w + i), step));
    _mm512_storeu_ps(m + i, m2);
    _mm512_storeu_ps(v + i, v2);
  }
}

struct AdamData {
  Floats w, m, v, g;
  explicit AdamData(int64_t count)
      : w(floats(count, 1)), m(floats(count, 1)), v(floats(count, 1)), g(floats(count, 1)) {}
};

void adam(benchmark::State& state) {
  const int64_t count = state.range(0);
  const int threads = static_cast<int>(state.range(1));
  const auto isa = static_cast<cpu::LoopIsa>(state.range(2));
  const auto kernel =
      cpu::LoopKernel::compile(adam_program(count), {.threads = threads, .isa = isa});
  const AdamData d(count);
  float rate = 1e-3F;
  void* inputs[] = {d.w.get(), d.m.get(), d.v.get(), d.g.get(), &rate};
  const cpu::FlushDenormals flush;
  for (auto _ : state) kernel.run(inputs, inputs, nullptr);
  state.SetLabel(std::string(name(kernel.isa())));
  state.SetBytesProcessed(state.iterations() * count * 28);
}

void adam_hand(benchmark::State& state) {
  const int64_t count = state.range(0);
  const int threads = static_cast<int>(state.range(1));
  const AdamData d(count);
  const cpu::FlushDenormals flush;
  for (auto _ : state)
    cpu::parallel_for(threads, count / 1024, 1, [&](int64_t begin, int64_t end) {
      adam_by_hand(d.w.get(), d.m.get(), d.v.get(), d.g.get(), 1e-3F, begin * 1024, end * 1024);
    });
  state.SetBytesProcessed(state.iterations() * count * 28);
}

void compile_gelu(benchmark::State& state) {
  const LoopProgram p = gelu_program(1 << 14);
  size_t bytes = 0;
  for (auto _ : state) bytes = cpu::LoopKernel::compile(p, {}).code_bytes();
  state.SetLabel(std::to_string(bytes) + " bytes");
}

// The gradient of a bias: a relu's gradient, stored, and its sum over the rows.
void bias_gradient(benchmark::State& state) {
  const int64_t rows = state.range(0), columns = state.range(1);
  LoopProgram p{.rank = 2, .dims = {rows, columns}};
  p.add_input(DType::f32), p.add_input(DType::f32);
  const int32_t zero = p.add_constant(DType::f32, 0);
  p.store(p.add(ScalarOp::select, p.add(ScalarOp::greater, 0, zero), 1, zero));
  p.reduce(cpu::Reduce::sum, p.outputs[0].value, 1);
  const auto kernel = cpu::LoopKernel::compile(p, {.threads = static_cast<int>(state.range(2))});
  const int64_t count = rows * columns;
  const Floats x = floats(count, 3), dy = floats(count, 1), dx = floats(count, 0);
  const Floats db = floats(columns, 0),
               scratch = floats(int64_t(kernel.scratch_bytes()) / 4 + 16, 0);
  void* inputs[] = {x.get(), dy.get()};
  void* outputs[] = {dx.get(), db.get()};
  for (auto _ : state) kernel.run(inputs, outputs, scratch.get());
  state.SetBytesProcessed(state.iterations() * count * 12);
}

void row_sum(benchmark::State& state) {
  const int64_t rows = state.range(0), columns = state.range(1);
  LoopProgram p{.rank = 2, .dims = {rows, columns}};
  p.add_input(DType::f32);
  p.reduce(cpu::Reduce::sum, 0, 2);
  const auto kernel = cpu::LoopKernel::compile(p, {});
  const Floats x = floats(rows * columns, 3), y = floats(rows, 0);
  const Floats scratch = floats(int64_t(kernel.scratch_bytes()) / 4 + 16, 0);
  void* inputs[] = {x.get()};
  void* outputs[] = {y.get()};
  for (auto _ : state) kernel.run(inputs, outputs, scratch.get());
  state.SetBytesProcessed(state.iterations() * rows * columns * 4);
}

BENCHMARK(gelu)->ArgsProduct({{16, 1 << 14, 1 << 22}, {1, 2}, {0, 1, 2}})->UseRealTime();
BENCHMARK(gelu_hand)->ArgsProduct({{1 << 14, 1 << 22}, {1, 2}})->UseRealTime();
BENCHMARK(adam)->ArgsProduct({{1 << 14, 10 << 20}, {1, 2}, {0, 1, 2}})->UseRealTime();
BENCHMARK(adam_hand)->ArgsProduct({{1 << 14, 10 << 20}, {1, 2}})->UseRealTime();
BENCHMARK(bias_gradient)->Args({128, 512, 1})->Args({128, 512, 2})->Args({128, 10, 1});
BENCHMARK(row_sum)->Args({128, 512})->Args({128, 10})->Args({4096, 768});
BENCHMARK(compile_gelu);

}  // namespace
}  // namespace keratin::bench
