#include "bench/peak.h"

#include <immintrin.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

namespace keratin::bench {
namespace {

constexpr int accumulators = 24;  // more than latency x ports on every x86-64 so far

[[gnu::target("avx512f")]] int64_t fma_loop_512(int64_t rounds) {
  __m512 sums[accumulators];
  for (auto& sum : sums) sum = _mm512_setzero_ps();
  __m512 a = _mm512_set1_ps(1.0F), b = _mm512_set1_ps(0.5F);
  for (int64_t i = 0; i < rounds; ++i) {
    asm volatile("" : "+v"(a), "+v"(b));
#pragma GCC unroll 24
    for (auto& sum : sums) sum = _mm512_fmadd_ps(a, b, sum);
  }
  for (auto& sum : sums) asm volatile("" : "+v"(sum));
  return rounds * accumulators * 16 * 2;
}

[[gnu::target("avx2,fma")]] int64_t fma_loop_256(int64_t rounds) {
  constexpr int used = 12;  // AVX2 has sixteen registers
  __m256 sums[used];
  for (auto& sum : sums) sum = _mm256_setzero_ps();
  __m256 a = _mm256_set1_ps(1.0F), b = _mm256_set1_ps(0.5F);
  for (int64_t i = 0; i < rounds; ++i) {
    asm volatile("" : "+x"(a), "+x"(b));
#pragma GCC unroll 12
    for (auto& sum : sums) sum = _mm256_fmadd_ps(a, b, sum);
  }
  for (auto& sum : sums) asm volatile("" : "+x"(sum));
  return rounds * used * 8 * 2;
}

int64_t fma_loop(int64_t rounds) {
  if (__builtin_cpu_supports("avx512f")) return fma_loop_512(rounds);
  if (__builtin_cpu_supports("avx2")) return fma_loop_256(rounds);
  volatile float x = 1;
  for (int64_t i = 0; i < rounds; ++i) x = x * 0.5F + 1;
  return rounds * 2;
}

// Eight streams, so that more than one hardware prefetcher runs ahead.
[[gnu::noinline]] void read_all(const float* data, size_t count) {
  constexpr size_t streams = 8;
  const size_t stride = count / streams / 16 * 16;
  __m128 sums[streams] = {};
  for (size_t i = 0; i < stride; i += 16) {
    for (size_t s = 0; s < streams; ++s) {
      const float* at = data + s * stride + i;
      sums[s] = _mm_or_ps(sums[s], _mm_or_ps(_mm_or_ps(_mm_load_ps(at), _mm_load_ps(at + 4)),
                                             _mm_or_ps(_mm_load_ps(at + 8), _mm_load_ps(at + 12))));
    }
  }
  for (auto& sum : sums) asm volatile("" : "+x"(sum));
}

[[gnu::target("avx")]] [[gnu::noinline]] void read_all_256(const float* data, size_t count) {
  constexpr size_t streams = 8;
  const size_t stride = count / streams / 16 * 16;
  __m256 sums[streams];
  for (auto& sum : sums) sum = _mm256_setzero_ps();
  for (size_t i = 0; i < stride; i += 16) {
#pragma GCC unroll 8
    for (size_t s = 0; s < streams; ++s) {
      const float* at = data + s * stride + i;
      sums[s] = _mm256_or_ps(sums[s], _mm256_or_ps(_mm256_load_ps(at), _mm256_load_ps(at + 8)));
    }
  }
  for (auto& sum : sums) asm volatile("" : "+x"(sum));
}

void copy_all(const float* from, float* to, size_t count) {
  for (size_t i = 0; i + 16 <= count; i += 16)
    for (size_t j = 0; j < 16; j += 4) _mm_stream_ps(to + i + j, _mm_load_ps(from + i + j));
  _mm_sfence();
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The best rate of many samples of `work`, which returns the amount that one thread has done. The
// time of a sample is that of its slowest thread.
template <class Work>
double best_rate(int threads, int samples, const Work& work) {
  double best = 0;
  for (int sample = 0; sample < samples; ++sample) {
    double done = 0, start = 0, stop = 0;
#pragma omp parallel num_threads(threads) reduction(+ : done)
    {
#pragma omp barrier
#pragma omp master
      start = seconds_now();
      done = static_cast<double>(work(omp_get_thread_num()));
#pragma omp barrier
#pragma omp master
      stop = seconds_now();
    }
    if (sample > 0) best = std::max(best, done / (stop - start) * 1e-9);
  }
  return best;
}

struct Free {
  void operator()(float* memory) const { std::free(memory); }
};
using Floats = std::unique_ptr<float, Free>;

Floats touched(size_t count) {
  auto* memory = static_cast<float*>(std::aligned_alloc(4096, (count * 4 + 4095) / 4096 * 4096));
  std::fill_n(memory, count, 1.0F);
  return Floats(memory);
}

// Repeats small blocks so that a sample takes longer than a timer tick.
int64_t repeats(size_t bytes) { return std::max<int64_t>(1, (16 << 20) / int64_t(bytes)); }

}  // namespace

double fma_peak(int threads) {
  return best_rate(threads, 40, [](int) { return fma_loop(1 << 16); });
}

double read_bandwidth(int threads, size_t bytes) {
  std::vector<Floats> blocks;
  for (int t = 0; t < threads; ++t) blocks.push_back(touched(bytes / 4));
  const bool wide = __builtin_cpu_supports("avx");
  return best_rate(threads, 20, [&](int t) {
    for (int64_t i = 0; i < repeats(bytes); ++i)
      (wide ? read_all_256 : read_all)(blocks[size_t(t)].get(), bytes / 4);
    return repeats(bytes) * int64_t(bytes);
  });
}

double copy_bandwidth(int threads, size_t bytes) {
  std::vector<Floats> from, to;
  for (int t = 0; t < threads; ++t) {
    from.push_back(touched(bytes / 4));
    to.push_back(touched(bytes / 4));
  }
  return best_rate(threads, 20, [&](int t) {
    for (int64_t i = 0; i < repeats(bytes); ++i)
      copy_all(from[size_t(t)].get(), to[size_t(t)].get(), bytes / 4);
    return 2 * repeats(bytes) * int64_t(bytes);
  });
}

}  // namespace keratin::bench
