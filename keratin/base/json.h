#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
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
  Json(std::nullptr_t) {}                                     // NOLINT(google-explicit-constructor)
  Json(bool value);                                           // NOLINT(google-explicit-constructor)
  Json(int value) : Json(int64_t{value}) {}                   // NOLINT(google-explicit-constructor)
  Json(int64_t value);                                        // NOLINT(google-explicit-constructor)
  Json(double value);                                         // NOLINT(google-explicit-constructor)
  Json(std::string value);                                    // NOLINT(google-explicit-constructor)
  Json(std::string_view value);                               // NOLINT(google-explicit-constructor)
  Json(const char* value) : Json(std::string_view(value)) {}  // NOLINT
  Json(Array values);                                         // NOLINT(google-explicit-constructor)
  Json(Object members);                                       // NOLINT(google-explicit-constructor)

  ~Json() {
    if (data_ != nullptr) destroy();
  }
  Json(const Json& other) : data_(other.data_ == nullptr ? nullptr : other.copy()) {}
  Json(Json&& other) noexcept : data_(other.data_) { other.data_ = nullptr; }
  Json& operator=(Json other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }

  static Json array() { return Array{}; }
  static Json object() { return Object{}; }

  bool is_null() const { return data_ == nullptr; }
  bool is_bool() const;
  bool is_int() const;
  bool is_number() const;
  bool is_string() const;
  bool is_array() const;
  bool is_object() const;

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

  // On one line, as Python's json.dumps; or indented by `indent` spaces.
  std::string dump(int indent = -1) const;

  struct Limits {
    size_t depth = 512;
    size_t values = 64 << 20;
  };
  // The whole text must be one value. Errors say where.
  static Json parse(std::string_view text) { return parse(text, Limits{}); }
  static Json parse(std::string_view text, Limits limits);

 private:
  struct Data;  // see json.cpp: a variant here would be slow to compile, in every file
  explicit Json(Data* data) : data_(data) {}
  Data* copy() const;
  void destroy() noexcept;
  Data& own();  // this value's alone, to be changed

  Data* data_ = nullptr;  // shared with copies; null is no data
};

KERATIN_API std::ostream& operator<<(std::ostream& out, const Json& json);

}  // namespace keratin
