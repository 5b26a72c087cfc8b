#include "keratin/backend/cpu/levels/reduce.h"

#include <limits>

#include "keratin/backend/cpu/levels/rows.h"
#include "keratin/tensor/elements.h"

namespace keratin::cpu::KERATIN_LEVEL {
namespace {

constexpr int64_t reduce_grain = 16384;

struct Sum {
  template <class V>
  [[gnu::always_inline]] V operator()(V a, V b) const {
    return a + b;
  }
  template <class C>
  static constexpr C start = 0;
};

struct Prod {
  template <class V>
  [[gnu::always_inline]] V operator()(V a, V b) const {
    return a * b;
  }
  template <class C>
  static constexpr C start = 1;
};

template <class C>
constexpr C highest = std::numeric_limits<C>::has_infinity ? std::numeric_limits<C>::infinity()
                                                           : std::numeric_limits<C>::max();
template <class C>
constexpr C lowest = std::numeric_limits<C>::has_infinity ? -std::numeric_limits<C>::infinity()
                                                          : std::numeric_limits<C>::min();

struct Max {
  template <class V>
  [[gnu::always_inline]] V operator()(V a, V b) const {
    return ((a > b) | is_nan(a)) ? a : b;
  }
  template <class C>
  static constexpr C start = lowest<C>;
};

struct Min {
  template <class V>
  [[gnu::always_inline]] V operator()(V a, V b) const {
    return ((a < b) | is_nan(a)) ? a : b;
  }
  template <class C>
  static constexpr C start = highest<C>;
};

// Long rows are summed block by block: rounding grows with the length of a block and the number of
// blocks, not with their product.
template <class T, class Op>
[[gnu::noinline]] compute_t<T> reduce_row(const T* x, int64_t n) {
  using C = compute_t<T>;
  constexpr int64_t block = 4096;
  constexpr C start = Op::template start<C>;
  const Op op;
  Vec<C> total = splat(start);
  for (int64_t first = 0; first < n; first += block) {
    Vec<C> acc[4];
    for (auto& a : acc) a = splat(start);
    each_of_four<T>(std::min(block, n - first), acc, [&](int64_t i, Vec<C>& a, auto extent) {
      a = op(load(x + first + i, extent, start), a);
    });
    total = op(op(op(acc[0], acc[1]), op(acc[2], acc[3])), total);
  }
  return fold_lanes<C>(total, op);
}

// `count` vectors of neighbouring columns over `n` rows.
template <class T, class Op, int count, class Extent>
[[gnu::always_inline]] inline void reduce_columns(const T* x, int64_t n, int64_t stride,
                                                  Vec<compute_t<T>> (&total)[count],
                                                  Extent extent) {
  using C = compute_t<T>;
  constexpr int64_t block = 128;
  const Op op;
  for (auto& t : total) t = splat(Op::template start<C>);
  for (int64_t first = 0; first < n; first += block) {
    Vec<C> acc[count];
    for (auto& a : acc) a = splat(Op::template start<C>);
    const T* row = x + first * stride;
    for (int64_t k = std::min(block, n - first); k > 0; --k, row += stride) {
      for (int64_t v = 0; v < count; ++v) acc[v] = op(load(row + v * lanes<T>, extent), acc[v]);
    }
    for (int64_t v = 0; v < count; ++v) total[v] = op(acc[v], total[v]);
  }
}

// Columns [begin, end) of a slice with `n` rows; Out is T or, for partial results, compute_t<T>.
template <class T, class Op, class Out>
[[gnu::noinline]] void reduce_slice(const T* x, int64_t n, int64_t stride, int64_t begin,
                                    int64_t end, Out* y) {
  using C = compute_t<T>;
  if (stride == 1) {
    put(y, reduce_row<T, Op>(x, n));
    return;
  }
  int64_t i = begin;
  for (; i + 4 * lanes<T> <= end; i += 4 * lanes<T>) {
    Vec<C> total[4];
    reduce_columns<T, Op>(x + i, n, stride, total, Full{});
    for (int64_t v = 0; v < 4; ++v) store(y + i + v * lanes<T>, total[v]);
  }
  each_vector<T>(end - i, [&](int64_t j, auto extent) {
    Vec<C> total[1];
    reduce_columns<T, Op>(x + i + j, n, stride, total, extent);
    store(y + i + j, total[0], extent);
  });
}

// Slices are cut into blocks of columns and, where that is not enough, into chunks of the axis.
constexpr int64_t column_block = 256;

template <class T, class Op, class Out>
void reduce_chunks(const ReduceArgs& a, FixedSplit split, Out* out) {
  const T* const x = static_cast<const T*>(a.x);
  const int64_t blocks = (a.inner + column_block - 1) / column_block;
  const int64_t work = a.axis * std::min(a.inner, column_block) / split.chunks + 1;
  parallel_for(a.threads, a.outer * split.chunks * blocks, reduce_grain / work + 1,
               [&](int64_t first, int64_t last) {
                 for (int64_t task = first; task < last; ++task) {
                   const int64_t block = task % blocks, slice = task / blocks;
                   const int64_t chunk = slice % split.chunks, o = slice / split.chunks;
                   const int64_t begin = block * column_block;
                   const int64_t row = o * a.axis + split.begin(chunk);
                   reduce_slice<T, Op>(x + row * a.inner, split.end(chunk) - split.begin(chunk),
                                       a.inner, begin, std::min(begin + column_block, a.inner),
                                       out + slice * a.inner);
                 }
               });
}

template <class T, class Op>
void reduce(const ReduceArgs& a) {
  using C = compute_t<T>;
  const FixedSplit split = reduce_split(a.outer, a.axis, a.inner);
  if (split.chunks == 1) {
    reduce_chunks<T, Op>(a, split, static_cast<T*>(a.y));
    return;
  }
  C* const partial = static_cast<C*>(a.scratch);
  reduce_chunks<T, Op>(a, split, partial);
  const Op op;
  for (int64_t o = 0; o < a.outer; ++o) {
    const C* const chunks = partial + o * split.chunks * a.inner;
    each_vector<T>(a.inner, [&](int64_t i, auto extent) {
      Vec<C> total = load(chunks + i, extent);
      for (int64_t p = 1; p < split.chunks; ++p)
        total = op(total, load(chunks + p * a.inner + i, extent));
      store(static_cast<T*>(a.y) + o * a.inner + i, total, extent);
    });
  }
}

// Booleans are bytes; sums and products of integers wrap, which is defined for unsigned types.
template <class Op>
constexpr void set_all(ByDType<void (*)(const ReduceArgs&)>& out) {
  set_floats(out, []<class T>(TypeTag<T>) { return &reduce<T, Op>; });
  constexpr bool wraps = std::is_same_v<Op, Sum> || std::is_same_v<Op, Prod>;
  set_types<int8_t, uint8_t, int32_t, int64_t>(out, []<class T>(TypeTag<T>) {
    return &reduce<std::conditional_t<wraps, std::make_unsigned_t<T>, T>, Op>;
  });
  if constexpr (!wraps) out[DType::boolean] = &reduce<uint8_t, Op>;
}

constexpr ReduceRoutines reduce_routines() {
  ReduceRoutines routines{};
  set_all<Sum>(routines.sum);
  set_all<Prod>(routines.prod);
  set_all<Max>(routines.max);
  set_all<Min>(routines.min);
  return routines;
}

}  // namespace
}  // namespace keratin::cpu::KERATIN_LEVEL

namespace keratin::cpu {
constinit const ReduceRoutines ReduceRoutines::KERATIN_LEVEL = KERATIN_LEVEL::reduce_routines();
}  // namespace keratin::cpu
