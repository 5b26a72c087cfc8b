#pragma once

#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

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
bool equal_fields(const T& a, const T& b) {
  return std::apply([&](const auto&... f) { return ((a.*(f.member) == b.*(f.member)) && ...); },
                    T::fields);
}

}  // namespace keratin

#pragma GCC visibility pop
