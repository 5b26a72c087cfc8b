#pragma once

#include "keratin/base/thread_pool.h"

namespace keratin::detail {

// The pool that `ThreadPoolScope` chose for this thread, or the shared one.
ThreadPool& current_thread_pool();

// Whether a thread asks others for help.
enum class Help : uint8_t {
  measured,  // as long as the pool finds that it is worth it
  always,
  never,
};

// Work of this thread is shared with the threads of a pool while the scope lasts; nullptr stands
// for the shared pool.
class ThreadPoolScope {
 public:
  explicit ThreadPoolScope(ThreadPool* pool, Help help = Help::measured);
  ~ThreadPoolScope();
  ThreadPoolScope(const ThreadPoolScope&) = delete;
  ThreadPoolScope& operator=(const ThreadPoolScope&) = delete;

  // Whether there was work to share.
  bool had_work_to_share() const;

 private:
  struct State {
    ThreadPool* pool = nullptr;
    Help help = Help::measured;
    bool had_work = false;
  };
  friend class keratin::ThreadPool;
  friend ThreadPool& current_thread_pool();
  static State& current();

  const State before_;
};

}  // namespace keratin::detail
