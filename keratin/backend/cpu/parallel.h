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

// Runs body(data, part) for every part in [0, parts) on a libgomp team of that many threads, each
// with denormals flushed. The first exception, by part, is thrown again on the calling thread.
void run_team(int parts, void (*body)(void* data, int part), void* data);

// Calls fn(begin, end) on contiguous pieces that cover [0, count) once, one piece per thread. Work
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
    int64_t count, parts;
  } job{fn, count, std::min<int64_t>(threads, useful)};
  run_team(
      static_cast<int>(job.parts),
      [](void* data, int part) {
        const Job& j = *static_cast<const Job*>(data);
        j.fn(j.count * part / j.parts, j.count * (part + 1) / j.parts);
      },
      &job);
}

// A split of `count` items into parts that depends on the amount of work alone. Sums over a long
// axis are made per part and combined in order, so they never depend on the number of threads.
struct FixedSplit {
  int64_t count, parts;
  int64_t begin(int64_t part) const { return count * part / parts; }
  int64_t end(int64_t part) const { return count * (part + 1) / parts; }
};

inline constexpr int64_t max_fixed_parts = 32;

[[gnu::always_inline]] inline FixedSplit fixed_split(int64_t count, int64_t grain) {
  return {count, std::clamp<int64_t>(count / std::max<int64_t>(grain, 1), 1, max_fixed_parts)};
}

}  // namespace keratin::cpu
