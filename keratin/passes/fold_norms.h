#pragma once

#include "keratin/ir/module.h"

namespace keratin {

// Folds batch normalisations with known statistics into the convolution or matmul before them. With
// s = scale / √(variance + epsilon), one number per filter or column,
//   (x * w + b - mean) · s + offset = x * (w · s) + ((b - mean) · s + offset).
// Where there is none, x · s + (offset - mean · s) is left, two pointwise ops that join others. The
// new weights are stable values, which are computed once.
//
// Only programs that update no state are changed, so training keeps its bits; and only f32 and f64,
// since rounding a folded filter to half precision would cost accuracy. Results differ by rounding
// alone: by at most about 2 n u |s| (Σ |x w| + |b| + |mean|) for sums of n terms and unit roundoff
// u, which is what the rounding of such a sum may amount to before the normalisation, too.
Module fold_norms(Module module);

}  // namespace keratin
