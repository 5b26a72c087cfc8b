#pragma once

#include <optional>

#include "keratin/base/export.h"
#include "keratin/base/fields.h"
#include "keratin/ir/value.h"

namespace keratin::ops {

struct KERATIN_API AttentionAttrs {
  double scale = 1;
  bool causal = false;
  bool mask = false;  // a mask follows query, key and value
  bool bias = false;  // then a bias
  static constexpr auto fields =
      field_list(field("scale", &AttentionAttrs::scale), field("causal", &AttentionAttrs::causal),
                 field("mask", &AttentionAttrs::mask), field("bias", &AttentionAttrs::bias));
};

struct AttentionOptions {
  Value mask = {};              // bool: which query attends to which key
  Value bias = {};              // added to the scaled scores
  std::optional<double> scale;  // 1 / √depth unless given
  bool causal = false;          // query t attends to keys 0 … t
};

// softmax(query · keyᵀ · scale + bias) · value, in Keras's layout: query [batch, T, heads, depth],
// key and value [batch, S, heads, depth], the result [batch, T, heads, depth of value]. Key and
// value may have fewer heads, each shared by as many query heads. Mask and bias broadcast to
// [batch, heads, T, S]. A query that attends to no key gets the mean of all values, as in Keras.
KERATIN_API Value scaled_dot_product_attention(Value query, Value key, Value value,
                                               const AttentionOptions& options = {});

}  // namespace keratin::ops
