#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace keratin {

// Fills a block of memory from its beginning to its end, a large one piece by piece with several
// threads, so that the first pieces can be used while others are on their way.
class Filling {
 public:
  // `copy(begin, end)` brings these bytes there; called for several pieces at once.
  using Copy = std::function<void(size_t begin, size_t end)>;
  static constexpr size_t piece = size_t{2} << 20, least_for_threads = size_t{8} << 20;

  // At most so many threads, the caller's among them. `copy` outlives the filling.
  Filling(size_t bytes, unsigned threads, const Copy& copy);

  // Helps until more than the first `known` bytes are there, fewer than all; returns how many are.
  size_t wait(size_t known);

 private:
  bool copy_next();

  const size_t bytes_, piece_;
  const Copy& copy_;
  std::vector<std::atomic<bool>> there_;  // by piece
  std::atomic<size_t> next_ = 0;
  std::vector<std::jthread> helpers_;  // last: they are over before the rest goes
};

}  // namespace keratin
