#pragma once

#include "keratin/ir/value.h"
#include "keratin/ops/tokens.h"

// Ops on strings, and on integers that are looked up or hashed as strings are. They run on the
// host: the inputs must be on a device of the CPU.
namespace keratin::ops {

struct LookupAttrs {
  bool must_be_there = false;  // a UserError if a value is not in the table
  static constexpr auto fields = field_list(field("must_be_there", &LookupAttrs::must_be_there));
};
// The position of each value in a sorted table of the same dtype, strings or i64; -1 if it is not
// there. i64.
Value lookup(Value x, Value sorted_table, LookupAttrs attrs = {});

struct HashAttrs {
  int64_t bins = 1;
  bool strong = false;  // SipHash with the key, else FarmHash
  int64_t key_low = 0, key_high = 0;
  static constexpr auto fields =
      field_list(field("bins", &HashAttrs::bins), field("strong", &HashAttrs::strong),
                 field("key_low", &HashAttrs::key_low), field("key_high", &HashAttrs::key_high));
};
// The hash of each string, or of the decimal digits of each integer, modulo bins. i64.
Value hash_bucket(Value x, const HashAttrs& attrs);

struct CrossAttrs {
  int64_t bins = 1;
  static constexpr auto fields = field_list(field("bins", &CrossAttrs::bins));
};
// One hash for the elements at each index, modulo bins: tf.sparse.cross_hashed. i64.
Value cross_hash(const Values& inputs, int64_t bins);

struct TextAttrs {
  bool lower = false, strip_punctuation = false;
  std::string split = "none";
  Dims ngrams;
  int64_t length = 0;  // ids: of each row, cut or filled up with `empty`; may be unknown
  int64_t depth = 0;   // counts: how many different ids; 0 gives ids
  int64_t other = 0;   // the id of tokens that are not in the table
  int64_t empty = 0;   // the id of empty tokens, and of none
  static constexpr auto fields = field_list(
      field("lower", &TextAttrs::lower), field("strip_punctuation", &TextAttrs::strip_punctuation),
      field("split", &TextAttrs::split), field("ngrams", &TextAttrs::ngrams),
      field("length", &TextAttrs::length), field("depth", &TextAttrs::depth),
      field("other", &TextAttrs::other), field("empty", &TextAttrs::empty));
  TextRules rules() const { return {lower, strip_punctuation, split, ngrams}; }
};
// The shape of texts without the axis of a row: rows are elements if they are split (an axis of
// size 1 at the end goes), else the last axis.
Shape text_rows(const Shape& texts, bool split);
// Tokens of texts, by a sorted table of strings and the id of each. Ids [rows…, length]; or
// how often each id is there, [rows…, depth], without empty tokens. i64.
Value text_ids(Value texts, Value sorted_table, Value ids, const TextAttrs& attrs);

}  // namespace keratin::ops
