#pragma once

#include "keratin/base/export.h"
#include "keratin/base/fields.h"
#include "keratin/ir/value.h"

// Ops that join tensors, or repeat or pad one.
namespace keratin::ops {

// Per axis: lo elements in front, hi behind, interior between any two. Empty means none.
struct KERATIN_API PadAttrs {
  Dims lo, hi, interior;
  double value = 0;
  static constexpr auto fields =
      field_list(field("lo", &PadAttrs::lo), field("hi", &PadAttrs::hi),
                 field("interior", &PadAttrs::interior), field("value", &PadAttrs::value));
};
struct KERATIN_API ReflectPadAttrs {
  Dims lo, hi;
  bool symmetric = false;
  static constexpr auto fields =
      field_list(field("lo", &ReflectPadAttrs::lo), field("hi", &ReflectPadAttrs::hi),
                 field("symmetric", &ReflectPadAttrs::symmetric));
};
struct KERATIN_API RollAttrs {
  int64_t shift = 0;
  int64_t axis = 0;
  static constexpr auto fields =
      field_list(field("shift", &RollAttrs::shift), field("axis", &RollAttrs::axis));
};
struct KERATIN_API TileAttrs {
  Dims repeats;
  static constexpr auto fields = field_list(field("repeats", &TileAttrs::repeats));
};
struct KERATIN_API RepeatAttrs {
  int64_t count = 1;
  int64_t axis = 0;
  static constexpr auto fields =
      field_list(field("count", &RepeatAttrs::count), field("axis", &RepeatAttrs::axis));
};

// out[lo + (1 + interior) · i] = x[i], and the value elsewhere.
KERATIN_API Value pad(Value x, PadAttrs attrs);
// Pads with mirrored elements: reflect leaves out the element at the edge (… 2 1 0 1 2 …),
// symmetric repeats it (… 1 0 0 1 …). Reflect pads by less than the size, symmetric by at most it.
KERATIN_API Value pad_reflect(Value x, const Dims& lo, const Dims& hi);
KERATIN_API Value pad_symmetric(Value x, const Dims& lo, const Dims& hi);

// Concatenates the inputs along an axis.
KERATIN_API Value concatenate(const Values& inputs, int64_t axis = 0);
// The same along a new axis.
KERATIN_API Value stack(const Values& inputs, int64_t axis = 0);

// out[(i + shift) mod n] = x[i]
KERATIN_API Value roll(Value x, int64_t shift, int64_t axis);
// Repeats the whole tensor: out[i] = x[i mod n]; one count per axis,
// for the last ones if there are fewer counts; more counts make new axes in front.
KERATIN_API Value tile(Value x, const Dims& repeats);
// Repeats each element: out[i] = x[i div count] along an axis.
KERATIN_API Value repeat(Value x, int64_t count, int64_t axis);

}  // namespace keratin::ops
