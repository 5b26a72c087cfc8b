#include "keratin/layers/vocabulary.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

#include "keratin/base/text.h"
#include "keratin/graph/json_tensor.h"

namespace keratin {
namespace {

// The length of the line break at a position, as Python's splitlines has them; 0 if there is none.
size_t line_break(std::string_view s, size_t at) {
  const char c = s[at];
  if (c == '\r') return s.substr(at).starts_with("\r\n") ? 2 : 1;
  if ((c >= '\n' && c <= '\f') || (c >= '\x1c' && c <= '\x1e')) return 1;
  if (s.substr(at).starts_with("\xc2\x85")) return 2;                 // U+0085
  const bool separator = s.substr(at).starts_with("\xe2\x80\xa8") ||  // U+2028
                         s.substr(at).starts_with("\xe2\x80\xa9");    // U+2029
  return separator ? 3 : 0;
}

// Without empty lines at the end.
std::vector<std::string_view> lines_of(std::string_view s) {
  std::vector<std::string_view> lines;
  size_t start = 0;
  for (size_t at = 0; at < s.size();) {
    const size_t size = line_break(s, at);
    if (size > 0) lines.push_back(s.substr(start, at - start));
    at += std::max<size_t>(1, size);
    if (size > 0) start = at;
  }
  if (start < s.size()) lines.push_back(s.substr(start));
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

int64_t integer(std::string_view digits) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  require(error == std::errc() && end == digits.data() + digits.size() && !digits.empty(),
          "vocabulary: expected an integer a line, got ", shown_token(digits));
  return value;
}

// Keras writes tokens from a tensor as {"class_name": "__bytes__", "config": {"value": "a"}}, and
// Keras 2 as {"class_name": "__bytes__", "value": "a"}.
std::string bytes_from_json(const Json& token) {
  const Json* name = token.is_object() ? token.find("class_name") : nullptr;
  require(name != nullptr && *name == Json("__bytes__"), "vocabulary: expected strings, got ",
          token);
  const Json* config = token.find("config");
  return (config == nullptr ? token : *config).at("value").as_string();
}

}  // namespace

std::string shown_token(std::string_view token) {
  constexpr size_t max_bytes = 40;
  std::string out = "'";
  for (const char c : token.substr(0, max_bytes)) out += c >= 0 && (c < ' ' || c == 127) ? '?' : c;
  return out + (token.size() > max_bytes ? "…'" : "'");
}

Tensor vocabulary_from_json(const Json& list, DType dtype) {
  if (is_array_envelope(list)) return vocabulary_from_json(list.at("config").at("value"), dtype);
  require(list.is_array(), "vocabulary: expected a list, got ", list);
  if (dtype == DType::string) {
    std::vector<std::string> tokens;
    for (const Json& token : list.as_array())
      tokens.push_back(token.is_string() ? token.as_string() : bytes_from_json(token));
    return Tensor(tokens);
  }
  std::vector<int64_t> tokens;
  for (const Json& token : list.as_array()) {
    require(token.is_int(), "vocabulary: expected integers, got ", token);
    tokens.push_back(token.as_int());
  }
  return Tensor::of(DType::i64, {static_cast<int64_t>(tokens.size())}, tokens);
}

Tensor vocabulary_from_text(const std::string& text, DType dtype) {
  const std::vector<std::string_view> lines = lines_of(text);
  Tensor tokens(dtype, {static_cast<int64_t>(lines.size())});
  if (dtype == DType::string) {
    std::copy(lines.begin(), lines.end(), tokens.data<std::string_view>().begin());
    return tokens.own_strings();
  }
  std::transform(lines.begin(), lines.end(), tokens.data<int64_t>().begin(), integer);
  return tokens;
}

Tensor vocabulary_file(const std::string& path, DType dtype) {
  std::ifstream file(path, std::ios::binary);
  require(file.good(), "Vocabulary file ", path, " does not exist.");
  std::stringstream lines;
  lines << file.rdbuf();
  return vocabulary_from_text(lines.str(), dtype);
}

std::string vocabulary_text(const Tensor& tokens) {
  std::string out;
  const auto add = [&](std::string_view token) { (out += token) += '\n'; };
  if (tokens.dtype() == DType::string)
    for (const std::string_view token : tokens.data<std::string_view>()) add(token);
  else
    for (const int64_t token : tokens.data<int64_t>()) add(std::to_string(token));
  if (!out.empty()) out.pop_back();
  return out;
}

void refuse_vocabulary_path(const Json& config) {
  const Json* vocabulary = config.find("vocabulary");
  require(vocabulary == nullptr || !vocabulary->is_string(),
          "Requested the loading of a vocabulary file outside of the model archive. This carries a "
          "potential risk of loading arbitrary and sensitive files and thus it is disallowed. "
          "Vocabulary file: ",
          vocabulary == nullptr ? Json() : *vocabulary);
}

}  // namespace keratin
