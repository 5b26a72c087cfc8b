#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "keratin/base/export.h"
#include "keratin/ir/type.h"
#include "keratin/tensor/tensor.h"

namespace keratin {

// Reads ir text piece by piece. White space and `// comments` are skipped between pieces; every
// error is a UserError with the line and the text found there.
class KERATIN_API Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool at_end();
  bool peek(std::string_view symbol);    // true if it is next
  bool accept(std::string_view symbol);  // takes it if it is next
  void expect(std::string_view symbol);
  std::string_view word();  // letters, digits, '_' and '.', at least one
  bool accept_word(std::string_view keyword);

  int64_t integer();
  double real();
  std::string string();
  // The name after a '%': a word, or any text in quotes, which is returned with the first quote.
  std::string name();
  Type type();
  Tensor tensor();

  [[noreturn]] void fail(std::string_view expected);
  // Runs f, whose UserErrors then name the line, too.
  template <class F>
  decltype(auto) at_line(F&& f) {
    try {
      return f();
    } catch (const UserError& error) {
      detail::fail("ir text, line ", line(), ": ", error.what());
    }
  }

 private:
  int64_t line() const;
  template <class T>
  T element();  // of a tensor of integers
  template <class T>
  T floating();
  void skip_space();
  std::string_view number();
  Tensor strings(const Shape& shape);  // the elements of a constant

  std::string_view text_;
  size_t position_ = 0;
};

// True for words that need no quotes in a name. Numbers are reserved for unnamed values.
KERATIN_API bool is_plain_name(std::string_view name);

// Prints and parses an attribute value. parse_value reads back exactly what print_value wrote.
KERATIN_API void print_value(std::ostream& out, bool value);
KERATIN_API void print_value(std::ostream& out, int64_t value);
KERATIN_API void print_value(std::ostream& out, double value);
KERATIN_API void print_value(std::ostream& out, const std::string& value);
KERATIN_API void print_value(std::ostream& out, DType value);
KERATIN_API void print_value(std::ostream& out, Device value);
KERATIN_API void print_value(std::ostream& out, const Tensor& value);
template <class T>
void print_value(std::ostream& out, const std::vector<T>& values) {
  out << '[';
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out << ", ";
    print_value(out, static_cast<T>(values[i]));
  }
  out << ']';
}

KERATIN_API void parse_value(Scanner& in, bool& value);
KERATIN_API void parse_value(Scanner& in, int64_t& value);
KERATIN_API void parse_value(Scanner& in, double& value);
KERATIN_API void parse_value(Scanner& in, std::string& value);
KERATIN_API void parse_value(Scanner& in, DType& value);
KERATIN_API void parse_value(Scanner& in, Device& value);
KERATIN_API void parse_value(Scanner& in, Tensor& value);
template <class T>
void parse_value(Scanner& in, std::vector<T>& values) {
  values.clear();
  in.expect("[");
  if (in.accept("]")) return;
  do {
    T value{};
    parse_value(in, value);
    values.push_back(std::move(value));
  } while (in.accept(","));
  in.expect("]");
}

}  // namespace keratin
