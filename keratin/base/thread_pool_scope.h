#pragma once

#include "keratin/base/thread_pool.h"

namespace keratin::detail {

// The pool that `ThreadPoolScope` chose for this thread, or the shared one.
ThreadPool& current_thread_pool();

// Work of this thread is shared with the threads of a pool while the scope lasts; nullptr stands
// for the shared pool.
class ThreadPoolScope {
 public:
  explicit ThreadPoolScope(ThreadPool* pool);
  ~ThreadPoolScope();
  ThreadPoolScope(const ThreadPoolScope&) = delete;
  ThreadPoolScope& operator=(const ThreadPoolScope&) = delete;

 private:
  ThreadPool* const before_;
};

}  // namespace keratin::detail
