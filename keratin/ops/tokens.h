#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "keratin/base/fields.h"
#include "keratin/tensor/shape.h"

namespace keratin::ops {

// How texts become tokens.
struct TextRules {
  bool lower = false;              // ASCII letters
  bool strip_punctuation = false;  // ASCII punctuation
  std::string split = "none";      // or "whitespace", "character"
  Dims ngrams = {};                // how many words a token has, in order; none: one word
};

// Makes the tokens of rows of texts: the words of the only text, or, without a split, the texts
// themselves. Keeps its memory from row to row.
class Tokenizer {
 public:
  explicit Tokenizer(const TextRules& rules) : rules_(rules) {}

  // Valid until the next call.
  const std::vector<std::string_view>& tokens(std::span<const std::string_view> row);

 private:
  std::string_view standardized(std::string_view text);
  void split(std::string_view text);
  void join(int64_t words);

  TextRules rules_;
  std::string characters_;
  std::vector<std::string_view> words_, tokens_;
  std::vector<std::string> joined_;
};

// How many tokens a row of so many words has.
int64_t token_count(const Dims& ngrams, int64_t words);

}  // namespace keratin::ops
