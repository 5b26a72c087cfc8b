#pragma once

#include <cstddef>

namespace keratin::bench {

// What the machine can do right now, as the best of many short samples: the floors that the
// benchmarks are read against. Threads are one libgomp team.

// 10^9 floating point operations a second of independent fused multiply-adds in registers, with
// the widest vectors of this processor.
double fma_peak(int threads);

// 10^9 bytes a second of reading `bytes` per thread again and again. A megabyte shows the second
// level cache, a few the third, hundreds the memory.
double read_bandwidth(int threads, size_t bytes);

// 10^9 bytes a second, read and written together, of copying `bytes` per thread with stores that
// bypass the caches.
double copy_bandwidth(int threads, size_t bytes);

}  // namespace keratin::bench
