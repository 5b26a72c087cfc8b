#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace keratin::detail {

// A list whose length is set once. Up to N elements lie inside the object, so that what is small
// needs no memory of its own and is found where its owner is.
template <class T, size_t N>
class ShortList {
 public:
  ShortList() = default;
  ShortList(const std::vector<T>& items)  // NOLINT(google-explicit-constructor)
      : size_(items.size()), far_(size_ > N ? std::make_unique<T[]>(size_) : nullptr) {
    std::copy(items.begin(), items.end(), begin());
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return far_ ? far_.get() : near_.data(); }
  T* end() { return begin() + size_; }
  const T* begin() const { return far_ ? far_.get() : near_.data(); }
  const T* end() const { return begin() + size_; }
  T& operator[](size_t i) { return begin()[i]; }
  const T& operator[](size_t i) const { return begin()[i]; }

  operator std::vector<T>() const {  // NOLINT(google-explicit-constructor)
    return {begin(), end()};
  }
  friend bool operator==(const ShortList& a, std::span<const T> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  template <std::same_as<ShortList> Same>  // of two lists neither is turned into a span
  friend bool operator==(const ShortList& a, const Same& b) {
    return a == std::span<const T>(b);
  }

 private:
  size_t size_ = 0;
  std::array<T, N> near_{};
  std::unique_ptr<T[]> far_;
};

}  // namespace keratin::detail
