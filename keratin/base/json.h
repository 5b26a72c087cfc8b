#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "keratin/base/export.h"

namespace keratin {

// A JSON value. Objects keep the order of their keys; integers stay integers; NaN and the
// infinities are written as Python writes them.
class KERATIN_API Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;

  Json() = default;
  Json(std::nullptr_t) {}                               // NOLINT(google-explicit-constructor)
  Json(bool value) : data_(value) {}                    // NOLINT(google-explicit-constructor)
  Json(int value) : data_(int64_t{value}) {}            // NOLINT(google-explicit-constructor)
  Json(int64_t value) : data_(value) {}                 // NOLINT(google-explicit-constructor)
  Json(double value) : data_(value) {}                  // NOLINT(google-explicit-constructor)
  Json(std::string value) : data_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Json(std::string_view value)
      : data_(std::string(value)) {}                      // NOLINT(google-explicit-constructor)
  Json(const char* value) : data_(std::string(value)) {}  // NOLINT(google-explicit-constructor)
  Json(Array values) : data_(std::move(values)) {}        // NOLINT(google-explicit-constructor)
  Json(Object members) : data_(std::move(members)) {}     // NOLINT(google-explicit-constructor)

  static Json array() { return Array{}; }
  static Json object() { return Object{}; }

  bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
  bool is_bool() const { return std::holds_alternative<bool>(data_); }
  bool is_int() const { return std::holds_alternative<int64_t>(data_); }
  bool is_number() const { return is_int() || std::holds_alternative<double>(data_); }
  bool is_string() const { return std::holds_alternative<std::string>(data_); }
  bool is_array() const { return std::holds_alternative<Array>(data_); }
  bool is_object() const { return std::holds_alternative<Object>(data_); }

  // Each throws a UserError saying what is there instead.
  bool as_bool() const;
  int64_t as_int() const;  // a number without a fraction
  double as_double() const;
  // Of a temporary they give the contents themselves, so that a loop over them is safe.
  const std::string& as_string() const&;
  std::string as_string() && { return std::string(std::as_const(*this).as_string()); }
  const Array& as_array() const&;
  Array as_array() && { return Array(std::as_const(*this).as_array()); }
  const Object& as_object() const&;
  Object as_object() && { return Object(std::as_const(*this).as_object()); }

  // Arrays.
  size_t size() const;
  const Json& operator[](size_t i) const { return as_array().at(i); }
  const Json& operator[](int i) const { return (*this)[static_cast<size_t>(i)]; }
  void push_back(Json value);

  // Objects: the member, or nothing; the member, or an error; the member, made when missing.
  const Json* find(std::string_view key) const;
  bool contains(std::string_view key) const { return find(key) != nullptr; }
  const Json& at(std::string_view key) const;
  Json& operator[](std::string_view key);
  Json& operator[](const char* key) { return (*this)[std::string_view(key)]; }
  const Json& operator[](const char* key) const { return at(key); }

  // Numbers compare by value: 1 equals 1.0. The order of an object's keys does not matter.
  bool operator==(const Json& other) const;

  // On one line, as Python's json.dumps; or indented by so many spaces.
  std::string dump(int indent = -1) const;

  struct Limits {
    size_t depth = 512;
    size_t values = 64 << 20;
  };
  // The whole text must be one value. Errors say where.
  static Json parse(std::string_view text) { return parse(text, Limits{}); }
  static Json parse(std::string_view text, Limits limits);

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, Array, Object> data_;
};

KERATIN_API std::ostream& operator<<(std::ostream& out, const Json& json);

}  // namespace keratin
