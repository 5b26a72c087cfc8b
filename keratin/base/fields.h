#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace keratin {

// A struct lists its members once, as
//   static constexpr auto fields = std::tuple{field("axis", &AxisAttrs::axis)};
// and printing, parsing, equality, hashing and copying of it derive from that list.
template <class Struct, class Member>
struct Field {
  std::string_view name;
  Member Struct::*member;
};

template <class Struct, class Member>
constexpr Field<Struct, Member> field(std::string_view name, Member Struct::*member) {
  return {name, member};
}

template <class T>
concept HasFields = requires {
  T::fields;
};

// Calls visit(name, member) for each field in the listed order.
template <HasFields T, class Visitor>
void for_each_field(T& object, Visitor&& visit) {
  std::apply([&](const auto&... f) { (visit(f.name, object.*(f.member)), ...); },
             std::remove_const_t<T>::fields);
}

template <HasFields T>
bool equal_fields(const T& a, const T& b);

// Equality of members: that of bits for numbers, so that NaN is itself and -0 is not 0.
template <class T>
bool same_member(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
  } else if constexpr (HasFields<T>) {
    return equal_fields(a, b);
  } else {
    return a == b;
  }
}
template <class T>
bool same_member(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const T& x, const T& y) { return same_member(x, y); });
}

template <HasFields T>
bool equal_fields(const T& a, const T& b) {
  return std::apply(
      [&](const auto&... f) { return (same_member(a.*(f.member), b.*(f.member)) && ...); },
      T::fields);
}

}  // namespace keratin

#pragma GCC visibility pop
