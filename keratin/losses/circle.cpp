#include "keratin/losses/classification.h"

#include <limits>

#include "keratin/base/text.h"
#include "keratin/ir/node.h"
#include "keratin/losses/margin.h"
#include "keratin/ops/activations.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/reduce.h"

namespace keratin::losses {
namespace {

// log Σ exp over the pairs of a mask; -∞ where there are none.
Value log_sum(Value pairs, Value scores) {
  constexpr double nothing = -std::numeric_limits<double>::infinity();
  return ops::logsumexp(ops::where(pairs, scores, ops::scalar_like(scores, nothing)), {1});
}

}  // namespace

// With d the cosine distance of a pair, softplus(log Σ exp(gamma · a₊ · (d - margin)) over pairs of
// one class + log Σ exp(gamma · a₋ · (1 - margin - d)) over the others), where a₊ = margin + d and
// a₋ = max(1 + margin - d, 0).
LossTerms Circle::call(Value y_true, Value y_pred) const {
  require(y_pred.rank() == 2, "Circle: expected embeddings of shape (batch, features), got ",
          keras_shape(y_pred.shape()));
  const int64_t batch = y_pred.shape()[0];
  const Value labels = ops::reshape(ops::cast(y_true, DType::i32), {batch, 1});
  Value same = ops::equal(labels, ops::transpose(labels, {1, 0}));
  const Value different = !same;
  if (remove_diagonal) {
    Block& block = y_pred.block();
    same = same & ops::not_equal(ops::iota(block, DType::i32, {batch, batch}, 0),
                                 ops::iota(block, DType::i32, {batch, batch}, 1));
  }
  const Value distance = not_negative(1 - ops::matmul(y_pred, y_pred, {.transpose_b = true}));
  const Value pull = gamma * (not_negative(margin + distance) * (distance - margin));
  const Value push = gamma * (not_negative(1 + margin - distance) * (1 - margin - distance));
  const Value loss = ops::softplus(log_sum(same, pull) + log_sum(different, push));
  return {loss, loss > 0};
}

}  // namespace keratin::losses
