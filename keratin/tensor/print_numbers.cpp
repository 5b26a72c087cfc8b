#include "keratin/tensor/print_numbers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "keratin/base/text.h"
#include "keratin/tensor/elements.h"

// What NumPy's arrayprint.py does with its default options.
namespace keratin {
namespace {

constexpr int precision = 8;  // digits behind the point

size_t at(int64_t position) { return static_cast<size_t>(position); }

// A character of Python's bytes: itself, or an escape.
std::string escaped(char c, char quote) {
  switch (c) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      break;
  }
  if (c == quote || c == '\\') return {'\\', c};
  if (c >= ' ' && c <= '~') return {c};
  constexpr std::string_view digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  return {'\\', 'x', digits[byte / 16], digits[byte % 16]};
}

// As Python writes bytes: b'it', b"it's".
std::string bytes_text(std::string_view characters) {
  const bool has_single = characters.find('\'') != std::string_view::npos;
  const bool has_double = characters.find('"') != std::string_view::npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  std::string out = {'b', quote};
  for (const char c : characters) out += escaped(c, quote);
  return out + quote;
}

// As the text form of programs writes strings.
std::string quoted(std::string_view characters) {
  std::string out = "\"";
  for (const char c : characters) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string padded_left(const std::string& s, size_t width) {
  return s.size() < width ? std::string(width - s.size(), ' ') + s : s;
}

template <class T>
std::string digits_of(T value, std::chars_format format) {
  std::array<char, 512> out;
  return {out.data(), std::to_chars(out.begin(), out.end(), value, format).ptr};
}
template <class T>
std::string digits_of(T value, std::chars_format format, int digits) {
  std::array<char, 512> out;
  return {out.data(), std::to_chars(out.begin(), out.end(), value, format, digits).ptr};
}

// The shortest digits that give the same element when read back, as d.ddde±xx.
template <class S>
std::string shortest_scientific(S element) {
  const auto value = static_cast<compute_t<S>>(element);
  if constexpr (std::is_same_v<S, compute_t<S>>) {
    return digits_of(value, std::chars_format::scientific);
  } else {  // 16 bits: fewer digits than a float needs
    for (int digits = 0;; ++digits) {
      const std::string out = digits_of(value, std::chars_format::scientific, digits);
      float back = 0;
      std::from_chars(out.data(), out.data() + out.size(), back);
      if (digits == 9 || S(back).bits == element.bits) return out;
    }
  }
}

// A decimal number: ±digits · 10^(exponent - digits.size() + 1).
struct Decimal {
  bool negative = false;
  std::string digits;
  int exponent = 0;
};
template <class S>
Decimal shortest(S element) {
  const std::string s = shortest_scientific(element);
  Decimal d;
  d.negative = s[0] == '-';
  const size_t e = s.find('e');
  for (size_t i = d.negative ? 1 : 0; i < e; ++i)
    if (s[i] != '.') d.digits += s[i];
  while (d.digits.size() > 1 && d.digits.back() == '0') d.digits.pop_back();
  d.exponent = std::stoi(s.substr(e + 1));
  return d;
}

// Without an exponent, "-12.5" or "3.", with at most `max_digits` digits behind the point.
template <class S>
std::string positional(S element, int max_digits) {
  const Decimal d = shortest(element);
  const auto count = static_cast<int>(d.digits.size());
  if (count - 1 - d.exponent > max_digits) {
    std::string out =
        digits_of(static_cast<compute_t<S>>(element), std::chars_format::fixed, max_digits);
    while (out.back() == '0') out.pop_back();
    return out;
  }
  std::string whole =
      d.exponent < 0 ? "0" : d.digits.substr(0, static_cast<size_t>(d.exponent) + 1);
  if (d.exponent >= count) whole += std::string(static_cast<size_t>(d.exponent + 1 - count), '0');
  std::string behind =
      d.exponent < 0           ? std::string(static_cast<size_t>(-d.exponent - 1), '0') + d.digits
      : d.exponent + 1 < count ? d.digits.substr(static_cast<size_t>(d.exponent) + 1)
                               : "";
  if (d.digits == "0") behind.clear();
  return (d.negative ? "-" : "") + whole + "." + behind;
}

// With an exponent: what is before the point, at most `max_digits` digits behind it, and the
// exponent.
struct Scientific {
  std::string whole, behind, exponent;
};
template <class S>
Scientific scientific(S element, int max_digits) {
  std::string s = shortest_scientific(element);
  const size_t behind = s.find('e') - std::min(s.find('.'), s.find('e'));
  if (static_cast<int>(behind) - 1 > max_digits)
    s = digits_of(static_cast<compute_t<S>>(element), std::chars_format::scientific, max_digits);
  const size_t e = s.find('e'), point = std::min(s.find('.'), e);
  Scientific out{s.substr(0, point), point == e ? "" : s.substr(point + 1, e - point - 1),
                 s.substr(e + 1)};
  while (!out.behind.empty() && out.behind.back() == '0') out.behind.pop_back();
  return out;
}

// The same with that many digits of the exact value, also where fewer would tell it apart.
template <class S>
Scientific exact(S element, int digits) {
  const std::string s =
      digits_of(static_cast<compute_t<S>>(element), std::chars_format::scientific, digits);
  const size_t e = s.find('e'), point = s.find('.');
  return {s.substr(0, point), s.substr(point + 1, e - point - 1), s.substr(e + 1)};
}

// Numbers from here on have exponents: ten to the digits that every number of the type has.
template <class S>
constexpr double exponents_from() {
  if (std::is_same_v<S, Half>) return 1e3;
  return std::is_same_v<S, float> ? 1e6 : 1e8;
}

std::string not_finite(double value) {
  if (std::isnan(value)) return "nan";
  return value < 0 ? "-inf" : "inf";
}

template <class S>
class FloatFormat {
 public:
  FloatFormat(const S* elements, const std::vector<int64_t>& positions) : elements_(elements) {
    bool any_finite = false;
    choose(positions);
    for (const int64_t i : positions) {
      if (!std::isfinite(number(i))) continue;
      any_finite = true;
      measure(i);
    }
    if (any_finite && exponents_) right_ = exponent_ + 2 + behind_;
    if (any_finite && !exponents_) right_ = behind_;
    for (const int64_t i : positions) {
      const double value = number(i);
      if (std::isfinite(value)) continue;
      const size_t width = not_finite(value).size(), taken = right_ + 1;
      if (width > taken) left_ = std::max(left_, width - taken);
    }
  }

  std::string operator()(int64_t i) const {
    const double value = number(i);
    if (!std::isfinite(value)) return padded_left(not_finite(value), left_ + right_ + 1);
    if (!exponents_) {
      const std::string s = positional(elements_[i], precision);
      const size_t point = s.find('.');
      return padded_left(s.substr(0, point), left_) + s.substr(point) +
             std::string(right_ - (s.size() - point - 1), ' ');
    }
    Scientific s = scientific(elements_[i], static_cast<int>(behind_));
    if (s.behind.size() < behind_) s = exact(elements_[i], static_cast<int>(behind_));
    std::string exponent = s.exponent.substr(1);
    exponent = std::string(exponent_ - std::min(exponent_, exponent.size()), '0') + exponent;
    return padded_left(s.whole, left_) + "." + s.behind + "e" + s.exponent[0] + exponent;
  }

 private:
  using C = compute_t<S>;
  C number(int64_t i) const { return static_cast<C>(elements_[i]); }

  // Exponents, where numbers are large or small or lie far apart.
  void choose(const std::vector<int64_t>& positions) {
    C largest = 0, smallest = 0;
    for (const int64_t i : positions) {
      const C size = std::fabs(number(i));
      if (!std::isfinite(size) || size == 0) continue;
      largest = std::max(largest, size);
      smallest = smallest == 0 ? size : std::min(smallest, size);
    }
    if (largest == 0) return;
    const C small = static_cast<C>(S(static_cast<C>(0.0001)));
    const C apart = static_cast<C>(S(largest / smallest));
    exponents_ = largest >= C(exponents_from<S>()) || smallest < small || apart > C(1000);
  }
  void measure(int64_t i) {
    if (exponents_) {
      const Scientific s = scientific(elements_[i], precision);
      left_ = std::max(left_, s.whole.size());
      behind_ = std::max(behind_, s.behind.size());
      exponent_ = std::max(exponent_, s.exponent.size() - 1);
    } else {
      const std::string s = positional(elements_[i], precision);
      left_ = std::max(left_, s.find('.'));
      behind_ = std::max(behind_, s.size() - s.find('.') - 1);
    }
  }

  const S* elements_;
  bool exponents_ = false;
  size_t left_ = 0, right_ = 0;  // characters before and behind the point
  size_t behind_ = 0, exponent_ = 0;
};

}  // namespace

std::function<std::string(int64_t)> number_format(const Tensor& tensor,
                                                  const std::vector<int64_t>& positions) {
  if (tensor.dtype() == DType::string)
    return [&tensor](int64_t i) { return bytes_text(tensor.data<std::string_view>()[at(i)]); };
  return dispatch(tensor.dtype(), [&](auto tag) -> std::function<std::string(int64_t)> {
    using S = typename decltype(tag)::type;
    const auto* elements = static_cast<const S*>(tensor.raw());
    if constexpr (std::is_same_v<S, bool>) {
      return [elements](int64_t i) { return std::string(elements[i] ? " True" : "False"); };
    } else if constexpr (std::is_integral_v<S>) {
      size_t width = 0;
      for (const int64_t i : positions) width = std::max(width, std::to_string(elements[i]).size());
      return
          [elements, width](int64_t i) { return padded_left(std::to_string(elements[i]), width); };
    } else {
      return FloatFormat<S>(elements, positions);
    }
  });
}

std::string scalar_text(const Tensor& tensor, int64_t position) {
  if (tensor.dtype() == DType::string)
    return bytes_text(tensor.data<std::string_view>()[at(position)]);
  return dispatch(tensor.dtype(), [&](auto tag) -> std::string {
    using S = typename decltype(tag)::type;
    const S element = static_cast<const S*>(tensor.raw())[position];
    if constexpr (std::is_same_v<S, bool>) {
      return element ? "True" : "False";
    } else if constexpr (std::is_integral_v<S>) {
      return std::to_string(element);
    } else {
      const auto value = static_cast<compute_t<S>>(element);
      if (!std::isfinite(value)) return not_finite(value);
      const auto size = std::fabs(value);
      if (size == 0 || (size >= compute_t<S>(1e-4) && size < compute_t<S>(1e16))) {
        const std::string s = positional(element, 400);
        return s.back() == '.' ? s + "0" : s;
      }
      const Scientific s = scientific(element, 400);
      return s.whole + (s.behind.empty() ? "" : "." + s.behind) + "e" + s.exponent;
    }
  });
}

std::string exact_number(const Tensor& tensor, int64_t position) {
  if (tensor.dtype() == DType::string) return quoted(tensor.data<std::string_view>()[at(position)]);
  return dispatch(tensor.dtype(), [&](auto tag) -> std::string {
    using S = typename decltype(tag)::type;
    const S element = static_cast<const S*>(tensor.raw())[position];
    if constexpr (std::is_same_v<S, bool>) {
      return element ? "true" : "false";
    } else {
      std::array<char, 32> out;
      const auto value = static_cast<compute_t<S>>(element);
      return {out.data(), std::to_chars(out.begin(), out.end(), value).ptr};
    }
  });
}

}  // namespace keratin
