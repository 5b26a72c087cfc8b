#pragma once

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace keratin {

// A struct lists its members once, as
//   static constexpr auto fields = field_list(field("axis", &AxisAttrs::axis));
// and printing, parsing, equality, hashing and copying of it derive from that list. A list that
// forgets a member does not compile where it is used.

// When a field is written to a file: always, where its value is not the default, or never. A field
// is read wherever a file has it.
enum class Written : uint8_t { always, if_changed, never };

template <class Struct, class Member, Written when = Written::always>
struct Field {
  static constexpr Written written = when;
  std::string_view name;
  Member Struct::*member;
};

template <Written written = Written::always, class Struct, class Member>
constexpr Field<Struct, Member, written> field(std::string_view name, Member Struct::*member) {
  return {name, member};
}

// A member that stays out of everything that derives from the list.
template <class Struct, class Member>
struct UnlistedField {
  Member Struct::*member;
};

template <class Struct, class Member>
constexpr UnlistedField<Struct, Member> unlisted(Member Struct::*member) {
  return {member};
}

// Fields that several structs have, as one entry of their lists:
//   template <class C>
//   struct BiasFields {
//     static constexpr auto fields = field_list(field("use_bias", &C::use_bias), …);
//   };
//   static constexpr auto fields = field_list(field("units", &DenseConfig::units),
//                                             fields_of<BiasFields>());
template <template <class> class List>
struct SharedFields {};

template <template <class> class List>
constexpr SharedFields<List> fields_of() {
  return {};
}

// The list, to be called with a function that takes all entries. It is one class whatever its
// length; a std::tuple of as many members takes a compiler fifty times as long, in every file that
// sees it.
template <class... Entries>
constexpr auto field_list(Entries... entries) {
  return [=](auto&& take) { return take(entries...); };
}

template <class T>
concept HasFields = requires {
  T::fields;
};

namespace detail {

template <class List, class Struct, class Visitor>
constexpr void visit_entries(Visitor& visit);

template <class Struct, class Entry, class Visitor>
constexpr void visit_entry(const Entry& entry, Visitor& visit) {
  visit(entry);
}
template <class Struct, template <class> class List, class Visitor>
constexpr void visit_entry(const SharedFields<List>&, Visitor& visit) {
  visit_entries<List<Struct>, Struct>(visit);
}

// Calls visit(entry) for each field, listed or not, of the list itself and of shared ones.
template <class List, class Struct, class Visitor>
constexpr void visit_entries(Visitor& visit) {
  List::fields([&](const auto&... entries) { (visit_entry<Struct>(entries, visit), ...); });
}

// How many initializers a member takes: one, or one for each element of an array.
template <class Member>
consteval size_t count_initializers() {
  if constexpr (std::is_array_v<Member>)
    return std::extent_v<Member> * count_initializers<std::remove_extent_t<Member>>();
  else
    return 1;
}

// Counts the initializers of all members that a list names.
struct InitializerCounter {
  size_t count = 0;
  template <class Struct, class Member, Written written>
  constexpr void operator()(const Field<Struct, Member, written>&) {
    count += count_initializers<Member>();
  }
  template <class Struct, class Member>
  constexpr void operator()(const UnlistedField<Struct, Member>&) {
    count += count_initializers<Member>();
  }
};

// Stands for the initializer of any member.
template <size_t>
struct Anything {
  template <class T>
  operator T() const&& {  // NOLINT(google-explicit-constructor)
    std::abort();
  }
};
template <class T, size_t... index>
consteval bool takes_initializers(std::index_sequence<index...>) {
  return requires { T{Anything<index>{}...}; };
}

// True if the list names every member, of an aggregate without base classes: it takes as many
// initializers as the list has members, and no more.
template <HasFields T>
consteval bool lists_every_member() {
  constexpr size_t count = [] {
    InitializerCounter counter;
    visit_entries<T, T>(counter);
    return counter.count;
  }();
  return takes_initializers<T>(std::make_index_sequence<count>()) &&
         !takes_initializers<T>(std::make_index_sequence<count + 1>());
}

// Calls visit(field) for each listed field in order.
template <HasFields T, class Visitor>
constexpr void for_each_listed(Visitor&& visit) {
  static_assert(lists_every_member<T>(),
                "the field list forgets a member; name it in field() or in unlisted()");
  const auto listed = [&]<class Entry>(const Entry& entry) {
    if constexpr (requires { entry.name; }) visit(entry);
  };
  visit_entries<T, T>(listed);
}

// Calls visit(name, member) for each listed field in order.
template <class T, class Visitor>
requires HasFields<std::remove_const_t<T>>
void for_each_field(T& object, Visitor&& visit) {
  for_each_listed<std::remove_const_t<T>>(
      [&](const auto& field) { visit(field.name, object.*(field.member)); });
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
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!same_member<T>(a[i], b[i])) return false;
  return true;
}

template <HasFields T>
bool equal_fields(const T& a, const T& b) {
  bool equal = true;
  for_each_listed<T>([&](const auto& field) {
    equal = equal && same_member(a.*(field.member), b.*(field.member));
  });
  return equal;
}

}  // namespace detail
}  // namespace keratin
