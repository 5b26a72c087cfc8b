#include "keratin/ops/promote.h"

#include "keratin/ops/pointwise.h"

namespace keratin::ops {

DType promoted(DType a, DType b) {
  if (a == b || b == DType::boolean) return a;
  if (a == DType::boolean) return b;
  if (is_float(a) != is_float(b)) return is_float(a) ? a : b;
  if (a == DType::f64 || b == DType::f64) return DType::f64;
  if (is_float(a)) return DType::f32;
  return a == DType::i64 || b == DType::i64 ? DType::i64 : DType::i32;
}

DType promoted_with_number(DType a, bool whole) {
  if (whole) return a == DType::boolean ? DType::i32 : a;
  return promoted_to_float(a);
}

DType promoted_to_float(DType a) { return is_float(a) ? a : DType::f32; }

Values promote(Values values) {
  if (values.empty()) return values;
  DType common = values[0].dtype();
  for (const Value v : values) common = promoted(common, v.dtype());
  for (Value& v : values)
    if (v.dtype() != common) v = cast(v, common);
  return values;
}

}  // namespace keratin::ops
