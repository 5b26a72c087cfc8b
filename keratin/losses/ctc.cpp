#include "keratin/losses/classification.h"

#include "keratin/base/text.h"
#include "keratin/ir/node.h"
#include "keratin/losses/weighting.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/indexing.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/scan.h"
#include "keratin/ops/slicing.h"
#include "keratin/ops/softmax.h"

namespace keratin::losses {
namespace {

constexpr double log_of_nothing = -1e5;

// log(exp a + exp b)
Value log_add(Value a, Value b) {
  return ops::maximum(a, b) + ops::log1p(ops::exp(-ops::abs(a - b)));
}

// Paths that end in a blank, by the number of labels before it: paths that ended in a label join.
Value join(Value blank, Value wrote) {
  return ops::concatenate(
      {ops::slice_axis(blank, 1, 0, 1), log_add(ops::slice_axis(blank, 1, 1, ops::to_end), wrote)},
      1);
}

// 1 where a label is followed by the same label, which needs a blank in between.
Value repeats(Value labels, DType dtype) {
  const int64_t length = labels.shape()[1];
  const Value same =
      ops::equal(ops::slice_axis(labels, 1, 0, length - 1), ops::slice_axis(labels, 1, 1, length));
  return ops::pad(ops::cast(same, dtype), {.lo = {0, 0}, .hi = {0, 1}});
}

}  // namespace

// `blank`[b, n] and `wrote`[b, n] are log probabilities of all paths so far that have spelt n
// labels and end in a blank, or n + 1 and end in the last of these.
LossTerms CTC::call(Value y_true, Value y_pred) const {
  require(y_true.rank() == 2,
          "Targets `y_true` are expected to be a tensor of shape `(batch_size, max_length)` in "
          "integer format. Received: y_true.shape=",
          keras_shape(y_true.shape()));
  require(y_pred.rank() == 3,
          "Logits `y_pred` are expected to be a tensor of shape `(batch_size, max_length, "
          "num_classes)`. Received: y_pred.shape=",
          keras_shape(y_pred.shape()));
  if (y_pred.dtype() != DType::f64) y_pred = cast_to(y_pred, DType::f32);
  const DType dtype = y_pred.dtype();
  const Value labels = ops::cast(y_true, DType::i32);
  const int64_t batch = labels.shape()[0], length = labels.shape()[1];
  require(length > 0, "CTC: expected labels of at least one step, got shape ",
          keras_shape(y_true.shape()));

  const Value scores = ops::log_softmax(y_pred);
  const Value which = ops::one_hot(labels, y_pred.shape()[2], dtype);
  const Value of_labels = ops::matmul(scores, which, {.transpose_b = true});
  const Value of_blank = ops::slice_axis(scores, 2, 0, 1);
  const Value repeat = log_of_nothing * repeats(labels, dtype);
  const Value change = log_of_nothing - repeat;

  Block& block = y_pred.block();
  const Value none = ops::full(block, dtype, {batch, length}, log_of_nothing);
  const Value start = ops::concatenate({ops::full(block, dtype, {batch, 1}, 0), none}, 1);
  const auto step = [&](const Values& carries, const Values& xs) -> ops::Scanned {
    const Value wrote = carries[1];
    const Value blank = join(carries[0], wrote + repeat);
    const Value next_wrote = log_add(ops::slice_axis(blank, 1, 0, length) + xs[0], wrote + xs[0]);
    return {{join(blank + xs[1], wrote + xs[1] + change), next_wrote}, {}};
  };
  const auto last =
      ops::scan({start, none},
                {ops::transpose(of_labels, {1, 0, 2}), ops::transpose(of_blank, {1, 0, 2})}, step);
  const Value spelt = join(last.carries[0], last.carries[1]);
  const Value written = ops::not_equal(labels, ops::scalar_like(labels, 0));
  const Value lengths = ops::sum(ops::cast(written, DType::i32), {1});
  return -ops::sum(spelt * ops::one_hot(lengths, length + 1, dtype), {1});
}

}  // namespace keratin::losses
