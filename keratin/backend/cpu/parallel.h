#pragma once

#include <algorithm>
#include <cstdint>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace keratin::cpu {

// Treats denormal numbers as zero for a scope: they cost a hundred times a normal operation, and
// moments of an optimizer decay into them. Workers of a team do this by themselves; the thread that
// runs a plan holds one of these, so that serial steps compute the same.
class FlushDenormals {
 public:
#if defined(__SSE__)
  [[gnu::always_inline]] FlushDenormals() : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | 0x8040u); }
  [[gnu::always_inline]] ~FlushDenormals() { _mm_setcsr(saved_); }
#else
  FlushDenormals() {}
#endif
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  [[maybe_unused]] unsigned saved_ = 0;
};

// Runs body(data, chunk) for every chunk in [0, chunks) on a libgomp team of that many threads,
// each with denormals flushed. The exception of the lowest chunk is thrown again on the calling
// thread.
void run_team(int chunks, void (*body)(void* data, int chunk), void* data);

// Calls fn(begin, end) on contiguous chunks that cover [0, count) once, one chunk per thread. Work
// smaller than `grain` items per thread uses fewer threads, down to a plain call.
template <class F>
[[gnu::always_inline]] inline void parallel_for(int threads, int64_t count, int64_t grain,
                                                const F& fn) {
  const int64_t useful = count / std::max<int64_t>(grain, 1);
  if (threads <= 1 || useful <= 1) {
    if (count > 0) fn(int64_t{0}, count);
    return;
  }
  struct Job {
    const F& fn;
    int64_t count, chunks;
  } job{fn, count, std::min<int64_t>(threads, useful)};
  run_team(
      static_cast<int>(job.chunks),
      [](void* data, int chunk) {
        const Job& j = *static_cast<const Job*>(data);
        j.fn(j.count * chunk / j.chunks, j.count * (chunk + 1) / j.chunks);
      },
      &job);
}

// A split of `count` items into chunks that depends on the amount of work alone. Sums over a long
// axis are made per chunk and combined in order, so they never depend on the number of threads.
struct FixedSplit {
  int64_t count, chunks;
  int64_t begin(int64_t chunk) const { return count * chunk / chunks; }
  int64_t end(int64_t chunk) const { return count * (chunk + 1) / chunks; }
};

inline constexpr int64_t max_chunks = 32;

[[gnu::always_inline]] inline FixedSplit fixed_split(int64_t count, int64_t grain) {
  return {count, std::clamp<int64_t>(count / std::max<int64_t>(grain, 1), 1, max_chunks)};
}

}  // namespace keratin::cpu
