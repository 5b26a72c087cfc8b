#include "keratin/ops/attention.h"

#include <cmath>
#include <limits>

#include "keratin/base/text.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/norm.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/records.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/shape_rules.h"
#include "keratin/ops/softmax.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::ops {

namespace {

void check_extra(const Node& n, size_t i, std::string_view what, DType dtype, const Shape& scores) {
  require(n.in(i).dtype() == dtype, n.name(), ": the ", what, " must be ", dtype, ", got ",
          n.in(i).type());
  require(compatible(broadcast(scores, n.in(i).shape(), n.name()), scores), n.name(), ": the ",
          what, " must broadcast to ", scores, ", got ", n.in(i).shape());
}

Types infer_attention(const Node& n) {
  const auto& attrs = n.attr<AttentionAttrs>();
  const size_t expected = 3U + (attrs.mask ? 1 : 0) + (attrs.bias ? 1 : 0);
  require(n.input_count() == expected, n.name(), ": expected ", expected, " inputs, got ",
          n.input_count());
  const Type &q = n.in(0).type(), &k = n.in(1).type(), &v = n.in(2).type();
  require(is_float(q.dtype) && k.dtype == q.dtype && v.dtype == q.dtype, n.name(),
          ": query, key and value must be floats of one dtype, got ", q, ", ", k, " and ", v);
  require(q.shape.rank() == 4 && k.shape.rank() == 4 && v.shape.rank() == 4, n.name(),
          ": query, key and value must be [batch, time, heads, depth], got ", q, ", ", k, " and ",
          v);
  const bool fits = sizes_agree(q.shape[0], k.shape[0]) && sizes_agree(q.shape[0], v.shape[0]) &&
                    sizes_agree(k.shape[1], v.shape[1]) && sizes_agree(k.shape[2], v.shape[2]) &&
                    sizes_agree(q.shape[3], k.shape[3]);
  require(fits, n.name(), ": query ", q, ", key ", k, " and value ", v, " do not fit together");
  const int64_t heads = q.shape[2], shared = k.shape[2];
  require(heads == unknown || shared == unknown || (shared > 0 && heads % shared == 0), n.name(),
          ": ", heads, " query heads cannot share ", shared, " key heads");
  require(k.shape[1] != 0, n.name(), ": expected at least one key, got ", k);
  const Shape scores{q.shape[0], heads, q.shape[1], k.shape[1]};
  size_t next = 3;
  if (attrs.mask) check_extra(n, next++, "mask", DType::boolean, scores);
  if (attrs.bias) check_extra(n, next, "bias", q.dtype, scores);
  return {{q.dtype, {q.shape[0], q.shape[1], heads, v.shape[3]}},
          {statistics_dtype(q.dtype), {q.shape[0], heads, q.shape[1]}}};
}

// Query, key, value and perhaps a mask, then y, log_sum and dy.
Types infer_attention_grad(const Node& n) {
  const size_t expected = n.attr<AttentionAttrs>().mask ? 7 : 6;
  require(n.input_count() == expected, n.name(), ": expected ", expected, " inputs, got ",
          n.input_count());
  return {n.in(0).type(), n.in(1).type(), n.in(2).type()};
}

// [batch, time, heads, depth] to [batch, heads, time, depth], heads repeated to the given number.
Value heads_first(Value x, int64_t heads) {
  const Shape& s = x.shape();
  if (s[2] != heads) {
    const Value grouped = reshape(x, {s[0], s[1], s[2], 1, s[3]});
    x = reshape(broadcast_to(grouped, {s[0], s[1], s[2], heads / s[2], s[3]}),
                {s[0], s[1], heads, s[3]});
  }
  return transpose(x, {0, 2, 1, 3});
}

Value causal_mask(Value scores) {
  const int64_t queries = scores.shape()[2], keys = scores.shape()[3];
  const Value t = iota(scores.block(), DType::i64, {queries, 1}, 0);
  return t >= iota(scores.block(), DType::i64, {1, keys}, 1);
}

// Large but finite, so that a row without any key gives no NaN, as in Keras.
Value masked(Value scores, Value mask) {
  const double least = scores.dtype() == DType::f64
                           ? std::numeric_limits<double>::lowest()
                           : static_cast<double>(std::numeric_limits<float>::lowest());
  return where(mask, scores, scalar_like(scores, 0.7 * least));
}

// The operands of the result, [batch, heads, …] each.
struct Attention {
  Value query, key, value;  // query and key in the arithmetic of statistics, the query scaled
  Value scores, shares;

  explicit Attention(const Node& n) {
    const auto& attrs = n.attr<AttentionAttrs>();
    const DType precise = statistics_dtype(n.in().dtype());
    const int64_t heads = n.in().shape()[2];
    query = cast(heads_first(n.in(0), heads), precise) * attrs.scale;
    key = cast(heads_first(n.in(1), heads), precise);
    value = heads_first(n.in(2), heads);
    scores = matmul(query, key, {.transpose_b = true});
    if (attrs.bias) scores = scores + cast(n.in(attrs.mask ? 4 : 3), precise);
    if (attrs.mask) scores = masked(scores, n.in(3));
    if (attrs.causal) scores = masked(scores, causal_mask(scores));
    shares = softmax(scores);
  }
};

Values decompose_attention(const Node& n) {
  const Attention a(n);
  const Value y = matmul(cast(a.shares, n.in().dtype()), a.value);
  return {transpose(y, {0, 2, 1, 3}), logsumexp(a.scores, {-1})};
}

Values attention_gradient(const Node& n, const Values& dy) {
  const auto& attrs = n.attr<AttentionAttrs>();
  // In other cases the decomposition is differentiated.
  const bool shared_heads = n.in(0).shape()[2] != n.in(1).shape()[2];
  if (attrs.bias || shared_heads || uniform_value(dy[1]) != 0.0) return {};
  Values inputs(n.inputs().begin(), n.inputs().end());
  inputs.insert(inputs.end(), {n.out(0), n.out(1), dy[0]});
  Values result = emit_node(scaled_dot_product_attention_grad_op, inputs, n.attrs()).outputs();
  result.resize(n.input_count());
  return result;
}

// Writes the forward values again; eliminate_common removes those that exist already.
Values decompose_attention_grad(const Node& n) {
  const auto& attrs = n.attr<AttentionAttrs>();
  const Attention a(n);
  const DType dtype = n.in().dtype(), precise = a.scores.dtype();
  const Value dy = transpose(n.in(n.input_count() - 1), {0, 2, 1, 3});
  const Value dvalue = matmul(cast(a.shares, dtype), dy, {.transpose_a = true});
  const Value dshares = cast(matmul(dy, a.value, {.transpose_b = true}), precise);
  Value dscores = emit(softmax_grad_op, {a.shares, dshares}, AxisAttrs{3});
  const Value zero = scalar_like(dscores, 0);
  if (attrs.causal) dscores = where(causal_mask(a.scores), dscores, zero);
  if (attrs.mask) dscores = where(n.in(3), dscores, zero);
  const auto back = [&](Value x) { return cast(transpose(x, {0, 2, 1, 3}), dtype); };
  return {back(matmul(dscores, a.key) * attrs.scale),
          back(matmul(dscores, a.query, {.transpose_a = true})), back(dvalue)};
}

}  // namespace

// y = softmax(q · kᵀ · scale + bias, where the mask allows) · v; log_sum [batch, heads, T], the
// logarithm of what softmax divides by, is what the gradient's kernels need
const OpDef scaled_dot_product_attention_op{
    .name = "scaled_dot_product_attention",
    .attrs = attrs_type<AttentionAttrs>(),
    .infer = infer_attention,
    .decompose = decompose_attention,
    .grad = attention_gradient,
    .flops =
        [](const Node& n) {
          const Shape &q = n.in(0).shape(), &v = n.in(2).shape();
          return 2.0 * static_cast<double>(q.count(0, 3) * v[1] * (q[3] + v[3]));
        },
};

// dquery, dkey and dvalue, given query, key, value (and mask), y, log_sum and dy; without a bias,
// and with as many heads of keys as of queries
const OpDef scaled_dot_product_attention_grad_op{
    .name = "scaled_dot_product_attention_grad",
    .attrs = attrs_type<AttentionAttrs>(),
    .infer = infer_attention_grad,
    .decompose = decompose_attention_grad,
    .flops =
        [](const Node& n) {
          const Shape &q = n.in(0).shape(), &v = n.in(2).shape();
          return 4.0 * static_cast<double>(q.count(0, 3) * v[1] * (q[3] + v[3]));
        },
};

Value scaled_dot_product_attention(Value query, Value key, Value value,
                                   const AttentionOptions& options) {
  Values inputs = {query, key, value};
  if (options.mask.defined()) inputs.push_back(options.mask);
  if (options.bias.defined()) inputs.push_back(options.bias);
  double scale = 1;
  if (options.scale) {
    scale = *options.scale;
  } else {
    require(query.defined() && query.rank() == 4 && query.shape()[3] > 0,
            "scaled_dot_product_attention: the scale follows from the depth of the query, which ",
            "must be known");
    scale = 1 / std::sqrt(static_cast<double>(query.shape()[3]));
  }
  return emit(
      scaled_dot_product_attention_op, inputs,
      AttentionAttrs{scale, options.causal, options.mask.defined(), options.bias.defined()});
}

}  // namespace keratin::ops
