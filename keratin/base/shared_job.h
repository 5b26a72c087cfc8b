#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>

#include "keratin/base/thread_pool.h"

namespace keratin::detail {

// Chunks that one slot takes from the front, in order, and others from the back when they have
// none left. So each slot works on the same part of one step after another, which is in its cache.
class alignas(64) ChunkRange {
 public:
  void set(int64_t begin, int64_t end) {
    front_ = begin;
    back_.store(end, std::memory_order_relaxed);
    left_.store(end - begin, std::memory_order_relaxed);
  }
  // Only for the slot that the range belongs to. -1 if no chunk is left.
  int64_t take_first() { return claim() ? front_++ : -1; }
  int64_t take_last() { return claim() ? back_.fetch_sub(1, std::memory_order_relaxed) - 1 : -1; }

 private:
  bool claim() {
    return left_.load(std::memory_order_relaxed) > 0 &&
           left_.fetch_sub(1, std::memory_order_relaxed) > 0;
  }
  std::atomic<int64_t> left_ = 0, back_ = 0;
  int64_t front_ = 0;
};

// Slots beyond these have no range of their own, and take chunks of others.
inline constexpr int max_ranges = 64;

// The chunks of one call of ThreadPool::run, and who works on them; on the caller's stack.
class SharedJob {
 public:
  SharedJob(ThreadPool::Body body, void* data, int threads, int64_t chunks)
      : body_(body), data_(data), threads_(threads), ranges_(std::min(threads, max_ranges)) {
    for (int i = 0; i < ranges_; ++i)  // the others would cost time, too
      std::construct_at(&range(i))->set(chunks * i / ranges_, chunks * (i + 1) / ranges_);
  }

  // A helper runs chunks until none is left to claim.
  void help(int slot) {
    for (int64_t chunk; (chunk = take(slot)) >= 0;) run_chunk(chunk, slot);
  }
  // The caller does the same in slot 0, and measures its fastest chunk: max() if it ran none.
  std::chrono::nanoseconds work() {
    auto fastest = std::chrono::nanoseconds::max();
    auto before = std::chrono::steady_clock::now();
    for (int64_t chunk; (chunk = take(0)) >= 0;) {
      run_chunk(chunk, 0);
      const auto after = std::chrono::steady_clock::now();
      fastest = std::min<std::chrono::nanoseconds>(fastest, after - before);
      before = after;
    }
    return fastest;
  }
  int threads() const { return threads_; }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

  // Protected by the mutex of the pool.
  SharedJob *next = nullptr, *previous = nullptr;  // in the list of open jobs
  bool is_open = false;
  bool caller_sleeps = false;
  int helpers = 0;  // that have joined so far

  std::atomic<int> running = 0;  // helpers that have not left

 private:
  ChunkRange& range(int i) { return reinterpret_cast<ChunkRange*>(ranges_memory_)[i]; }
  int64_t take(int slot) {
    int64_t chunk = slot < ranges_ ? range(slot).take_first() : -1;
    for (int i = 1; chunk < 0 && i <= ranges_; ++i) chunk = range((slot + i) % ranges_).take_last();
    return chunk;
  }
  void run_chunk(int64_t chunk, int slot) {
    try {
      body_(data_, chunk, slot);
    } catch (...) {
      const std::lock_guard lock(error_mutex_);
      if (chunk >= failed_) return;
      failed_ = chunk;
      error_ = std::current_exception();
    }
  }

  const ThreadPool::Body body_;
  void* const data_;
  const int threads_, ranges_;
  std::mutex error_mutex_;
  int64_t failed_ = INT64_MAX;  // the lowest chunk that threw
  std::exception_ptr error_;
  alignas(ChunkRange) std::byte ranges_memory_[max_ranges * sizeof(ChunkRange)];
};

}  // namespace keratin::detail
