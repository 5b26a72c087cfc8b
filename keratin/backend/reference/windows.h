#pragma once

#include "keratin/backend/reference/loops.h"
#include "keratin/ops/window.h"

namespace keratin::reference {

// Calls f(k, input) with the flat positions of every element of the window of output o and of the
// input under it; padding is skipped.
template <class F>
void for_each_in_window(const ops::WindowAxes& a, const Dims& o, F&& f) {
  int64_t k = 0;
  for_each_index(Shape{a[0].window, a[1].window, a[2].window}, [&](const Dims& index) {
    int64_t input = 0;
    bool inside = true;
    for (size_t axis = 0; axis < a.size(); ++axis) {
      const int64_t i = a[axis].source(o[axis], index[axis]);
      inside = inside && a[axis].inside(i);
      input = input * a[axis].input + i;
    }
    if (inside) f(k, input);
    ++k;
  });
}

inline Shape spatial_output(const ops::WindowAxes& a) {
  return {a[0].output, a[1].output, a[2].output};
}
inline int64_t spatial_inputs(const ops::WindowAxes& a) {
  return a[0].input * a[1].input * a[2].input;
}

}  // namespace keratin::reference
