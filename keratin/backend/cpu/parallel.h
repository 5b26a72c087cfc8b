#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace keratin::cpu {

// Treats denormal numbers as zero for a scope: they cost a hundred times a normal operation, and
// moments of an optimizer decay into them. Threads of a pool do this by themselves; the thread that
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

// Runs body(data, chunk, slot) for every chunk in [0, chunks), on up to `threads` threads of the
// pool of the calling thread, with denormals flushed; see ThreadPool::run.
void run_chunks(int threads, int64_t chunks, void (*body)(void* data, int64_t chunk, int slot),
                void* data);

// More chunks than this would cost more than they balance.
inline constexpr int64_t max_shared_chunks = 128;

// A grain that makes chunks as large as they can be, one per thread: for work that begins each
// chunk anew, such as reading all indices.
inline int64_t largest_grain(int threads, int64_t count) { return count / std::max(threads, 1); }

template <class F>
[[gnu::always_inline]] inline void call_on_chunk(const F& fn, int64_t begin, int64_t end,
                                                 [[maybe_unused]] int slot) {
  if constexpr (std::is_invocable_v<const F&, int64_t, int64_t, int>) {
    fn(begin, end, slot);
  } else {
    fn(begin, end);
  }
}

// Calls fn(begin, end) on contiguous chunks that cover [0, count) once, or fn(begin, end, slot)
// with a slot below `threads` that no other running chunk has. Chunks have at least `grain` items,
// which is what is worth handing to another thread; they are cut by `count` and `grain` alone.
template <class F>
[[gnu::always_inline]] inline void parallel_for(int threads, int64_t count, int64_t grain,
                                                const F& fn) {
  const int64_t useful = count / std::max<int64_t>(grain, 1);
  if (threads <= 1 || useful <= 1) {
    if (count > 0) call_on_chunk(fn, 0, count, 0);
    return;
  }
  struct Job {
    const F& fn;
    FixedSplit split;
  } job{fn, {count, std::min(useful, max_shared_chunks)}};
  run_chunks(
      threads, job.split.chunks,
      [](void* data, int64_t chunk, int slot) {
        const Job& j = *static_cast<const Job*>(data);
        call_on_chunk(j.fn, j.split.begin(chunk), j.split.end(chunk), slot);
      },
      &job);
}

}  // namespace keratin::cpu
