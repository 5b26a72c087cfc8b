#include <cstdlib>

#include "keratin/layers/preprocessing.h"
#include "keratin/ops/tokens.h"

namespace keratin {
namespace {

// The vocabulary that a lookup has after it read a text; a UserError if it refuses the text.
template <class Lookup, class Config>
std::string read_by(const std::string& text) {
  const auto layer = std::make_shared<Lookup>(Config{}, LayerOptions{});
  layer->load_assets({.files = {{"vocabulary.txt", text}}});
  return layer->assets().files.at("vocabulary.txt");
}

template <class Lookup, class Config>
void check_vocabulary(const std::string& text) {
  try {
    const std::string once = read_by<Lookup, Config>(text);
    if (read_by<Lookup, Config>(once) != once) std::abort();
  } catch (const UserError&) {
  }
}

// Every byte of every token can be read.
void check_tokens(std::string_view text) {
  size_t characters = 0;
  for (const char* split : {"none", "whitespace", "character"}) {
    ops::Tokenizer tokenizer(
        {.lower = true, .strip_punctuation = true, .split = split, .ngrams = {1, 3}});
    for (const std::string_view token : tokenizer.tokens({&text, 1}))
      for (const char c : token) characters += static_cast<unsigned char>(c);
  }
  volatile size_t seen = characters;
  (void)seen;
}

}  // namespace
}  // namespace keratin

// Any bytes are a vocabulary that is written and reads back the same, or give a UserError. They are
// a text with tokens, too.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keratin;
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_vocabulary<StringLookupLayer, StringLookupConfig>(text);
  check_vocabulary<IntegerLookupLayer, IntegerLookupConfig>(text);
  check_tokens(text);
  return 0;
}
