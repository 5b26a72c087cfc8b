#pragma once

#include <algorithm>
#include <memory>
#include <ostream>

#include "keratin/base/error.h"
#include "keratin/base/export.h"
#include "keratin/base/fields.h"
#include "keratin/base/hash.h"
#include "keratin/ir/scanner.h"

namespace keratin {

// How an attribute struct prints, parses, compares and hashes; derived from its fields.
struct KERATIN_API AttrsType {
  void (*print)(std::ostream&, const void*);
  std::shared_ptr<const void> (*parse)(Scanner&);
  bool (*equal)(const void*, const void*);
  size_t (*hash)(const void*);
};

// Ops without attributes.
struct KERATIN_API NoAttrs {
  static constexpr auto fields = field_list();
};

namespace detail {

// {axis = 1, keepdims = true}; fields that have their default value are left out.
template <HasFields T>
void print_attrs(std::ostream& out, const void* object) {
  const T defaults{};
  bool first = true;
  for_each_listed<T>([&](const auto& field) {
    const auto& value = static_cast<const T*>(object)->*(field.member);
    if (same_member(value, defaults.*(field.member))) return;
    out << (first ? " {" : ", ") << field.name << " = ";
    print_value(out, value);
    first = false;
  });
  if (!first) out << '}';
}

template <HasFields T>
std::shared_ptr<const void> parse_attrs(Scanner& in) {
  auto object = std::make_shared<T>();
  if (!in.accept("{") || in.accept("}")) return object;
  std::vector<std::string_view> seen;
  do {
    const std::string_view name = in.word();
    if (std::find(seen.begin(), seen.end(), name) != seen.end())
      in.fail(detail::text("no attribute twice, '", name, "' is"));
    seen.push_back(name);
    in.expect("=");
    bool found = false;
    detail::for_each_field(*object, [&](std::string_view field_name, auto& value) {
      if (field_name != name) return;
      parse_value(in, value);
      found = true;
    });
    if (!found) in.fail(detail::text("the value of a known attribute, '", name, "' is none"));
  } while (in.accept(","));
  in.expect("}");
  return object;
}

}  // namespace detail

template <HasFields T>
KERATIN_API inline constexpr AttrsType attrs_type_of{
    .print = detail::print_attrs<T>,
    .parse = detail::parse_attrs<T>,
    .equal =
        [](const void* a, const void* b) {
          return detail::equal_fields(*static_cast<const T*>(a), *static_cast<const T*>(b));
        },
    .hash = [](const void* object) { return detail::hash_of(*static_cast<const T*>(object)); },
};

template <HasFields T>
constexpr const AttrsType* attrs_type() {
  return &attrs_type_of<T>;
}

// An immutable attribute struct of any kind, shared between nodes.
class KERATIN_API Attrs {
 public:
  Attrs() : Attrs(NoAttrs{}) {}
  template <HasFields T>
  Attrs(T object)  // NOLINT(google-explicit-constructor): emit(op, {x}, AxisAttrs{1})
      : type_(attrs_type<T>()), object_(store(std::move(object))) {}
  Attrs(const AttrsType* type, Scanner& in) : type_(type), object_(type->parse(in)) {}

  template <HasFields T>
  const T& get() const {
    detail::ensure(type_ == attrs_type<T>(), "Attrs: expected another struct than the stored one");
    return *static_cast<const T*>(object_.get());
  }
  const AttrsType* type() const { return type_; }
  bool operator==(const Attrs& other) const {
    return type_ == other.type_ &&
           (object_ == other.object_ || type_->equal(object_.get(), other.object_.get()));
  }
  size_t hash() const { return type_->hash(object_.get()); }
  friend std::ostream& operator<<(std::ostream& out, const Attrs& attrs) {
    attrs.type_->print(out, attrs.object_.get());
    return out;
  }

 private:
  // Most ops have no attributes: they share one object, which is not reference-counted.
  template <class T>
  static std::shared_ptr<const void> store(T object) {
    if constexpr (std::is_empty_v<T>) {
      static constexpr T only{};
      return {std::shared_ptr<const void>(), &only};
    } else {
      return std::make_shared<const T>(std::move(object));
    }
  }

  const AttrsType* type_;
  std::shared_ptr<const void> object_;
};

}  // namespace keratin
