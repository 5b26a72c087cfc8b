#include "keratin/base/text.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/pointwise_rules.h"
#include "keratin/ops/records.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/shards.h"
#include "keratin/ops/softmax.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::ops {

namespace {

// Logits and labels are always the first two inputs. Returns the type of a result with one element
// per label.
Type check_labels(const Node& n) {
  const Shape &logits = n.in(0).shape(), &labels = n.in(1).shape();
  require(is_float(n.in(0).dtype()) && logits.rank() >= 1, n.name(),
          ": logits must be floats with an axis of classes, got ", n.in(0).type());
  require(is_integer(n.in(1).dtype()), n.name(), ": labels must be integers, got ", n.in(1).type());
  require(logits.back() != 0, n.name(), ": expected at least one class, got ", n.in(0).type());
  const Shape rows(std::span(logits.begin(), logits.end() - 1));
  require(compatible(rows, labels), n.name(), ": logits ", logits, " need labels ", rows, ", got ",
          labels);
  return {n.in(0).dtype(), rows.known() ? rows : labels};
}

// A one-hot mask in the shape of the logits; all false if the label is no class.
Value label_hits(const Node& n) {
  Value labels = n.in(1);
  if (labels.dtype() != DType::i64) labels = cast(labels, DType::i32);
  const Shape& logits = n.in(0).shape();
  const Value classes = iota(labels.block(), labels.dtype(), {logits.back()}, 0);
  Dims column = labels.shape().dims();
  column.push_back(1);
  return equal(reshape(labels, column), classes);
}

Value as_column(Value row) {
  Dims dims = row.shape().dims();
  dims.push_back(1);
  return reshape(row, dims);
}

}  // namespace

// loss = log_sum - logits[label], or 0 where the label is no class; log_sum = log Σ exp(logits),
// the second output, is what the gradient needs
const OpDef sparse_softmax_cross_entropy_op{
    .name = "sparse_softmax_cross_entropy",
    .arity = 2,
    .infer = [](const Node& n) -> Types {
      const Type row = check_labels(n);
      return {row, row};
    },
    .decompose = [](const Node& n) -> Values {
      const Value logits = n.in(0);
      const Value log_sum = logsumexp(logits, {-1}, true);
      const Value losses = where(label_hits(n), log_sum - logits, scalar_like(logits, 0));
      return {sum(losses, {-1}), reshape(log_sum, n.type(1).shape.dims())};
    },
    .grad = [](const Node& n, const Values& dy) -> Values {
      Value logits =
          emit(sparse_softmax_cross_entropy_grad_op, {n.in(0), n.in(1), n.out(1), dy[0]});
      if (uniform_value(dy[1]) != 0.0)
        logits = logits + as_column(dy[1]) * exp(n.in(0) - as_column(n.out(1)));
      return {logits, Value()};
    },
};

// dlogits = dy · (exp(logits - log_sum) - onehot(label)), or 0 where the label is no class; given
// logits, labels, log_sum and dy
const OpDef sparse_softmax_cross_entropy_grad_op{
    .name = "sparse_softmax_cross_entropy_grad",
    .arity = 4,
    .infer = [](const Node& n) -> Types {
      const Type row = check_labels(n);
      for (size_t i : {2, 3})
        require(n.in(i).dtype() == row.dtype && compatible(n.in(i).shape(), row.shape), n.name(),
                ": expected ", row, ", got ", n.in(i).type());
      return {n.in(0).type()};
    },
    .decompose = [](const Node& n) -> Values {
      const Value logits = n.in(0), hits = label_hits(n);
      const Value softmax = exp(logits - as_column(n.in(2)));
      const Value distance = softmax - cast(hits, logits.dtype());
      return {where(any(hits, {-1}, true), as_column(n.in(3)) * distance, scalar_like(logits, 0))};
    },
};

Value sparse_softmax_cross_entropy(Value logits, Value labels) {
  // Sharded by rows here, since the rules of shards.cpp are for ops with one output.
  if (is_sharded(logits) && sharded_axis(logits) + 1 < logits.rank())
    return map_shards(logits, labels, sparse_softmax_cross_entropy);
  return emit(sparse_softmax_cross_entropy_op, {logits, labels});
}

Value softmax_cross_entropy(Value logits, Value targets) {
  return -sum(targets * log_softmax(logits), {-1});
}

// softplus(x) - x·t, which takes exp of no positive number. maximum, not relu, since at 0 maximum
// passes on half of the gradient, which is the right slope.
Value sigmoid_cross_entropy(Value logits, Value targets) {
  const Value zero = scalar_like(logits, 0);
  return maximum(logits, zero) - logits * targets + log1p(exp(-abs(logits)));
}

}  // namespace keratin::ops
