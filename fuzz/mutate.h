#pragma once

#include <algorithm>
#include <cctype>
#include <random>
#include <string>

#include "keratin/base/text.h"
#include "keratin/ops/registry.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

// Mutates ir text so that it often still parses: replaces a word by the name of an op or by another
// word of the text, and a number by an extreme one. Sometimes libFuzzer mutates the text.
namespace keratin::fuzz {

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  size_t run(uint8_t* data, size_t size, size_t max_size) {
    if (random_() % 4 == 0) return LLVMFuzzerMutate(data, size, max_size);
    std::string text(reinterpret_cast<char*>(data), size);
    do replace_word(text);
    while (random_() % 3 == 0);
    if (text.size() > max_size) return size;
    std::copy(text.begin(), text.end(), data);
    return text.size();
  }

 private:
  static bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '?';
  }

  // The start and length of the word at or after a random position.
  std::pair<size_t, size_t> pick(const std::string& text) {
    size_t start = text.empty() ? 0 : random_() % text.size();
    while (start > 0 && is_word(text[start - 1])) --start;
    while (start < text.size() && !is_word(text[start])) ++start;
    size_t end = start;
    while (end < text.size() && is_word(text[end])) ++end;
    return {start, end - start};
  }

  void replace_word(std::string& text) {
    const auto [start, length] = pick(text);
    if (length == 0) return;
    const char first = text[start];
    const bool number = std::isdigit(static_cast<unsigned char>(first)) != 0 || first == '-';
    text.replace(start, length, number ? extreme_number() : other_word(text));
  }

  std::string extreme_number() {
    static constexpr const char* numbers[] = {"0",
                                              "1",
                                              "-1",
                                              "2",
                                              "-2",
                                              "3",
                                              "8",
                                              "9",
                                              "65536",
                                              "2147483647",
                                              "-2147483648",
                                              "4294967296",
                                              "1e308",
                                              "1048576",
                                              "16777216",
                                              "?",
                                              "281474976710656",
                                              "9223372036854775807",
                                              "-9223372036854775808",
                                              "4611686018427387904"};
    return numbers[random_() % std::size(numbers)];
  }

  std::string other_word(const std::string& text) {
    static constexpr const char* words[] = {"f64", "f32",  "f16",  "bf16",  "i8",    "u8", "i32",
                                            "i64", "bool", "true", "false", "state", "do"};
    switch (random_() % 4) {
      case 0:
        return words[random_() % std::size(words)];
      case 1: {
        const auto ops = ops::all_ops();
        return std::string(ops[random_() % ops.size()]->name);
      }
      default: {
        const auto [start, length] = pick(text);
        return text.substr(start, length);
      }
    }
  }

  std::mt19937 random_;
};

}  // namespace keratin::fuzz

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  return keratin::fuzz::Mutator(seed).run(data, size, max_size);
}
