#include "keratin/ops/lookup.h"

#include "keratin/base/text.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/pointwise_rules.h"
#include "keratin/ops/records.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::ops {
namespace {

void require_host(const Node& n) {
  for (const Value& input : n.inputs())
    require(input.type().device.kind == Device::Kind::cpu, n.name(),
            ": runs on the CPU alone, got ", input.type());
}

void require_hashable(const Node& n) {
  require_host(n);
  for (const Value& input : n.inputs())
    require(!is_float(input.dtype()), n.name(), ": expected strings or integers, got ",
            input.type());
}

Types infer_lookup(const Node& n) {
  require_host(n);
  const Value x = n.in(0), table = n.in(1);
  require(x.dtype() == DType::string || x.dtype() == DType::i64,
          "lookup: expected strings or i64, got ", x.type());
  require(table.dtype() == x.dtype() && table.rank() == 1, "lookup: the table must be ", x.dtype(),
          "[n], got ", table.type());
  return {{DType::i64, x.shape()}};
}

Types infer_hash(const Node& n) {
  require_hashable(n);
  require(n.attr<HashAttrs>().bins > 0, "hash_bucket: expected one bin or more, got ",
          n.attr<HashAttrs>().bins);
  return {{DType::i64, n.in().shape()}};
}

Types infer_cross(const Node& n) {
  require_hashable(n);
  require(n.attr<CrossAttrs>().bins > 0, "cross_hash: expected one bin or more, got ",
          n.attr<CrossAttrs>().bins);
  require(n.input_count() > 0, "cross_hash: expected inputs, got none");
  for (const Value& input : n.inputs())
    require(compatible(input.shape(), n.in().shape()),
            "cross_hash: expected inputs of one shape, got ", n.in().shape(), " and ",
            input.shape());
  return {{DType::i64, n.in().shape()}};
}

Types infer_text(const Node& n) {
  require_host(n);
  const Value x = n.in(0), table = n.in(1), ids = n.in(2);
  const auto& attrs = n.attr<TextAttrs>();
  require(x.dtype() == DType::string && table.dtype() == DType::string && ids.dtype() == DType::i64,
          "text_ids: expected strings, a table of strings and i64, got ", x.type(), ", ",
          table.type(), " and ", ids.type());
  require(table.rank() == 1 && table.shape() == ids.shape(),
          "text_ids: expected an id for each string of the table, got ", table.type(), " and ",
          ids.type());
  require((attrs.length >= 0 || attrs.length == unknown) && attrs.depth >= 0,
          "text_ids: sizes must not be negative, got ", attrs.length, " and ", attrs.depth);
  for (const int64_t words : attrs.ngrams)
    require(words > 0, "text_ids: ngrams must be positive, got ", words);
  Dims dims = text_rows(x.shape(), attrs.split != "none").dims();
  dims.push_back(attrs.depth > 0 ? attrs.depth : attrs.length);
  return {{DType::i64, Shape(dims)}};
}

}  // namespace

Shape text_rows(const Shape& texts, bool split) {
  if (split && texts.rank() < 2) return texts;
  require(texts.rank() > 0, "text_ids: expected rows of texts, got one text");
  require(
      !split || texts.back() == 1,
      "When using `TextVectorization` to tokenize strings, the input rank must be 1 or the last "
      "shape dimension must be 1. Received: inputs.shape=",
      texts, " with rank=", texts.rank());
  return Shape(std::span(texts.begin(), texts.end() - 1));
}

// i with sorted_table[i] = x, else -1
const OpDef lookup_op{.name = "lookup",
                      .attrs = attrs_type<LookupAttrs>(),
                      .arity = 2,
                      .infer = infer_lookup,
                      .grad = no_gradient,
                      .takes_strings = true};

// hash(x) mod bins
const OpDef hash_bucket_op{.name = "hash_bucket",
                           .attrs = attrs_type<HashAttrs>(),
                           .arity = 1,
                           .infer = infer_hash,
                           .grad = no_gradient,
                           .takes_strings = true};

// hash(x, y, …) mod bins
const OpDef cross_hash_op{.name = "cross_hash",
                          .attrs = attrs_type<CrossAttrs>(),
                          .infer = infer_cross,
                          .grad = no_gradient,
                          .takes_strings = true};

// ids of tokens(texts), or how often each is there
const OpDef text_ids_op{.name = "text_ids",
                        .attrs = attrs_type<TextAttrs>(),
                        .arity = 3,
                        .infer = infer_text,
                        .grad = no_gradient,
                        .takes_strings = true};

Value lookup(Value x, Value sorted_table, LookupAttrs attrs) {
  return emit(lookup_op, {x, sorted_table}, attrs);
}
Value hash_bucket(Value x, const HashAttrs& attrs) { return emit(hash_bucket_op, {x}, attrs); }
Value cross_hash(const Values& inputs, int64_t bins) {
  return emit(cross_hash_op, inputs, CrossAttrs{bins});
}
Value text_ids(Value texts, Value sorted_table, Value ids, const TextAttrs& attrs) {
  return emit(text_ids_op, {texts, sorted_table, ids}, attrs);
}

}  // namespace keratin::ops
