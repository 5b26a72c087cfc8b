#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace keratin {

// Copies a block of memory from its beginning to its end; a large block in chunks, with several
// threads, so that the first chunks can be used while later ones are being copied.
class ChunkedCopy {
 public:
  // `copy(begin, end)` copies these bytes; called for several chunks at the same time.
  using Copy = std::function<void(size_t begin, size_t end)>;
  static constexpr size_t chunk = size_t{2} << 20, min_for_threads = size_t{8} << 20;

  // Uses at most `threads` threads, including the caller's. `copy` must outlive this object.
  ChunkedCopy(size_t bytes, unsigned threads, const Copy& copy);

  // Returns how many bytes are copied once these are more than `known`, which is less than all.
  // Copies chunks itself meanwhile.
  size_t wait(size_t known);

 private:
  bool copy_next();

  const size_t bytes_, chunk_;
  const Copy& copy_;
  std::vector<std::atomic<bool>> copied_;  // by chunk
  std::atomic<size_t> next_ = 0;
  std::vector<std::jthread> helpers_;  // last: they join before the other members are destroyed
};

}  // namespace keratin
