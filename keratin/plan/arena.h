#pragma once

#include <cstddef>
#include <map>
#include <set>

namespace keratin {

// Allocates offsets in a block of memory that grows: best fit; free neighbours are merged.
class Arena {
 public:
  static constexpr size_t alignment = 64;

  size_t allocate(size_t bytes);
  void release(size_t offset);
  size_t size() const { return size_; }

 private:
  void insert_free(size_t offset, size_t bytes);

  std::map<size_t, size_t> free_;                     // offset -> bytes
  std::set<std::pair<size_t, size_t>> free_by_size_;  // (bytes, offset)
  std::map<size_t, size_t> used_;                     // offset -> bytes
  size_t size_ = 0;
};

}  // namespace keratin
