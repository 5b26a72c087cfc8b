#include "keratin/backend/cpu/tile/tile_kernel.h"

#include "keratin/backend/cpu/jit/code_cache.h"
#include "keratin/backend/cpu/tile/moved.h"
#include "keratin/backend/cpu/tile/tile_jit.h"
#include "keratin/base/text.h"

namespace keratin::cpu {
namespace {

// The definition of a tile, as plain loops: for machines we generate no code for.
template <class T>
class PlainTile final : public TileKernel {
 public:
  explicit PlainTile(TileSpec spec) : spec_(std::move(spec)) { run_ = run; }

 private:
  static constexpr int64_t max_columns = 64;

  static void run(const TileKernel* self, const TileArgs* args) {
    const TileSpec& spec = static_cast<const PlainTile*>(self)->spec_;
    if (spec.copy_b) copy_b(spec, *args);
    for (size_t i = 0; i < spec.a_rows.size(); ++i) run_row(spec, *args, i);
  }

  static void copy_b(const TileSpec& spec, const TileArgs& args) {
    const int64_t lanes = tile_lanes(spec.level, spec.dtype);
    const int64_t width = (spec.columns + lanes - 1) / lanes * lanes;
    T* to = static_cast<T*>(args.b_copy);
    for (int64_t s = 0; s < args.counts[0]; ++s) {
      const T* b = moved(args.b, args.segments[s].b);
      for (int64_t k = 0; k < args.segments[s].k; ++k, to += width) {
        for (int64_t j = 0; j < width; ++j)
          to[j] = j < spec.columns ? b[k * spec.b_step + j] : T(0);
      }
    }
  }

  static void run_row(const TileSpec& spec, const TileArgs& args, size_t i) {
    T sums[max_columns];
    T* c = static_cast<T*>(args.c) + spec.c_rows[i];
    for (int64_t j = 0; j < spec.columns; ++j) sums[j] = args.accumulate != 0 ? c[j] : T(0);
    const TileSegment* next = args.segments;
    for (size_t c = 0; c < spec.classes.size(); ++c) {
      const TileClass& group = spec.classes[c];
      const TileSegment* segments = spec.unrolled ? group.segments.data() : next;
      const int64_t count =
          spec.unrolled ? static_cast<int64_t>(group.segments.size()) : args.counts[c];
      if ((group.rows >> i & 1U) != 0) add_terms(spec, args, i, segments, count, sums);
      next += spec.unrolled ? 0 : count;
    }
    if (args.finish != 0) finish(spec, args, i, sums);
    for (int64_t j = 0; j < spec.columns; ++j) c[j] = sums[j];
  }

  static void add_terms(const TileSpec& spec, const TileArgs& args, size_t i,
                        const TileSegment* segments, int64_t count, T* sums) {
    for (int64_t s = 0; s < count; ++s) {
      const auto* a = moved(args.a, segments[s].a + spec.a_rows[i] * int64_t{sizeof(T)});
      const auto* b = moved(args.b, segments[s].b);
      for (int64_t k = 0; k < segments[s].k; ++k) {
        const T x = a[k * spec.a_step];
        for (int64_t j = 0; j < spec.columns; ++j) sums[j] += x * b[k * spec.b_step + j];
      }
    }
  }

  static void finish(const TileSpec& spec, const TileArgs& args, size_t i, T* sums) {
    for (const TilePost post : spec.post) {
      const T* bias = static_cast<const T*>(args.bias);
      const T* addend = moved(args.addend, spec.c_rows[i] * int64_t{sizeof(T)});
      const T* gate = moved(args.gate, spec.c_rows[i] * int64_t{sizeof(T)});
      for (int64_t j = 0; j < spec.columns; ++j) {
        if (post == TilePost::bias) sums[j] += bias[j];
        if (post == TilePost::addend) sums[j] += addend[j];
        if (post == TilePost::relu) sums[j] = sums[j] < 0 ? T(0) : sums[j];
        if (post == TilePost::gate) sums[j] = gate[j] > 0 ? sums[j] : T(0);
        if (post == TilePost::scale) sums[j] *= static_cast<T>(spec.scale);
        if (post == TilePost::cap) sums[j] = sums[j] > T(spec.cap) ? T(spec.cap) : sums[j];
      }
    }
  }

  static const T* moved(const void* pointer, int64_t bytes) {
    return reinterpret_cast<const T*>(cpu::moved(pointer, bytes));
  }

  TileSpec spec_;
};

void check(const TileSpec& spec) {
  ensure(spec.dtype == DType::f32 || spec.dtype == DType::f64, "tile: expected f32 or f64, got ",
         spec.dtype);
  ensure(!spec.a_rows.empty() && spec.a_rows.size() == spec.c_rows.size(),
         "tile: ", spec.a_rows.size(), " rows of A and ", spec.c_rows.size(), " of C");
  ensure(!spec.copy_b || (!spec.unrolled && !spec.whole_b && spec.classes.size() == 1),
         "tile: B is copied onto itself");
  ensure(spec.a_rows.size() <= 32, "tile: more rows than a class has bits for");
  const int64_t lanes = tile_lanes(spec.level, spec.dtype);
  const int64_t vectors = (spec.columns + lanes - 1) / lanes;
  ensure(vectors >= 1 && vectors <= max_tile_vectors(spec.level) &&
             static_cast<int64_t>(spec.a_rows.size()) <= max_tile_rows(spec.level, vectors),
         "tile: no registers for ", spec.a_rows.size(), " x ", spec.columns);
}

TileKernelPtr build(const TileSpec& spec) {
  check(spec);
  if (TileKernelPtr generated = generate_tile(spec)) return generated;
  if (spec.dtype == DType::f64) return std::make_shared<PlainTile<double>>(spec);
  return std::make_shared<PlainTile<float>>(spec);
}

}  // namespace

size_t TileSpec::hash() const {
  size_t seed = 0;
  detail::for_each_field(*this, [&](std::string_view, const auto& f) {
    seed = detail::mix(seed, detail::hash_of(f));
  });
  return seed;
}

int64_t tile_lanes(Level level, DType dtype) {
  const int64_t bytes = level == Level::v4 ? 64 : level == Level::v3 ? 32 : 16;
  return bytes / static_cast<int64_t>(size_of(dtype));
}

// Registers hold the tile, one row of B, one element of A and, before AVX-512, the tail's mask.
int64_t max_tile_rows(Level level, int64_t vectors) {
  if (level == Level::v4) return (32 - vectors - 1) / vectors;
  if (level == Level::v3) return (16 - vectors - 2) / vectors;
  return 4;
}

TileKernelPtr make_tile_kernel(const TileSpec& spec) {
  static CodeCache<TileSpec, TileKernelPtr>& kernels = *new CodeCache<TileSpec, TileKernelPtr>;
  return kernels.get(spec, [&] { return build(spec); });
}

}  // namespace keratin::cpu
