// Comes before every kernel's source: element types, conversions, and sums over threads. Pointwise
// ops and random numbers are the library's own headers, compiled by NVRTC.
#include "keratin/ops/philox.h"
#include "keratin/ops/scalar.h"

namespace keratin {

namespace scalar {
float erfinv(float x) { return ::erfinvf(x); }
double erfinv(double x) { return ::erfinv(x); }
}  // namespace scalar

// Half types are stored only: arithmetic is done in float, stores round to nearest even.
struct Half {
  unsigned short bits;
  Half() = default;
  explicit Half(float value) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value)); }
  explicit operator float() const {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
  }
};
struct BFloat16 {
  unsigned short bits;
  BFloat16() = default;
  explicit BFloat16(float value) { asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value)); }
  explicit operator float() const { return __uint_as_float(unsigned(bits) << 16); }
};

template <class T>
struct ComputeOf : std::type_identity<T> {};
template <>
struct ComputeOf<Half> : std::type_identity<float> {};
template <>
struct ComputeOf<BFloat16> : std::type_identity<float> {};
template <class T>
using compute_t = typename ComputeOf<T>::type;

template <class T>
compute_t<T> load(T value) {
  return static_cast<compute_t<T>>(value);
}

// The first statement of every kernel: it may start before the kernels that it follows have ended.
inline void wait_for_others() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// As keratin::convert: floats truncate and saturate, integers wrap, non-zero is true.
template <class To, class From>
To convert(From value) {
  using Source = compute_t<From>;
  using Target = compute_t<To>;
  const Source x = load(value);
  if constexpr (std::is_same_v<Target, bool>) {
    return x != Source(0);
  } else if constexpr (std::is_floating_point_v<Source> && std::is_integral_v<Target>) {
    using Limits = std::numeric_limits<Target>;
    if (x != x) return 0;
    if (x <= static_cast<Source>(Limits::min())) return Limits::min();
    if (x >= static_cast<Source>(Limits::max())) return Limits::max();
    return static_cast<Target>(x);
  } else {
    return static_cast<To>(static_cast<Target>(x));
  }
}

// The threads of a block, the default of kernels; as in source.h.
constexpr int block_size = 256;

// Calls f(i) for the elements of this thread.
template <class Index, class F>
void for_each_element(Index count, F f) {
  constexpr Index threads = block_size;
  for (Index i = blockIdx.x * threads + threadIdx.x; i < count; i += gridDim.x * threads) f(i);
}

// A size that may be 0, as a divisor.
constexpr int64_t divisor(int64_t size) { return size > 0 ? size : 1; }

// Neighbours that are moved together; `size` is a power of two.
template <class T, int size>
struct alignas(sizeof(T) * size) Pack {
  T items[size];
};

// Where a reduction begins.
template <class T>
T start_of(scalar::Add) {
  return T(0);
}
template <class T>
T start_of(scalar::Mul) {
  return T(1);
}
template <class T>
T start_of(scalar::Maximum) {
  if constexpr (std::is_floating_point_v<T>)
    return -std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::lowest();
}
template <class T>
T start_of(scalar::Minimum) {
  if constexpr (std::is_floating_point_v<T>)
    return std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::max();
}
template <class T>
T start_of(scalar::BitOr) {
  return T(0);
}
template <class T>
T start_of(scalar::BitAnd) {
  return T(1);
}

// Combines the values of `lanes` threads (a power of two) that are `step` apart in `shared`, always
// in the same order; the first of them gets the result. All threads of the block take part.
template <class Combine, int lanes, int step, class T>
T combine(T value, T* shared, int lane, int first) {
  if constexpr (lanes == 1) return value;
  T* mine = shared + first + lane * step;
  *mine = value;
  __syncthreads();
  for (int half = lanes / 2; half > 0; half /= 2) {
    if (lane < half) *mine = Combine{}(*mine, mine[half * step]);
    __syncthreads();
  }
  const T result = shared[first];
  __syncthreads();
  return result;
}

// An index in [0, size), wrapped once. One out of range is recorded for the host, which throws when
// the queue has finished; the kernel goes on with element 0.
inline long long checked_index(long long index, long long size, long long* fault, long long tag) {
  const long long wrapped = index < 0 ? index + size : index;
  if (wrapped >= 0 && wrapped < size) return wrapped;
  if (atomicCAS(reinterpret_cast<unsigned long long*>(fault), 0ULL,
                static_cast<unsigned long long>(tag)) == 0) {
    fault[1] = index;
    fault[2] = size;
  }
  return 0;
}

}  // namespace keratin

using namespace keratin;
