#pragma once

#include <cstdint>
#include <memory>

#include "keratin/base/export.h"

namespace keratin {

// Threads that share the work of the steps of programs. Any number of callers may use a pool at the
// same time. Work comes in chunks that are cut by size alone, and whoever runs claims the next one,
// the caller included: nobody waits for a thread that has not started.
//
// `EngineOptions::pool` gives the programs of a model a pool of their own. All others use
// `ThreadPool::shared()`.
class KERATIN_API ThreadPool {
 public:
  // `threads` counts the caller: a pool of one has no threads of its own.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // The pool of the process. It starts threads when they are first used: one per processor that the
  // process may use, or more if a program asks for more.
  static ThreadPool& shared();

  int threads() const;

  // Computes one chunk. `slot` is below the number of threads of the call, and no other chunk runs
  // with it at the same time: it may choose scratch memory.
  using Body = void (*)(void* data, int64_t chunk, int slot);

  // Runs all chunks in [0, chunks) on this thread and up to threads - 1 of the pool. Allocates
  // nothing. If chunks throw, the exception of the lowest one is thrown again when all have ended.
  void run(int threads, int64_t chunks, Body body, void* data);

 private:
  struct Impl;
  ThreadPool(int threads, int max_threads);
  std::unique_ptr<Impl> impl_;
};

}  // namespace keratin
