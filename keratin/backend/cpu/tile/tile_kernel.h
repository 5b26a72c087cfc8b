#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "keratin/backend/cpu/levels.h"
#include "keratin/base/fields.h"
#include "keratin/base/hash.h"
#include "keratin/tensor/dtype.h"
#include "keratin/tensor/shape.h"

namespace keratin::cpu {

// A run of the sum that a tile makes: k terms, from these byte offsets of A and B on.
struct TileSegment {
  int64_t a = 0, b = 0, k = 0;

  static constexpr auto fields = field_list(
      field("a", &TileSegment::a), field("b", &TileSegment::b), field("k", &TileSegment::k));
  bool operator==(const TileSegment& other) const { return detail::equal_fields(*this, other); }
};

// Segments that feed only some rows of the tile: bit i stands for row i.
struct TileClass {
  uint32_t rows = ~uint32_t{0};
  std::vector<TileSegment> segments;  // when the tile is unrolled

  static constexpr auto fields =
      field_list(field("rows", &TileClass::rows), field("segments", &TileClass::segments));
  bool operator==(const TileClass& other) const { return detail::equal_fields(*this, other); }
};

// What is done to a finished tile, in order, before it is stored.
enum class TilePost : uint8_t {
  bias,    // + one value per column
  addend,  // + an array laid out as C
  relu,    // max(0, x); a NaN stays one
  gate,    // 0 where an array laid out as C is not above 0; not for convolutions
  scale,   // times TileSpec::scale; not for convolutions
  cap,     // min(TileSpec::cap, x); a NaN stays one
};

// A tile of a matmul, its sizes fixed when its code is generated:
//   C[i][j] = post([C[i][j] +] sum over segments, k < segment.k of A[i][k] B[k][j])
// A is read one element at a time and B in vectors, so only the columns of B and C must be
// contiguous. Offsets and steps count elements.
struct TileSpec {
  Level level = Level::v2;
  DType dtype = DType::f32;  // f32 or f64
  Dims a_rows;               // offset of each row of A
  Dims c_rows;               // and of C
  int64_t a_step = 1;        // from one k to the next
  int64_t b_step = 0;
  int64_t columns = 0;
  bool whole_b = false;  // B may be read past its columns, up to a whole vector
  bool copy_b = false;   // write the rows of B, in whole vectors and without gaps, to b_copy
  bool fetch_c = false;  // fetch the addend and the gate, or else C, early
  std::vector<TilePost> post;
  double scale = 1, cap = 0;
  std::vector<TileClass> classes{{}};  // in the order their segments are summed
  bool unrolled = false;               // the segments are known now, and few

  static constexpr auto fields =
      field_list(field("level", &TileSpec::level), field("dtype", &TileSpec::dtype),
                 field("a_rows", &TileSpec::a_rows), field("c_rows", &TileSpec::c_rows),
                 field("a_step", &TileSpec::a_step), field("b_step", &TileSpec::b_step),
                 field("columns", &TileSpec::columns), field("whole_b", &TileSpec::whole_b),
                 field("copy_b", &TileSpec::copy_b), field("fetch_c", &TileSpec::fetch_c),
                 field("post", &TileSpec::post), field("scale", &TileSpec::scale),
                 field("cap", &TileSpec::cap), field("classes", &TileSpec::classes),
                 field("unrolled", &TileSpec::unrolled));
  bool operator==(const TileSpec& other) const { return detail::equal_fields(*this, other); }
  size_t hash() const;
};

struct TileArgs {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  const TileSegment* segments = nullptr;  // those of each class in turn
  const int64_t* counts = nullptr;        // how many each class has; may be 0
  const void* bias = nullptr;
  const void* addend = nullptr;
  const void* gate = nullptr;
  void* b_copy = nullptr;
  int64_t accumulate = 0;  // 1: start from C instead of 0
  int64_t finish = 0;      // 1: apply `post`
};

// Ready machine code, or plain loops where we generate none. Immutable and shared.
class TileKernel {
 public:
  virtual ~TileKernel() = default;
  void operator()(const TileArgs& args) const { run_(this, &args); }

 protected:
  using Run = void (*)(const TileKernel* self, const TileArgs* args);
  Run run_ = nullptr;
};
using TileKernelPtr = std::shared_ptr<const TileKernel>;

// Callers with the same spec share a kernel.
TileKernelPtr make_tile_kernel(const TileSpec& spec);

// Elements in a vector, and the largest number of rows that a tile of `vectors` vectors across has
// registers for.
int64_t tile_lanes(Level level, DType dtype);
int64_t max_tile_rows(Level level, int64_t vectors);
inline constexpr int64_t max_tile_vectors(Level level) { return level == Level::v4 ? 12 : 4; }

}  // namespace keratin::cpu
