#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace keratin::cuda {

// Freed memory, kept for the next allocation: a driver takes long to allocate, and stops the device
// to free. Any thread may call.
class Pool {
 public:
  // Where memory comes from. `allocate` gives nullptr when there is too little.
  struct Source {
    std::function<void*(size_t bytes)> allocate;
    std::function<void(void*)> free;
  };

  // The limit on the bytes it keeps; the oldest block is freed first.
  Pool(Source source, size_t max_kept) : source_(std::move(source)), max_kept_(max_kept) {}
  ~Pool() { free_oldest(0); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // At least `bytes` of memory, uninitialised; nullptr if there is too little even after all that
  // is kept was freed. It returns with its last owner, who has waited for all work on it: the next
  // owner does not.
  std::shared_ptr<void> take(size_t bytes);

  size_t kept_bytes() const;

 private:
  struct Block {
    void* memory = nullptr;
    size_t bytes = 0;
  };
  Block find(size_t bytes);
  Block find_kept(size_t bytes);
  void give_back(Block block);
  void free_oldest(size_t bytes_left);

  const Source source_;
  const size_t max_kept_;
  mutable std::mutex lock_;
  std::vector<Block> kept_;  // the oldest first
  size_t kept_bytes_ = 0;
};

}  // namespace keratin::cuda
