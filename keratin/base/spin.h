#pragma once

#include <chrono>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace keratin::detail {

// How long a thread looks for work, or for the end of others' work, before it sleeps. Waking it
// takes the system 5 to 50 us, and steps of a program follow each other faster.
inline constexpr std::chrono::microseconds spin_time{50};

inline void relax() {
#if defined(__SSE__)
  _mm_pause();
#endif
}

// Returns true as soon as `done()` is, false after `spin_time`.
template <class Done>
bool spin_until(const Done& done) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + spin_time;
  do {
    for (int i = 0; i < 32; ++i) {
      if (done()) return true;
      relax();
    }
  } while (Clock::now() < end);
  return done();
}

}  // namespace keratin::detail
