#pragma once

#include "keratin/engine/idle_pool.h"
#include "keratin/tensor/buffer.h"

namespace keratin {

// The working memory of programs that run in the host's memory. A call takes an arena, of at least
// the size that its program needs, and gives it back. The programs of a model share a pool, so what
// the model holds between calls does not grow with the number of its programs: at most one arena
// per processor, each as large as the largest program that has used it.
class ArenaPool {
 public:
  using Arena = std::unique_ptr<Buffer>;

  // `allocate(bytes)` makes a new arena if no idle one is large enough.
  template <class Allocate>
  Arena take(size_t bytes, const Allocate& allocate) {
    Arena arena = idle_.take();
    if (arena) bytes_.fetch_sub(arena->size(), std::memory_order_relaxed);
    if (arena && arena->size() >= bytes) return arena;
    arena.reset();  // before its successor is allocated
    return std::make_unique<Buffer>(allocate(bytes));
  }
  void give_back(Arena arena) {
    const size_t bytes = arena->size();
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
    if (!idle_.give_back(std::move(arena))) bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  }
  void clear() {
    while (const Arena arena = idle_.take())
      bytes_.fetch_sub(arena->size(), std::memory_order_relaxed);
  }
  size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  IdlePool<Buffer> idle_;
  std::atomic<size_t> bytes_ = 0;  // of idle arenas
};

}  // namespace keratin
