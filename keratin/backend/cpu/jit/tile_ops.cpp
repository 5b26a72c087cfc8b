#include "keratin/backend/cpu/jit/tile_ops.h"

#include <cstring>

#include "keratin/base/text.h"
#include "keratin/tensor/elements.h"

namespace keratin::cpu {

namespace {

template <class T>
T unaligned(const char* memory) {
  T value;
  std::memcpy(&value, memory, sizeof(T));
  return value;
}

template <class T, class F>
void unary(void* dst, const void* a, const void*, const void*, int64_t n) {
  using R = decltype(F{}(T{}));
  const auto* x = static_cast<const T*>(a);
  auto* y = static_cast<R*>(dst);
  for (int64_t i = 0; i < n; ++i) y[i] = F{}(x[i]);
}

template <class T, class F>
void binary(void* dst, const void* a, const void* b, const void*, int64_t n) {
  using R = decltype(F{}(T{}, T{}));
  const auto* x = static_cast<const T*>(a);
  const auto* y = static_cast<const T*>(b);
  auto* z = static_cast<R*>(dst);
  for (int64_t i = 0; i < n; ++i) z[i] = F{}(x[i], y[i]);
}

template <class C, class T, class F>
void ternary(void* dst, const void* a, const void* b, const void* c, int64_t n) {
  const auto* x = static_cast<const C*>(a);
  const auto* y = static_cast<const T*>(b);
  const auto* z = static_cast<const T*>(c);
  auto* w = static_cast<T*>(dst);
  for (int64_t i = 0; i < n; ++i) w[i] = F{}(x[i], y[i], z[i]);
}

// A cast to a half type rounds to that type, though the tile holds floats.
template <class R>
struct Cast {
  template <class T>
  compute_t<R> operator()(T x) const {
    return static_cast<compute_t<R>>(convert<R>(x));
  }
};

template <class T>
TileFunction uniform_function(ScalarOp op) {
  TileFunction found = nullptr;
  scalar::visit(op, [&]<class Row>(const Row&) {
    using F = typename Row::Functor;
    if constexpr (!F::template takes<T>)
      return;
    else if constexpr (std::is_invocable_v<F, T>)
      found = unary<T, F>;
    else if constexpr (std::is_invocable_v<F, T, T>)
      found = binary<T, F>;
    else
      found = ternary<T, T, F>;
  });
  return found;
}

template <class T>
TileFunction find_function(ScalarOp op, DType result) {
  switch (op) {
    case ScalarOp::constant:
      return nullptr;
    case ScalarOp::select:
      return ternary<bool, T, scalar::Select>;
    case ScalarOp::cast:
      return dispatch(
          result, []<class To>(To) -> TileFunction { return unary<T, Cast<typename To::type>>; });
    default:
      return uniform_function<T>(op);
  }
}

TileFunction find_tile_function(ScalarOp op, DType operand, DType result) {
  return dispatch_tile(operand, [&]<class Tag>(Tag) -> TileFunction {
    if constexpr (std::is_arithmetic_v<typename Tag::type>)
      return find_function<typename Tag::type>(op, result);
    else
      return nullptr;
  });
}

}  // namespace

bool has_tile_function(ScalarOp op, DType operand, DType result) {
  return find_tile_function(op, operand, result) != nullptr;
}

TileFunction tile_function(ScalarOp op, DType operand, DType result) {
  const TileFunction found = find_tile_function(op, operand, result);
  ensure(found != nullptr, "loop program: there is no ", name(op), " of ", operand);
  return found;
}

TileLoad tile_load(DType dtype) {
  return dispatch(dtype, []<class Tag>(Tag) -> TileLoad {
    return [](void* tile, const char* memory, int64_t stride, int64_t n) {
      using T = typename Tag::type;
      auto* out = static_cast<compute_t<T>*>(tile);
      if (stride == int64_t{sizeof(T)}) {
        for (int64_t i = 0; i < n; ++i)
          out[i] = static_cast<compute_t<T>>(unaligned<T>(memory + i * int64_t{sizeof(T)}));
      } else {
        for (int64_t i = 0; i < n; ++i)
          out[i] = static_cast<compute_t<T>>(unaligned<T>(memory + i * stride));
      }
    };
  });
}

TileStore tile_store(DType from, DType to) {
  return dispatch_tile(from, [to]<class From>(From) -> TileStore {
    using T = typename From::type;
    return dispatch(to, []<class To>(To) -> TileStore {
      return [](char* memory, const void* tile, int64_t n) {
        using R = typename To::type;
        const auto* in = static_cast<const T*>(tile);
        for (int64_t i = 0; i < n; ++i) {
          const R value = convert<R>(in[i]);
          std::memcpy(memory + i * int64_t{sizeof(R)}, &value, sizeof(R));
        }
      };
    });
  });
}

void tile_fill(void* tile, const LoopInst& constant, int64_t n) {
  dispatch_tile(constant.dtype, [&]<class Tag>(Tag) {
    using T = typename Tag::type;
    const T value =
        is_float(constant.dtype) ? convert<T>(constant.real) : convert<T>(constant.integer);
    for (int64_t i = 0; i < n; ++i) static_cast<T*>(tile)[i] = value;
  });
}

}  // namespace keratin::cpu
