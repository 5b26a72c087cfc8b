#pragma once

#include <cstddef>

namespace keratin::bench {

// The peak performance of the machine at the moment, as the best of many short samples. Floors of
// benchmarks are computed from it. Threads are one libgomp team.

// 10^9 floating point operations per second of independent fused multiply-adds in registers, with
// the widest vectors of this CPU.
double fma_peak(int threads);

// 10^9 bytes per second of reading `bytes` per thread repeatedly. A megabyte measures the L2 cache,
// a few megabytes L3, hundreds the memory.
double read_bandwidth(int threads, size_t bytes);

// 10^9 bytes per second, reads plus writes, of copying `bytes` per thread with stores that bypass
// the caches.
double copy_bandwidth(int threads, size_t bytes);

}  // namespace keratin::bench
