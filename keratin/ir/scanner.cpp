#include "keratin/ir/scanner.h"
#include "keratin/base/text.h"
#include "keratin/tensor/elements.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace keratin {

namespace {

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

bool is_number_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' || c == '-' || c == '.';
}

}  // namespace

void Scanner::skip_space() {
  while (position_ < text_.size()) {
    if (std::isspace(static_cast<unsigned char>(text_[position_])) != 0) {
      ++position_;
    } else if (text_.substr(position_).starts_with("//")) {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else {
      return;
    }
  }
}

bool Scanner::at_end() {
  skip_space();
  return position_ == text_.size();
}

bool Scanner::peek(std::string_view symbol) {
  skip_space();
  return text_.substr(position_).starts_with(symbol);
}

bool Scanner::accept(std::string_view symbol) {
  if (!peek(symbol)) return false;
  position_ += symbol.size();
  return true;
}

void Scanner::expect(std::string_view symbol) {
  if (!accept(symbol)) fail(keratin::text("'", symbol, "'"));
}

std::string_view Scanner::word() {
  skip_space();
  const size_t start = position_;
  while (position_ < text_.size() && is_word_character(text_[position_])) ++position_;
  if (position_ == start) fail("a name");
  return text_.substr(start, position_ - start);
}

bool Scanner::accept_word(std::string_view keyword) {
  skip_space();
  const std::string_view rest = text_.substr(position_);
  if (!rest.starts_with(keyword)) return false;
  if (rest.size() > keyword.size() && is_word_character(rest[keyword.size()])) return false;
  position_ += keyword.size();
  return true;
}

std::string_view Scanner::number() {
  skip_space();
  const size_t start = position_;
  while (position_ < text_.size() && is_number_character(text_[position_])) ++position_;
  return text_.substr(start, position_ - start);
}

int64_t Scanner::integer() {
  const std::string_view digits = number();
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    position_ -= digits.size();
    fail("an integer");
  }
  return value;
}

double Scanner::real() { return floating<double>(); }

template <class T>
T Scanner::element() {
  const size_t start = position_;
  const int64_t value = integer();
  if (value != static_cast<T>(value)) {
    position_ = start;
    fail(keratin::text("a number that fits ", dtype_of<T>()));
  }
  return static_cast<T>(value);
}

// Parsed in its own precision, since parsing a double first could round twice.
template <class T>
T Scanner::floating() {
  const std::string_view digits = number();
  T value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    position_ -= digits.size();
    fail("a number");
  }
  return value;
}

std::string Scanner::string() {
  expect("\"");
  std::string value;
  while (position_ < text_.size() && text_[position_] != '"') {
    if (text_[position_] == '\\' && position_ + 1 < text_.size()) ++position_;
    value += text_[position_++];
  }
  if (position_ == text_.size()) fail("a closing '\"'");
  ++position_;
  return value;
}

std::string Scanner::name() {
  if (!peek("\"")) return std::string(word());
  std::string quoted = string();
  return is_plain_name(quoted) ? quoted : '"' + quoted;
}

bool is_plain_name(std::string_view name) {
  return std::all_of(name.begin(), name.end(), is_word_character) &&
         name.find_first_not_of("0123456789") != std::string_view::npos;
}

Type Scanner::type() {
  Type result;
  const std::string_view dtype_name = word();
  const auto dtype = parse_dtype(dtype_name);
  if (!dtype) {
    position_ -= dtype_name.size();
    fail("a dtype (f64 f32 f16 bf16 i8 u8 i32 i64 bool string)");
  }
  result.dtype = *dtype;
  expect("[");
  Dims dims;
  if (!accept("]")) {
    do {
      if (accept("?")) {
        dims.push_back(unknown);
      } else {
        dims.push_back(integer());
        if (dims.back() < 0) fail("a size that is not negative");
      }
    } while (accept(","));
    expect("]");
  }
  if (dims.size() > max_rank) fail(keratin::text("at most ", max_rank, " dimensions"));
  result.shape = Shape(dims);
  if (accept("@")) parse_value(*this, result.device);
  return result;
}

Tensor Scanner::tensor() {
  const Type head = type();
  if (!head.shape.known() || head.device != Device{}) fail("the known shape of a constant");
  expect("{");
  // Each element takes at least one character, which bounds the allocation for a huge shape.
  const int64_t count = at_line([&] { return head.shape.count(); });
  if (count > static_cast<int64_t>(text_.size())) fail("as many elements as the shape");
  if (head.dtype == DType::string) return strings(head.shape);
  Tensor result(head.dtype, head.shape);
  for (int64_t i = 0; i < count; ++i) {
    if (i > 0) expect(",");
    dispatch(head.dtype, [&](auto tag) {
      using S = typename decltype(tag)::type;
      auto& element = static_cast<S*>(result.raw())[i];
      if constexpr (std::is_same_v<S, bool>) {
        parse_value(*this, element);
      } else if constexpr (std::is_integral_v<S>) {
        element = this->element<S>();
      } else {
        element = static_cast<S>(floating<compute_t<S>>());
      }
    });
  }
  expect("}");
  return result;
}

Tensor Scanner::strings(const Shape& shape) {
  std::vector<std::string> values;
  for (int64_t i = 0; i < shape.count(); ++i) {
    if (i > 0) expect(",");
    values.push_back(string());
  }
  expect("}");
  return {values, shape};
}

void Scanner::fail(std::string_view expected) {
  std::string_view rest = text_.substr(position_, 24);
  rest = rest.substr(0, rest.find('\n'));
  keratin::fail("ir text, line ", line(), ": expected ", expected, ", got ",
                rest.empty() ? std::string("the end") : keratin::text("'", rest, "'"));
}

// The line of the last token; the position may be further because of lookahead.
int64_t Scanner::line() const {
  std::string_view before = text_.substr(0, position_);
  before = before.substr(0, before.find_last_not_of(" \t\r\n") + 1);
  return 1 + std::count(before.begin(), before.end(), '\n');
}

void print_value(std::ostream& out, bool value) { out << (value ? "true" : "false"); }
void print_value(std::ostream& out, int64_t value) { out << value; }
void print_value(std::ostream& out, DType value) { out << value; }
void print_value(std::ostream& out, Device value) { out << value; }
void print_value(std::ostream& out, const Tensor& value) { out << exact_text(value); }

void print_value(std::ostream& out, double value) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.begin(), digits.end(), value);
  out << std::string_view(digits.begin(), end.ptr);
}

void print_value(std::ostream& out, const std::string& value) {
  out << '"';
  for (char c : value) {
    if (c == '"' || c == '\\') out << '\\';
    out << c;
  }
  out << '"';
}

void parse_value(Scanner& in, bool& value) {
  if (in.accept_word("true")) {
    value = true;
  } else if (in.accept_word("false")) {
    value = false;
  } else {
    in.fail("true or false");
  }
}

void parse_value(Scanner& in, int64_t& value) { value = in.integer(); }
void parse_value(Scanner& in, double& value) { value = in.real(); }
void parse_value(Scanner& in, std::string& value) { value = in.string(); }
void parse_value(Scanner& in, Tensor& value) { value = in.tensor(); }

void parse_value(Scanner& in, DType& value) {
  const auto dtype = parse_dtype(in.word());
  if (!dtype) in.fail("a dtype before this");
  value = *dtype;
}

void parse_value(Scanner& in, Device& value) {
  std::string name(in.word());
  if (in.accept(":")) name += keratin::text(":", in.word());
  const auto device = parse_device(name);
  if (!device) in.fail("a device (cpu:0, gpu:0) before this");
  value = *device;
}

}  // namespace keratin
