// Matmuls of small matrices in shared memory by tensor cores, one warp for 16 rows of the result.
#pragma once

namespace keratin::tiles {

// The position of a thread in its warp: row `line` of eight, column pair `pair` of four.
struct Lane {
  int line = threadIdx.x % 32 / 4, pair = threadIdx.x % 4;
};

// The factors of one instruction: 16 x k by k x 8. Sums are four per thread: rows `line` and
// `line` + 8, columns 2 · `pair` and + 1. `exact` is for f32: all bits are multiplied, not 11.
template <class T, bool exact>
struct Unit;

inline float rounded_to_tf32(float x) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return __uint_as_float(bits);
}

inline void multiply_tf32(float (&sums)[4], const float (&a)[4], const float (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])),
        "r"(__float_as_uint(a[3])), "r"(__float_as_uint(b[0])), "r"(__float_as_uint(b[1])));
}

template <bool exact>
struct Unit<float, exact> {
  static constexpr int k = 8, padding = 4;  // rows begin in different banks
  struct Left {
    float v[4];
  };
  struct Right {
    float v[2];
  };

  static float prepared(float x) { return exact ? x : rounded_to_tf32(x); }
  static Left left(const float* m, int stride, Lane at) {
    const float* p = m + at.line * stride + at.pair;
    return {p[0], p[8 * stride], p[4], p[8 * stride + 4]};
  }
  // From m[column][k].
  static Right right(const float* m, int stride, Lane at) {
    const float* p = m + at.line * stride + at.pair;
    return {p[0], p[4]};
  }
  // The sums of a matmul as the left factor of the next: a thread has columns 2 · pair and + 1
  // where `left` would have pair and pair + 4. So is the right factor, from m[k][column].
  static Left left_of_sums(const float (*sums)[4]) {
    return {prepared(sums[0][0]), prepared(sums[0][2]), prepared(sums[0][1]), prepared(sums[0][3])};
  }
  static Right right_of_rows(const float* m, int stride, Lane at) {
    const float* p = m + 2 * at.pair * stride + at.line;
    return {p[0], p[stride]};
  }
  static void multiply(float (&sums)[4], const Left& a, const Right& b) {
    if constexpr (exact) {
      // Each factor is the sum of two TF32 numbers; the remainder is as small as rounding.
      float high_a[4], low_a[4], high_b[2], low_b[2];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        high_a[i] = rounded_to_tf32(a.v[i]);
        low_a[i] = rounded_to_tf32(a.v[i] - high_a[i]);
      }
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        high_b[i] = rounded_to_tf32(b.v[i]);
        low_b[i] = rounded_to_tf32(b.v[i] - high_b[i]);
      }
      multiply_tf32(sums, low_a, high_b);
      multiply_tf32(sums, high_a, low_b);
      multiply_tf32(sums, high_a, high_b);
    } else {
      multiply_tf32(sums, a.v, b.v);
    }
  }
};

// Two halves in a word, the first in the lower bits.
template <class T>
unsigned two(float a, float b) {
  unsigned word;
  if constexpr (std::is_same_v<T, BFloat16>)
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(b), "f"(a));
  else
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(b), "f"(a));
  return word;
}

template <class T>
struct HalfUnit {
  static constexpr int k = 16, padding = 8;
  struct Left {
    unsigned v[4];
  };
  struct Right {
    unsigned v[2];
  };

  static T prepared(T x) { return x; }
  static unsigned word(const T* p) { return *reinterpret_cast<const unsigned*>(p); }
  static Left left(const T* m, int stride, Lane at) {
    const T* p = m + at.line * stride + 2 * at.pair;
    return {word(p), word(p + 8 * stride), word(p + 8), word(p + 8 * stride + 8)};
  }
  static Right right(const T* m, int stride, Lane at) {
    const T* p = m + at.line * stride + 2 * at.pair;
    return {word(p), word(p + 8)};
  }
  static Left left_of_sums(const float (*sums)[4]) {
    return {two<T>(sums[0][0], sums[0][1]), two<T>(sums[0][2], sums[0][3]),
            two<T>(sums[1][0], sums[1][1]), two<T>(sums[1][2], sums[1][3])};
  }
  static Right right_of_rows(const T* m, int stride, Lane) {
    const unsigned from = __cvta_generic_to_shared(m + threadIdx.x % 16 * stride);
    Right r;
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r.v[0]), "=r"(r.v[1])
                 : "r"(from)
                 : "memory");
    return r;
  }
};

template <bool exact>
struct Unit<BFloat16, exact> : HalfUnit<BFloat16> {
  static void multiply(float (&sums)[4], const Left& a, const Right& b) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a.v[0]), "r"(a.v[1]), "r"(a.v[2]), "r"(a.v[3]), "r"(b.v[0]), "r"(b.v[1]));
  }
};

template <bool exact>
struct Unit<Half, exact> : HalfUnit<Half> {
  static void multiply(float (&sums)[4], const Left& a, const Right& b) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a.v[0]), "r"(a.v[1]), "r"(a.v[2]), "r"(a.v[3]), "r"(b.v[0]), "r"(b.v[1]));
  }
};

// sums += a · bᵀ, 16 rows of a and 8 · n of b, both of `depth` columns.
template <class U, int depth, int n, class T>
void add_rows_by_rows(float (&sums)[n][4], const T* a, const T* b, int stride) {
  const Lane at;
#pragma unroll
  for (int k = 0; k < depth; k += U::k) {
    const auto left = U::left(a + k, stride, at);
#pragma unroll
    for (int i = 0; i < n; ++i)
      U::multiply(sums[i], left, U::right(b + i * 8 * stride + k, stride, at));
  }
}

// sums += a · b, with a the sums of another matmul, 8 · m columns, and as many rows of b.
template <class U, int n, int m, class T>
void add_sums_by_rows(float (&sums)[n][4], const float (&a)[m][4], const T* b, int stride) {
  const Lane at;
#pragma unroll
  for (int k = 0; k < 8 * m; k += U::k) {
    const auto left = U::left_of_sums(a + k / 8);
#pragma unroll
    for (int i = 0; i < n; ++i)
      U::multiply(sums[i], left, U::right_of_rows(b + k * stride + i * 8, stride, at));
  }
}

}  // namespace keratin::tiles
