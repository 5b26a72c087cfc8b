#include "keratin/losses/regression.h"

#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"

namespace keratin::losses {

LossTerms MeanSquaredError::call(Value y_true, Value y_pred) const {
  std::tie(y_true, y_pred) = to_same_rank(y_true, y_pred);
  return ops::mean(ops::square(y_true - y_pred), {-1});
}

}  // namespace keratin::losses
