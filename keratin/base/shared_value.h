#pragma once

#include <memory>
#include <utility>

namespace keratin::detail {

// A value that its copies share and nobody changes: as cheap to copy as a pointer, however large.
// It may be absent; two are equal when their values are.
template <class T>
class SharedValue {
 public:
  SharedValue() = default;
  SharedValue(T value)  // NOLINT(google-explicit-constructor)
      : value_(std::make_shared<const T>(std::move(value))) {}

  explicit operator bool() const { return value_ != nullptr; }
  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }

  bool operator==(const SharedValue& other) const {
    return value_ == other.value_ || (value_ && other.value_ && *value_ == *other.value_);
  }

 private:
  std::shared_ptr<const T> value_;
};

}  // namespace keratin::detail
