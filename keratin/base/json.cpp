#include "keratin/base/json.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <limits>
#include <ostream>
#include <variant>

#include "keratin/base/text.h"

namespace keratin {
namespace {

std::string_view kind_of(const Json& json) {
  if (json.is_null()) return "null";
  if (json.is_bool()) return "a boolean";
  if (json.is_number()) return "a number";
  if (json.is_string()) return "a string";
  return json.is_array() ? "an array" : "an object";
}

[[noreturn]] void wrong_kind(std::string_view wanted, const Json& json) {
  std::string shown = json.dump();
  if (shown.size() > 60) shown = shown.substr(0, 57) + "...";
  fail("JSON: expected ", wanted, ", got ", kind_of(json), ": ", shown);
}

void write_string(std::string& out, std::string_view s) {
  static constexpr char hex[] = "0123456789abcdef";
  out += '"';
  for (const char c : s) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += "\\u00";
          out += hex[c >> 4];
          out += hex[c & 15];
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

// The shortest digits that read back, laid out as Python does: 0.001, 1e-05, 1.0, 1e+16.
void write_double(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "NaN";
    return;
  }
  if (std::isinf(value)) {
    out += value < 0 ? "-Infinity" : "Infinity";
    return;
  }
  char digits[64];
  const double magnitude = std::fabs(value);
  const bool plain = magnitude == 0 || (magnitude >= 1e-4 && magnitude < 1e16);
  const auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
  const auto end = std::to_chars(digits, digits + sizeof digits, value, format).ptr;
  const std::string_view written(digits, static_cast<size_t>(end - digits));
  out += written;
  if (plain && written.find('.') == std::string_view::npos) out += ".0";
}

class Writer {
 public:
  Writer(std::string& out, int indent) : out_(out), indent_(indent) {}

  void write(const Json& json) {
    if (json.is_null())
      out_ += "null";
    else if (json.is_bool())
      out_ += json.as_bool() ? "true" : "false";
    else if (json.is_int())
      out_ += std::to_string(json.as_int());
    else if (json.is_number())
      write_double(out_, json.as_double());
    else if (json.is_string())
      write_string(out_, json.as_string());
    else if (json.is_array())
      write_all(json.as_array(), '[', ']', [&](const Json& value) { write(value); });
    else
      write_all(json.as_object(), '{', '}', [&](const auto& member) {
        write_string(out_, member.first);
        out_ += ": ";
        write(member.second);
      });
  }

 private:
  template <class Items, class Write>
  void write_all(const Items& items, char open, char close, Write&& write_one) {
    out_ += open;
    ++depth_;
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out_ += indent_ < 0 ? ", " : ",";
      new_line();
      write_one(items[i]);
    }
    --depth_;
    if (!items.empty()) new_line();
    out_ += close;
  }

  void new_line() {
    if (indent_ >= 0)
      out_.append(1, '\n').append(static_cast<size_t>(indent_) * static_cast<size_t>(depth_), ' ');
  }

  std::string& out_;
  int indent_;
  int depth_ = 0;
};

class Reader {
 public:
  Reader(std::string_view text, Json::Limits limits) : text_(text), limits_(limits) {}

  Json whole() {
    Json json = value(0);
    skip_space();
    check(at_ == text_.size(), "nothing more");
    return json;
  }

 private:
  void check(bool fine, std::string_view wanted) const {
    if (fine) return;
    fail("JSON: expected ", wanted, " at byte ", at_, ", got ", what_is_here());
  }

  std::string what_is_here() const {
    if (at_ == text_.size()) return "the end";
    const auto byte = static_cast<unsigned char>(text_[at_]);
    if (byte < 0x20 || byte >= 0x7f) return text("the byte ", int{byte});
    return text("'", text_[at_], "'");
  }

  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
  }

  bool eat(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  Json value(size_t depth) {
    skip_space();
    // The messages are made only when needed: this runs for every value.
    if (depth >= limits_.depth) check(false, text("at most ", limits_.depth, " levels of nesting"));
    if (++values_ > limits_.values) check(false, text("at most ", limits_.values, " values"));
    check(at_ < text_.size(), "a value");
    switch (text_[at_]) {
      case '{':
        return object(depth);
      case '[':
        return array(depth);
      case '"':
        return string();
      default:
        return word();
    }
  }

  Json word() {
    if (eat("null")) return nullptr;
    if (eat("true")) return true;
    if (eat("false")) return false;
    if (eat("NaN")) return std::numeric_limits<double>::quiet_NaN();
    if (eat("Infinity")) return std::numeric_limits<double>::infinity();
    if (eat("-Infinity")) return -std::numeric_limits<double>::infinity();
    return number();
  }

  Json number() {
    const char* first = text_.data() + at_;
    const char* last = text_.data() + text_.size();
    const char* digit = first + (*first == '-' ? 1 : 0);
    check(digit != last && *digit >= '0' && *digit <= '9', "a value");
    check(*digit != '0' || digit + 1 == last || digit[1] < '0' || digit[1] > '9',
          "a number without leading zeros");
    int64_t integer = 0;
    const auto whole = std::from_chars(first, last, integer);
    const bool fraction =
        whole.ptr != last && (*whole.ptr == '.' || *whole.ptr == 'e' || *whole.ptr == 'E');
    if (whole.ec == std::errc() && !fraction) {
      at_ += static_cast<size_t>(whole.ptr - first);
      return integer;
    }
    double real = 0;
    const auto all = std::from_chars(first, last, real);
    check(all.ec == std::errc() && all.ptr[-1] != '.', "a number that fits");
    at_ += static_cast<size_t>(all.ptr - first);
    return real;
  }

  Json array(size_t depth) {
    Json::Array values;
    ++at_;
    skip_space();
    if (eat("]")) return values;
    while (true) {
      values.push_back(value(depth + 1));
      skip_space();
      if (eat("]")) return values;
      check(eat(","), "',' or ']'");
    }
  }

  Json object(size_t depth) {
    Json::Object members;
    ++at_;
    skip_space();
    if (eat("}")) return members;
    while (true) {
      skip_space();
      check(at_ < text_.size() && text_[at_] == '"', "a key");
      std::string key = string();
      skip_space();
      check(eat(":"), "':'");
      members.emplace_back(std::move(key), value(depth + 1));
      skip_space();
      if (eat("}")) break;
      check(eat(","), "',' or '}'");
    }
    refuse_repeated_keys(members);
    return members;
  }

  void refuse_repeated_keys(const Json::Object& members) const {
    std::vector<std::string_view> keys;
    for (const auto& member : members) keys.push_back(member.first);
    std::sort(keys.begin(), keys.end());
    const auto repeated = std::adjacent_find(keys.begin(), keys.end());
    if (repeated != keys.end())
      fail("JSON: the object that ends at byte ", at_, " has the key \"", *repeated, "\" twice");
  }

  std::string string() {
    std::string out;
    ++at_;
    while (true) {
      check(at_ < text_.size(), "the end of a string");
      const char c = text_[at_];
      check(static_cast<unsigned char>(c) >= 0x20, "no control character in a string");
      ++at_;
      if (c == '"') return out;
      if (c == '\\')
        escape(out);
      else
        out += c;
    }
  }

  void escape(std::string& out) {
    check(at_ < text_.size(), "an escape");
    static constexpr std::string_view from = "\"\\/bfnrt", to = "\"\\/\b\f\n\r\t";
    const char c = text_[at_];
    if (const size_t i = from.find(c); i != from.npos) {
      out += to[i];
      ++at_;
      return;
    }
    check(c == 'u', "an escape");
    ++at_;
    uint32_t code = four_digits();
    if (code >= 0xd800 && code < 0xdc00) {
      check(eat("\\u"), "the second half of a surrogate pair");
      const uint32_t low = four_digits();
      check(low >= 0xdc00 && low < 0xe000, "the second half of a surrogate pair");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    check(code < 0xdc00 || code >= 0xe000, "the first half of a surrogate pair");
    write_utf8(out, code);
  }

  uint32_t four_digits() {
    check(at_ + 4 <= text_.size(), "four hexadecimal digits");
    uint32_t code = 0;
    const char* first = text_.data() + at_;
    check(std::from_chars(first, first + 4, code, 16).ptr == first + 4, "four hexadecimal digits");
    at_ += 4;
    return code;
  }

  static void write_utf8(std::string& out, uint32_t code) {
    const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
    if (code < 0x80) {
      out += static_cast<char>(code);
    } else if (code < 0x800) {
      out += static_cast<char>(0xc0 | (code >> 6));
      tail(0);
    } else if (code < 0x10000) {
      out += static_cast<char>(0xe0 | (code >> 12));
      tail(6);
      tail(0);
    } else {
      out += static_cast<char>(0xf0 | (code >> 18));
      tail(12);
      tail(6);
      tail(0);
    }
  }

  std::string_view text_;
  Json::Limits limits_;
  size_t at_ = 0;
  size_t values_ = 0;
};

}  // namespace

// Every value but null.
// Copies of a Json share its data until one of them changes: configs are copied often. Data from
// which a reference to a member was given is shared no more, for its owner may change it later.
struct Json::Data {
  using Value = std::variant<bool, int64_t, double, std::string, Array, Object>;
  explicit Data(Value v) : value(std::move(v)) {}

  template <class T>
  static bool holds(const Data* data) {
    return data != nullptr && std::holds_alternative<T>(data->value);
  }
  template <class T>
  T& get() {
    return std::get<T>(value);
  }

  Value value;
  std::atomic<size_t> owners = 1;
  bool shared = true;
};

Json::Json(bool value) : data_(new Data(value)) {}
Json::Json(int64_t value) : data_(new Data(value)) {}
Json::Json(double value) : data_(new Data(value)) {}
Json::Json(std::string value) : data_(new Data(std::move(value))) {}
Json::Json(std::string_view value) : data_(new Data(std::string(value))) {}
Json::Json(Array values) : data_(new Data(std::move(values))) {}
Json::Json(Object members) : data_(new Data(std::move(members))) {}

Json::Data* Json::copy() const {
  if (!data_->shared) return new Data(data_->value);
  data_->owners.fetch_add(1, std::memory_order_relaxed);
  return data_;
}
void Json::destroy() noexcept {
  if (data_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete data_;
}
Json::Data& Json::own() {
  if (data_->owners.load(std::memory_order_acquire) > 1) *this = Json(new Data(data_->value));
  return *data_;
}

bool Json::is_bool() const { return Data::holds<bool>(data_); }
bool Json::is_int() const { return Data::holds<int64_t>(data_); }
bool Json::is_number() const { return is_int() || Data::holds<double>(data_); }
bool Json::is_string() const { return Data::holds<std::string>(data_); }
bool Json::is_array() const { return Data::holds<Array>(data_); }
bool Json::is_object() const { return Data::holds<Object>(data_); }

bool Json::as_bool() const {
  if (!is_bool()) wrong_kind("a boolean", *this);
  return data_->get<bool>();
}

int64_t Json::as_int() const {
  if (is_int()) return data_->get<int64_t>();
  if (is_number()) {
    const double value = data_->get<double>();
    if (value == std::floor(value) && std::fabs(value) < 0x1p53) return static_cast<int64_t>(value);
  }
  wrong_kind("an integer", *this);
}

double Json::as_double() const {
  if (!is_number()) wrong_kind("a number", *this);
  return is_int() ? static_cast<double>(data_->get<int64_t>()) : data_->get<double>();
}

const std::string& Json::as_string() const& {
  if (!is_string()) wrong_kind("a string", *this);
  return data_->get<std::string>();
}

const Json::Array& Json::as_array() const& {
  if (!is_array()) wrong_kind("an array", *this);
  return data_->get<Array>();
}

const Json::Object& Json::as_object() const& {
  if (!is_object()) wrong_kind("an object", *this);
  return data_->get<Object>();
}

size_t Json::size() const { return is_object() ? as_object().size() : as_array().size(); }

void Json::push_back(Json value) {
  if (is_null()) *this = Array{};
  as_array();
  own().get<Array>().push_back(std::move(value));
}

const Json* Json::find(std::string_view key) const {
  if (!is_object()) return nullptr;
  for (const auto& [name, value] : data_->get<Object>())
    if (name == key) return &value;
  return nullptr;
}

const Json& Json::at(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr) wrong_kind(text("an object with the key \"", key, "\""), *this);
  return *value;
}

Json& Json::operator[](std::string_view key) {
  if (is_null()) *this = Object{};
  as_object();
  Data& data = own();
  data.shared = false;
  auto& members = data.get<Object>();
  for (auto& [name, value] : members)
    if (name == key) return value;
  return members.emplace_back(std::string(key), Json()).second;
}

bool Json::operator==(const Json& other) const {
  if (is_number() && other.is_number())
    return is_int() && other.is_int() ? as_int() == other.as_int()
                                      : as_double() == other.as_double();
  if (is_null() || other.is_null()) return is_null() == other.is_null();
  if (!is_object() || !other.is_object()) return data_->value == other.data_->value;
  if (size() != other.size()) return false;
  return std::all_of(as_object().begin(), as_object().end(), [&](const auto& member) {
    const Json* value = other.find(member.first);
    return value != nullptr && *value == member.second;
  });
}

std::string Json::dump(int indent) const {
  std::string out;
  Writer(out, indent).write(*this);
  return out;
}

Json Json::parse(std::string_view text, Limits limits) { return Reader(text, limits).whole(); }

std::ostream& operator<<(std::ostream& out, const Json& json) { return out << json.dump(); }

}  // namespace keratin
