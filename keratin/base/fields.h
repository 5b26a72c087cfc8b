#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace keratin {

// A struct lists its members once, as
//   static constexpr auto fields = field_list(field("axis", &AxisAttrs::axis));
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

// The list, to be called with a function that takes all fields. It is one class whatever its
// length; a std::tuple of as many members takes a compiler fifty times as long, in every file that
// sees it.
template <class... Fields>
constexpr auto field_list(Fields... fields) {
  return [=](auto&& take) { return take(fields...); };
}

template <class T>
concept HasFields = requires {
  T::fields;
};

namespace detail {

// Calls visit(name, member) for each field in the listed order.
template <HasFields T, class Visitor>
void for_each_field(T& object, Visitor&& visit) {
  std::remove_const_t<T>::fields(
      [&](const auto&... f) { (visit(f.name, object.*(f.member)), ...); });
}

// Does the list name every member? For structs of plain members that have nothing to inherit; a
// static_assert beside a struct keeps a new member from being forgotten.
struct Anything {
  template <class T>
  operator T() const;  // NOLINT(google-explicit-constructor)
};
template <class T, class... Given>
consteval size_t count_members() {
  if constexpr (requires { T{Given{}..., Anything{}}; })
    return count_members<T, Given..., Anything>();
  else
    return sizeof...(Given);
}
template <HasFields T>
consteval bool lists_every_member() {
  return T::fields([](const auto&... f) { return sizeof...(f); }) == count_members<T>();
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
  return T::fields(
      [&](const auto&... f) { return (same_member(a.*(f.member), b.*(f.member)) && ...); });
}

}  // namespace detail
}  // namespace keratin
