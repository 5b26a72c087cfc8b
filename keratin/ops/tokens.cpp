#include "keratin/ops/tokens.h"

#include <algorithm>
#include <cstdint>

#include "keratin/base/text.h"

namespace keratin::ops {
namespace {

constexpr std::string_view spaces = " \t\n\v\f\r";
constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

bool is_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
         (c >= '{' && c <= '~');
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

// The first byte of a character in UTF-8: how many follow, and the range of the second one.
struct Lead {
  int rest;
  uint8_t low = 0x80, high = 0xbf;
};
Lead lead_of(uint8_t byte) {
  if (byte < 0x80) return {0};
  if (byte >= 0xc2 && byte <= 0xdf) return {1};
  if (byte == 0xe0) return {2, 0xa0, 0xbf};
  if (byte == 0xed) return {2, 0x80, 0x9f};
  if (byte >= 0xe1 && byte <= 0xef) return {2};
  if (byte == 0xf0) return {3, 0x90, 0xbf};
  if (byte >= 0xf1 && byte <= 0xf3) return {3};
  if (byte == 0xf4) return {3, 0x80, 0x8f};
  return {-1};
}

// The next character, and how many bytes it takes. What is not UTF-8 is replaced, up to the byte
// that shows it.
struct Character {
  std::string_view text;
  size_t bytes;
};
Character first_character(std::string_view s) {
  const auto byte = [&](size_t at) { return static_cast<uint8_t>(s[at]); };
  Lead lead = lead_of(byte(0));
  if (lead.rest < 0) return {replacement, 1};
  size_t size = 1;
  for (; lead.rest > 0; --lead.rest, ++size) {
    if (size == s.size() || byte(size) < lead.low || byte(size) > lead.high)
      return {replacement, size};
    lead = {lead.rest};
  }
  return {s.substr(0, size), size};
}

// Many wide ngrams need far more memory than the text.
void check_size(const std::vector<std::string_view>& words, const Dims& ngrams) {
  constexpr size_t max_bytes = size_t{256} << 20;
  size_t all = 0;
  for (const int64_t words_each : ngrams) {
    const auto width = static_cast<size_t>(words_each);
    size_t token = 0;
    for (size_t i = 0; i < words.size(); ++i) {
      token += words[i].size() + 1;
      if (i + 1 < width) continue;
      all += sizeof(std::string) + token;
      token -= words[i + 1 - width].size() + 1;
      require(all <= max_bytes, "text_ids: expected ngrams of at most ", max_bytes,
              " bytes for one text, got more");
    }
  }
}

}  // namespace

// What is removed or changed never becomes longer, so the characters stay where they are.
std::string_view Tokenizer::standardized(std::string_view text) {
  if (!rules_.lower && !rules_.strip_punctuation) return text;
  const size_t first = characters_.size();
  for (const char c : text)
    if (!rules_.strip_punctuation || !is_punctuation(c)) characters_ += rules_.lower ? lower(c) : c;
  return std::string_view(characters_).substr(first);
}

void Tokenizer::split(std::string_view text) {
  if (rules_.split == "character") {
    while (!text.empty()) {
      const Character next = first_character(text);
      words_.push_back(next.text);
      text.remove_prefix(next.bytes);
    }
  } else if (rules_.split == "whitespace") {
    for (size_t at = text.find_first_not_of(spaces); at != text.npos;) {
      const size_t end = std::min(text.find_first_of(spaces, at), text.size());
      words_.push_back(text.substr(at, end - at));
      at = text.find_first_not_of(spaces, end);
    }
  } else {
    words_.push_back(text);
  }
}

void Tokenizer::join(int64_t words) {
  const auto width = static_cast<size_t>(words);
  for (size_t first = 0; first + width <= words_.size(); ++first) {
    std::string& token = joined_.emplace_back(words_[first]);
    for (size_t i = 1; i < width; ++i) (token += ' ') += words_[first + i];
  }
}

const std::vector<std::string_view>& Tokenizer::tokens(std::span<const std::string_view> row) {
  characters_.clear();
  words_.clear();
  size_t size = 0;
  for (const std::string_view text : row) size += text.size();
  characters_.reserve(size);
  for (const std::string_view text : row) split(standardized(text));
  if (rules_.ngrams.empty()) return words_;
  joined_.clear();
  check_size(words_, rules_.ngrams);
  for (const int64_t words : rules_.ngrams) join(words);
  tokens_.assign(joined_.begin(), joined_.end());
  return tokens_;
}

int64_t token_count(const Dims& ngrams, int64_t words) {
  if (ngrams.empty()) return words;
  int64_t count = 0;
  for (const int64_t width : ngrams) count += std::max<int64_t>(0, words - width + 1);
  return count;
}

}  // namespace keratin::ops
