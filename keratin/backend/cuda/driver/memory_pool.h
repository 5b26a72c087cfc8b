#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace keratin::cuda {

// Memory that was given back, kept for those who ask next: a driver takes long to find some, and
// stops the device to take it back. Any thread may ask.
class Pool {
 public:
  // Where memory comes from. `allocate` gives nullptr when there is too little.
  struct Source {
    std::function<void*(size_t bytes)> allocate;
    std::function<void(void*)> free;
  };

  // Keeps no more than so many bytes; what was given back first goes first.
  Pool(Source source, size_t max_kept) : source_(std::move(source)), max_kept_(max_kept) {}
  ~Pool() { free_oldest(0); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // At least so many bytes, whatever they hold; nullptr when there is too little even without what
  // is kept. They go back with their last owner, who has waited for all work on them: whoever gets
  // them next does not.
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
