// Comes before every source that is compiled for the simulated GPU: CUDA C++ as g++ understands it.
// There is no standard library: sources bring their own.
#pragma once

#include "runtime.h"

namespace keratin::simulator {
// Not in .bss, which holds the shared memory that sources declare and nothing else.
static Runtime* runtime __attribute__((section(".data"))) = nullptr;
}  // namespace keratin::simulator

// Each access to memory calls these where checks are on: the compiler inserts the calls for its own
// checker.
#ifdef __SANITIZE_THREAD__
#define KERATIN_UNSEEN __attribute__((no_sanitize_thread))
namespace keratin::simulator {
KERATIN_UNSEEN inline void touch(const void* at, unsigned long bytes, Touch how) {
  if (at < runtime->stack_begin || at >= runtime->stack_end) runtime->touch(at, bytes, how);
}
}  // namespace keratin::simulator
#define KERATIN_TOUCHES(bytes)                                              \
  extern "C" KERATIN_UNSEEN void __tsan_read##bytes(void* at) {             \
    keratin::simulator::touch(at, bytes, keratin::simulator::Touch::read);  \
  }                                                                         \
  extern "C" KERATIN_UNSEEN void __tsan_write##bytes(void* at) {            \
    keratin::simulator::touch(at, bytes, keratin::simulator::Touch::write); \
  }
KERATIN_TOUCHES(1)
KERATIN_TOUCHES(2)
KERATIN_TOUCHES(4)
KERATIN_TOUCHES(8)
KERATIN_TOUCHES(16)
#undef KERATIN_TOUCHES
extern "C" KERATIN_UNSEEN void __tsan_read_range(void* at, unsigned long bytes) {
  keratin::simulator::touch(at, bytes, keratin::simulator::Touch::read);
}
extern "C" KERATIN_UNSEEN void __tsan_write_range(void* at, unsigned long bytes) {
  keratin::simulator::touch(at, bytes, keratin::simulator::Touch::write);
}
extern "C" void __tsan_init() {}
extern "C" void __tsan_func_entry(void*) {}
extern "C" void __tsan_func_exit() {}
#else
#define KERATIN_UNSEEN
#endif

// Who runs.
namespace keratin::simulator {
KERATIN_UNSEEN inline Index3 thread() { return runtime->self->thread; }
KERATIN_UNSEEN inline Index3 block() { return runtime->self->block; }
KERATIN_UNSEEN inline Index3 block_size() { return runtime->self->block_size; }
KERATIN_UNSEEN inline Index3 grid_size() { return runtime->self->grid_size; }
}  // namespace keratin::simulator

#define __global__
#define __shared__ static __constinit  // with no guard beside it
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define threadIdx (::keratin::simulator::thread())
#define blockIdx (::keratin::simulator::block())
#define blockDim (::keratin::simulator::block_size())
#define gridDim (::keratin::simulator::grid_size())
#define __syncthreads() ::keratin::simulator::runtime->meet_block()

struct alignas(16) float4 {
  float x, y, z, w;
};

// Mathematics, in the overloads that CUDA has.
#define KERATIN_ONE(name)          \
  extern "C" double name(double);  \
  extern "C" float name##f(float); \
  inline float name(float x) { return name##f(x); }
#define KERATIN_TWO(name)                 \
  extern "C" double name(double, double); \
  extern "C" float name##f(float, float); \
  inline float name(float x, float y) { return name##f(x, y); }
KERATIN_ONE(acos)
KERATIN_ONE(acosh)
KERATIN_ONE(asin)
KERATIN_ONE(asinh)
KERATIN_ONE(atan)
KERATIN_ONE(atanh)
KERATIN_ONE(cbrt)
KERATIN_ONE(ceil)
KERATIN_ONE(cos)
KERATIN_ONE(cosh)
KERATIN_ONE(erf)
KERATIN_ONE(erfc)
KERATIN_ONE(exp)
KERATIN_ONE(exp2)
KERATIN_ONE(expm1)
KERATIN_ONE(floor)
KERATIN_ONE(lgamma)
KERATIN_ONE(log)
KERATIN_ONE(log10)
KERATIN_ONE(log1p)
KERATIN_ONE(log2)
KERATIN_ONE(logb)
KERATIN_ONE(nearbyint)
KERATIN_ONE(rint)
KERATIN_ONE(round)
KERATIN_ONE(sin)
KERATIN_ONE(sinh)
KERATIN_ONE(sqrt)
KERATIN_ONE(tan)
KERATIN_ONE(tanh)
KERATIN_ONE(tgamma)
KERATIN_ONE(trunc)
KERATIN_TWO(atan2)
KERATIN_TWO(copysign)
KERATIN_TWO(fdim)
KERATIN_TWO(fmax)
KERATIN_TWO(fmin)
KERATIN_TWO(fmod)
KERATIN_TWO(hypot)
KERATIN_TWO(nextafter)
KERATIN_TWO(pow)
KERATIN_TWO(remainder)
#undef KERATIN_ONE
#undef KERATIN_TWO

extern "C" int abs(int);
inline long long abs(long long x) { return x < 0 ? -x : x; }
inline float abs(float x) { return __builtin_fabsf(x); }
inline double abs(double x) { return __builtin_fabs(x); }
inline float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline double erfinv(double x) { return keratin::simulator::runtime->erfinv(x); }
inline float erfinvf(float x) { return float(keratin::simulator::runtime->erfinv(x)); }
inline bool isfinite(float x) { return __builtin_isfinite(x); }
inline bool isfinite(double x) { return __builtin_isfinite(x); }
inline bool isinf(float x) { return __builtin_isinf(x); }
inline bool isinf(double x) { return __builtin_isinf(x); }
inline bool isnan(float x) { return __builtin_isnan(x); }
inline bool isnan(double x) { return __builtin_isnan(x); }
inline bool signbit(float x) { return __builtin_signbit(x); }
inline bool signbit(double x) { return __builtin_signbit(x); }

// A type for numbers of two others, as CUDA's overloads have it.
#define KERATIN_ORDER(A, B)                           \
  inline auto min(A a, B b) { return a < b ? a : b; } \
  inline auto max(A a, B b) { return a < b ? b : a; }
KERATIN_ORDER(int, int)
KERATIN_ORDER(unsigned, unsigned)
KERATIN_ORDER(int, unsigned)
KERATIN_ORDER(unsigned, int)
KERATIN_ORDER(long long, long long)
KERATIN_ORDER(unsigned long long, unsigned long long)
#undef KERATIN_ORDER
// The one that is a number.
inline float min(float a, float b) { return __builtin_fminf(a, b); }
inline float max(float a, float b) { return __builtin_fmaxf(a, b); }
inline double min(double a, double b) { return __builtin_fmin(a, b); }
inline double max(double a, double b) { return __builtin_fmax(a, b); }

// Bits.
inline unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
inline float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
inline float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
inline long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
inline double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }

// One thread runs at a time.
template <class T>
KERATIN_UNSEEN T atomicAdd(T* address, T value) {
  keratin::simulator::runtime->touch(address, sizeof value, keratin::simulator::Touch::atomic);
  const T before = *address;
  *address = before + value;
  return before;
}
template <class T>
KERATIN_UNSEEN T atomicCAS(T* address, T expected, T value) {
  keratin::simulator::runtime->touch(address, sizeof value, keratin::simulator::Touch::atomic);
  const T before = *address;
  if (before == expected) *address = value;
  return before;
}

// Warps.
namespace keratin::simulator {

KERATIN_UNSEEN inline unsigned lane() {
  const ThreadView& t = *runtime->self;
  return (t.thread.x + t.block_size.x * (t.thread.y + t.block_size.y * t.thread.z)) % 32;
}

// What lane `from` of the warp brought; one's own where it brought nothing.
template <class T>
KERATIN_UNSEEN T shuffled(unsigned mask, const char* what, T value, unsigned from) {
  const char* slots = runtime->meet_warp(mask, what, &value, sizeof value);
  if (from > 31 || (runtime->lanes_met() >> from & 1) == 0) return value;
  T result;
  __builtin_memcpy(&result, slots + 32 * from, sizeof result);
  return result;
}

template <unsigned long size>
struct Instruction {
  char text[size];
  constexpr Instruction(const char (&t)[size]) {
    for (unsigned long i = 0; i < size; ++i) text[i] = t[i];
  }
  template <unsigned long other>
  constexpr bool operator==(const char (&t)[other]) const {
    if (size != other) return false;
    for (unsigned long i = 0; i < size; ++i)
      if (text[i] != t[i]) return false;
    return true;
  }
};

template <class T>
inline constexpr bool is_known = false;

// An instruction that a source has as asm("…" : outputs : inputs), with its operands in that order.
template <Instruction i, class... Operands>
void ptx(Operands&&... operands) {
  if constexpr (i == "griddepcontrol.wait;") {
  } else if constexpr (i == "cvt.rn.f16.f32 %0, %1;") {
    [](auto& to, float x) { to = runtime->to_f16(x); }(operands...);
  } else if constexpr (i == "cvt.f32.f16 %0, %1;") {
    [](float& to, unsigned short x) { to = runtime->from_f16(x); }(operands...);
  } else if constexpr (i == "cvt.rn.bf16.f32 %0, %1;") {
    [](auto& to, float x) { to = runtime->to_bf16(x); }(operands...);
  } else if constexpr (i == "cvt.rn.bf16x2.f32 %0, %1, %2;") {
    [](unsigned& to, float high, float low) {
      to = runtime->to_bf16(high) << 16 | runtime->to_bf16(low);
    }(operands...);
  } else if constexpr (i == "cvt.rn.f16x2.f32 %0, %1, %2;") {
    [](unsigned& to, float high, float low) {
      to = runtime->to_f16(high) << 16 | runtime->to_f16(low);
    }(operands...);
  } else if constexpr (i == "cvt.rna.tf32.f32 %0, %1;") {
    [](unsigned& to, float x) { to = runtime->to_tf32(x); }(operands...);
  } else if constexpr (i == "cp.async.cg.shared.global [%0], [%1], 16, %2;") {
    [](unsigned to, const void* from, unsigned there) {
      runtime->fetch(to, from, 16, there);
    }(operands...);
  } else if constexpr (i == "cp.async.commit_group;") {
    runtime->end_fetches();
  } else if constexpr (i == "cp.async.wait_group %0;") {
    runtime->wait_for_fetches(operands...);
  } else if constexpr (i ==
                       "barrier.cluster.arrive.release.aligned;\n"
                       "barrier.cluster.wait.acquire.aligned;") {
    runtime->meet_cluster(true);
  } else if constexpr (i ==
                       "barrier.cluster.arrive.relaxed.aligned;\n"
                       "barrier.cluster.wait.aligned;") {
    runtime->meet_cluster(false);
  } else if constexpr (i ==
                       "{\n.reg .u32 at;\nmapa.shared::cluster.u32 at, %1, %2;\n"
                       "ld.shared::cluster.f32 %0, [at];\n}") {
    [](float& to, unsigned address, unsigned block) {
      to = runtime->load_of_cluster(address, block);
    }(operands...);
  } else if constexpr (i == "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];") {
    [](unsigned& a, unsigned& b, unsigned& c, unsigned& d, unsigned address) {
      unsigned words[4];
      runtime->load_matrices(address, 4, false, words);
      a = words[0], b = words[1], c = words[2], d = words[3];
    }(operands...);
  } else if constexpr (i == "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];") {
    [](unsigned& a, unsigned& b, unsigned address) {
      unsigned words[2];
      runtime->load_matrices(address, 2, true, words);
      a = words[0], b = words[1];
    }(operands...);
  } else {
    const auto multiply = [](void (*how)(float*, const unsigned*, const unsigned*), float& s0,
                             float& s1, float& s2, float& s3, unsigned a0, unsigned a1, unsigned a2,
                             unsigned a3, unsigned b0, unsigned b1) {
      float sums[4] = {s0, s1, s2, s3};
      const unsigned a[4] = {a0, a1, a2, a3}, b[2] = {b0, b1};
      how(sums, a, b);
      s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
    };
    if constexpr (i ==
                  "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
                  "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};") {
      multiply(runtime->multiply_tf32, operands...);
    } else if constexpr (i ==
                         "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                         "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};") {
      multiply(runtime->multiply_bf16, operands...);
    } else if constexpr (i ==
                         "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                         "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};") {
      multiply(runtime->multiply_f16, operands...);
    } else {
      static_assert(is_known<decltype(i)>, "the simulated GPU has no such instruction");
    }
  }
}

template <unsigned...>
struct Numbers {};

// A function of a source as the driver calls it.
template <auto function>
struct Kernel;
template <class... Arguments, void (*function)(Arguments...)>
struct Kernel<function> {
  static constexpr unsigned count = sizeof...(Arguments);
  static constexpr unsigned sizes[count + 1] = {sizeof(Arguments)...};

  template <unsigned... i>
  KERATIN_UNSEEN static void call_with(void** arguments, Numbers<i...>) {
    function(*static_cast<Arguments*>(arguments[i])...);
  }
  static void call(void** arguments) { call_with(arguments, Numbers<__integer_pack(count)...>{}); }

  static constexpr KernelInfo info(const char* name, unsigned max_threads, unsigned cluster) {
    return {name, call, sizes, count, max_threads, cluster};
  }
};

}  // namespace keratin::simulator

template <class T>
T __shfl_sync(unsigned mask, T value, int lane) {
  return keratin::simulator::shuffled(mask, "shfl", value, unsigned(lane) % 32);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int apart) {
  return keratin::simulator::shuffled(mask, "shfl.xor", value, keratin::simulator::lane() ^ apart);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned by) {
  return keratin::simulator::shuffled(mask, "shfl.down", value, keratin::simulator::lane() + by);
}
inline void __syncwarp(unsigned mask = ~0u) {
  keratin::simulator::runtime->meet_warp(mask, "syncwarp", nullptr, 0);
}
KERATIN_UNSEEN inline unsigned __match_any_sync(unsigned mask, unsigned value) {
  const char* slots =
      keratin::simulator::runtime->meet_warp(mask, "match.any", &value, sizeof value);
  const unsigned met = keratin::simulator::runtime->lanes_met();
  unsigned alike = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    if ((met >> lane & 1) != 0 && __builtin_memcmp(slots + 32 * lane, &value, sizeof value) == 0)
      alike |= 1u << lane;
  return alike;
}
KERATIN_UNSEEN inline unsigned __ballot_sync(unsigned mask, bool on) {
  const char* slots = keratin::simulator::runtime->meet_warp(mask, "ballot", &on, sizeof on);
  const unsigned met = keratin::simulator::runtime->lanes_met();
  unsigned bits = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    if ((met >> lane & 1) != 0 && slots[32 * lane] != 0) bits |= 1u << lane;
  return bits;
}
inline unsigned long __cvta_generic_to_shared(const void* generic) {
  return keratin::simulator::runtime->to_shared(generic);
}
