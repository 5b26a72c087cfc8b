#include <array>
#include <cstring>

#include "keratin/backend/cpu/jit/tile_ops.h"
#include "keratin/base/text.h"
#include "keratin/tensor/elements.h"

namespace keratin::cpu {

namespace {

template <class T>
using Accumulator = std::conditional_t<sizeof(T) < 4, int32_t, T>;

template <class T>
Accumulator<T> widen(T x) {
  if constexpr (std::is_same_v<T, bool>)
    return -int32_t{x};
  else
    return x;
}

// T is the type of the values, A that of the accumulators; only booleans are treated differently.
template <Reduce kind, class T, class A = Accumulator<T>>
struct Fold {
  static constexpr bool boolean = std::is_same_v<T, bool>;

  static A neutral() {
    using Limits = std::numeric_limits<A>;
    if constexpr (kind == Reduce::sum) return A(0);
    if constexpr (kind == Reduce::prod) return A(1);
    if constexpr (boolean) return kind == Reduce::max ? A(0) : A(-1);
    const A largest = std::is_floating_point_v<A> ? Limits::infinity() : Limits::max();
    const A smallest = std::is_floating_point_v<A> ? -Limits::infinity() : Limits::lowest();
    return kind == Reduce::max ? smallest : largest;
  }

  static A merge(A a, A b) {
    if constexpr (kind == Reduce::sum)
      return scalar::Add{}(a, b);
    else if constexpr (kind == Reduce::prod)
      return scalar::Mul{}(a, b);
    else if constexpr (boolean)
      return kind == Reduce::max ? A(int32_t(a) | int32_t(b)) : A(int32_t(a) & int32_t(b));
    else
      return kind == Reduce::max ? scalar::Maximum{}(a, b) : scalar::Minimum{}(a, b);
  }

  static void clear(char* accumulators, int64_t n) {
    auto* a = reinterpret_cast<A*>(accumulators);
    for (int64_t i = 0; i < n; ++i) a[i] = neutral();
  }

  // In several lanes, which can be vectorised and keeps the error of a long sum small.
  static void fold(char* accumulator, const void* tile, int64_t n) {
    constexpr int64_t lanes = 16;
    const auto* x = static_cast<const T*>(tile);
    std::array<A, lanes> partial;
    partial.fill(neutral());
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes)
      for (int64_t j = 0; j < lanes; ++j) partial[j] = merge(partial[j], widen(x[i + j]));
    for (int64_t j = 0; i + j < n; ++j) partial[j] = merge(partial[j], widen(x[i + j]));
    for (int64_t half = lanes / 2; half > 0; half /= 2)
      for (int64_t j = 0; j < half; ++j) partial[j] = merge(partial[j], partial[j + half]);
    auto* a = reinterpret_cast<A*>(accumulator);
    *a = merge(*a, partial[0]);
  }

  static void fold_each(char* accumulators, const void* tile, int64_t n) {
    const auto* x = static_cast<const T*>(tile);
    auto* a = reinterpret_cast<A*>(accumulators);
    for (int64_t i = 0; i < n; ++i) a[i] = merge(a[i], widen(x[i]));
  }

  static void combine(char* accumulators, const char* others, int64_t n) {
    auto* a = reinterpret_cast<A*>(accumulators);
    const auto* b = reinterpret_cast<const A*>(others);
    for (int64_t i = 0; i < n; ++i) a[i] = merge(a[i], b[i]);
  }

  template <class R>
  static void finish(char* output, const char* accumulators, int64_t n) {
    const auto* a = reinterpret_cast<const A*>(accumulators);
    for (int64_t i = 0; i < n; ++i) {
      R value;
      if constexpr (boolean)
        value = convert<R>(a[i] != 0);
      else
        value = convert<R>(a[i]);
      std::memcpy(output + i * int64_t{sizeof(R)}, &value, sizeof(R));
    }
  }
};

template <Reduce kind, class T>
TileReduction reduction(DType output) {
  using F = Fold<kind, T>;
  return dispatch(output, []<class To>(To) -> TileReduction {
    return {&F::clear, &F::fold, &F::fold_each, &F::combine,
            &F::template finish<typename To::type>};
  });
}

}  // namespace

TileReduction tile_reduction(Reduce kind, DType value, DType output) {
  ensure(kind != Reduce::none, "loop program: a store is no reduction");
  ensure(value != DType::boolean || kind == Reduce::max || kind == Reduce::min,
         "loop program: booleans have no ", name(kind));
  return dispatch_tile(value, [=]<class Tag>(Tag) -> TileReduction {
    using T = typename Tag::type;
    if constexpr (std::is_arithmetic_v<T>) {
      if (kind == Reduce::max) return reduction<Reduce::max, T>(output);
      if (kind == Reduce::min) return reduction<Reduce::min, T>(output);
      if constexpr (!std::is_same_v<T, bool>)
        return kind == Reduce::sum ? reduction<Reduce::sum, T>(output)
                                   : reduction<Reduce::prod, T>(output);
    }
    return {};
  });
}

}  // namespace keratin::cpu
