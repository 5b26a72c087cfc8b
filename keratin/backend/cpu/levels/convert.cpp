#include "keratin/backend/cpu/levels/convert.h"

#include <limits>

#include "keratin/backend/cpu/levels/simd.h"
#include "keratin/backend/cpu/parallel.h"
#include "keratin/tensor/elements.h"

namespace keratin::cpu::KERATIN_LEVEL {
namespace {

constexpr int64_t convert_grain = 16384;

template <class T>
constexpr bool in_float_lanes = std::is_same_v<compute_t<T>, float>;

// One number, both sides in the types of arithmetic: see keratin::convert.
template <class To, class From>
[[gnu::always_inline]] inline To convert_one(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    using Limits = std::numeric_limits<To>;
    constexpr From low = static_cast<From>(Limits::min()), high = static_cast<From>(Limits::max());
    const bool inside = x > low && x < high;
    const To whole = static_cast<To>(inside ? x : From(0));
    const To bound = x >= high ? Limits::max() : x <= low ? Limits::min() : To(0);
    return inside ? whole : bound;
  } else {
    return static_cast<To>(x);
  }
}

template <class From, class To>
[[gnu::noinline]] void convert_range(const From* __restrict src, To* __restrict dst, int64_t n) {
  if constexpr (in_float_lanes<From> && in_float_lanes<To>) {
    each_vector<float>(
        n, [&](int64_t i, auto extent) { store(dst + i, load(src + i, extent), extent); });
  } else if constexpr (is_half<From> || is_half<To>) {
    // Halves are converted to other types through a tile of floats.
    constexpr int64_t tile = 256;
    float buffer[tile];
    for (int64_t i = 0; i < n; i += tile) {
      const int64_t m = std::min(tile, n - i);
      convert_range<From, float>(src + i, buffer, m);
      convert_range<float, To>(buffer, dst + i, m);
    }
  } else {
    for (int64_t i = 0; i < n; ++i) dst[i] = convert_one<To>(src[i]);
  }
}

template <class From, class To>
void convert_all(const ConvertArgs& a) {
  parallel_for(a.threads, a.count, convert_grain, [&](int64_t begin, int64_t end) {
    convert_range(static_cast<const From*>(a.src) + begin, static_cast<To*>(a.dst) + begin,
                  end - begin);
  });
}

template <class From>
constexpr void add_from(ConvertRoutines& routines) {
  set_types<double, float, Half, BFloat16, int8_t, uint8_t, int32_t, int64_t, bool>(
      routines.convert[static_cast<size_t>(dtype_of<From>())],
      []<class To>(TypeTag<To>) { return &convert_all<From, To>; });
}

constexpr ConvertRoutines convert_routines() {
  ConvertRoutines routines{};
  add_from<double>(routines);
  add_from<float>(routines);
  add_from<Half>(routines);
  add_from<BFloat16>(routines);
  add_from<int8_t>(routines);
  add_from<uint8_t>(routines);
  add_from<int32_t>(routines);
  add_from<int64_t>(routines);
  add_from<bool>(routines);
  return routines;
}

}  // namespace
}  // namespace keratin::cpu::KERATIN_LEVEL

namespace keratin::cpu {
constinit const ConvertRoutines ConvertRoutines::KERATIN_LEVEL = KERATIN_LEVEL::convert_routines();
}  // namespace keratin::cpu
