#include "keratin/base/thread_pool_scope.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "keratin/base/help_meter.h"
#include "keratin/base/processors.h"
#include "keratin/base/shared_job.h"
#include "keratin/base/spin.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace keratin {

using detail::SharedJob;
using detail::spin_until;

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

constexpr int max_threads_of_a_pool = 1024;

// Treats denormal numbers as zero on this thread from now on, see FlushDenormals.
void flush_denormals() {
#if defined(__SSE__)
  _mm_setcsr(_mm_getcsr() | 0x8040u);
#endif
}

// The sections that the mutex protects are a few instructions long, so a thread that finds it taken
// looks again before it sleeps.
std::unique_lock<std::mutex> lock_soon(std::mutex& mutex) {
  for (int i = 0; i < 64; ++i) {
    if (std::unique_lock lock(mutex, std::try_to_lock); lock) return lock;
    detail::relax();
  }
  return std::unique_lock(mutex);
}

// Runs all chunks on this thread, in order, and calls after_chunk() after each. As with helpers, a
// chunk that throws does not keep others from running.
template <class AfterChunk>
void run_in_order(int64_t chunks, ThreadPool::Body body, void* data,
                  const AfterChunk& after_chunk) {
  std::exception_ptr error;
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    try {
      body(data, chunk, 0);
    } catch (...) {
      if (!error) error = std::current_exception();
    }
    after_chunk();
  }
  if (error) std::rethrow_exception(error);
}

// Counts a caller while it lasts.
class CallerCount {
 public:
  explicit CallerCount(std::atomic<int>& count)
      : count_(count), others_(count.fetch_add(1, std::memory_order_relaxed)) {}
  ~CallerCount() { count_.fetch_sub(1, std::memory_order_relaxed); }
  CallerCount(const CallerCount&) = delete;
  CallerCount& operator=(const CallerCount&) = delete;
  int others() const { return others_; }

 private:
  std::atomic<int>& count_;
  const int others_;
};

}  // namespace

struct ThreadPool::Impl {
 public:
  Impl(int threads, int max) : threads(threads), max_threads(max) {}
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void run_shared(SharedJob& job, int64_t chunks);
  void run_alone(int64_t chunks, Body body, void* data);

  const int threads;      // one per processor; fewer calls at a time find help
  const int max_threads;  // of one call
  std::atomic<int> callers = 0;
  detail::HelpMeter meter;

 private:
  void start_helpers(int count);
  void serve();
  SharedJob* join(int& slot);
  void leave(SharedJob& job);
  void open(SharedJob& job);
  void close(SharedJob& job);
  void wait_for_helpers(SharedJob& job);
  bool may_spin() const {
    return callers.load(std::memory_order_relaxed) < threads &&
           started_.load(std::memory_order_relaxed) < threads;
  }

  std::atomic<int> started_ = 0;  // helpers
  std::atomic<int> open_jobs_ = 0;

  std::mutex mutex_;
  SharedJob* first_ = nullptr;  // of the open jobs: those that may take one more helper
  int sleeping_ = 0;            // helpers
  bool ends_ = false;
  std::condition_variable wake_, left_;
  std::vector<std::thread> helpers_;
};

ThreadPool::Impl::~Impl() {
  {
    const auto lock = lock_soon(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

// A system without threads to spare gives fewer; callers then do more themselves.
void ThreadPool::Impl::start_helpers(int count) {
  const auto lock = lock_soon(mutex_);
  try {
    while (static_cast<int>(helpers_.size()) < count) helpers_.emplace_back([this] { serve(); });
  } catch (const std::exception&) {
    // Do not try again for this number.
  }
  started_.store(std::max(count, started_.load()), std::memory_order_relaxed);
}

void ThreadPool::Impl::serve() {
  flush_denormals();
  int slot = 0;
  while (SharedJob* job = join(slot)) {
    job->help(slot);
    leave(*job);
    if (may_spin()) spin_until([&] { return open_jobs_.load(std::memory_order_relaxed) > 0; });
  }
}

// Sleeps until there is an open job, and takes a slot of it; nullptr when the pool ends.
SharedJob* ThreadPool::Impl::join(int& slot) {
  auto lock = lock_soon(mutex_);
  while (first_ == nullptr && !ends_) {
    ++sleeping_;
    wake_.wait(lock);
    --sleeping_;
  }
  if (ends_) return nullptr;
  SharedJob& job = *first_;
  slot = ++job.helpers;
  job.running.fetch_add(1, std::memory_order_relaxed);
  if (slot + 1 == job.threads()) close(job);
  return &job;
}

// The caller may return as soon as `running` is 0, and the job is gone then.
void ThreadPool::Impl::leave(SharedJob& job) {
  bool caller_sleeps = false;
  {
    const auto lock = lock_soon(mutex_);
    if (job.is_open) close(job);  // no chunk is left to claim
    caller_sleeps = job.caller_sleeps;
    job.running.fetch_sub(1, std::memory_order_release);
  }
  if (caller_sleeps) left_.notify_all();
}

// Both are called with the mutex held.
void ThreadPool::Impl::open(SharedJob& job) {
  job.next = first_;
  if (first_ != nullptr) first_->previous = &job;
  first_ = &job;
  job.is_open = true;
  open_jobs_.fetch_add(1, std::memory_order_relaxed);
}

void ThreadPool::Impl::close(SharedJob& job) {
  (job.previous != nullptr ? job.previous->next : first_) = job.next;
  if (job.next != nullptr) job.next->previous = job.previous;
  job.is_open = false;
  open_jobs_.fetch_sub(1, std::memory_order_relaxed);
}

void ThreadPool::Impl::wait_for_helpers(SharedJob& job) {
  const auto ended = [&] { return job.running.load(std::memory_order_acquire) == 0; };
  if (ended() || spin_until(ended)) return;
  auto lock = lock_soon(mutex_);
  job.caller_sleeps = true;
  left_.wait(lock, ended);
}

void ThreadPool::Impl::run_shared(SharedJob& job, int64_t chunks) {
  if (started_.load(std::memory_order_relaxed) + 1 < job.threads())
    start_helpers(job.threads() - 1);
  const auto begin = Clock::now();
  int asleep = 0;
  {
    const auto lock = lock_soon(mutex_);
    open(job);
    asleep = std::min(sleeping_, job.threads() - 1);
  }
  for (int i = 0; i < asleep; ++i) wake_.notify_one();
  const nanoseconds fastest = job.work();
  {
    const auto lock = lock_soon(mutex_);
    if (job.is_open) close(job);
  }
  wait_for_helpers(job);
  const auto end = Clock::now();
  if (fastest != nanoseconds::max()) meter.add(true, fastest * chunks, end - begin, end);
}

// Measured, too: help is tried again when the caller has become slow alone.
void ThreadPool::Impl::run_alone(int64_t chunks, Body body, void* data) {
  const auto begin = Clock::now();
  auto fastest = nanoseconds::max();
  auto before = begin;
  run_in_order(chunks, body, data, [&] {
    const auto after = Clock::now();
    fastest = std::min<nanoseconds>(fastest, after - before);
    before = after;
  });
  meter.add(false, fastest * chunks, before - begin, before);
}

ThreadPool::ThreadPool(int threads) : ThreadPool(threads, threads) {}

ThreadPool::ThreadPool(int threads, int max_threads)
    : impl_(std::make_unique<Impl>(std::clamp(threads, 1, max_threads_of_a_pool),
                                   std::clamp(max_threads, 1, max_threads_of_a_pool))) {}

ThreadPool::~ThreadPool() = default;

// Never destroyed: other threads may still compute while the process ends.
ThreadPool& ThreadPool::shared() {
  static ThreadPool& pool = *new ThreadPool(available_processors(), max_threads_of_a_pool);
  return pool;
}

int ThreadPool::threads() const { return impl_->threads; }

void ThreadPool::run(int threads, int64_t chunks, Body body, void* data) {
  Impl& pool = *impl_;
  threads = static_cast<int>(std::min<int64_t>({threads, chunks, pool.max_threads}));
  const CallerCount caller(pool.callers);
  auto& scope = detail::ThreadPoolScope::current();
  scope.had_work = scope.had_work || threads > 1;
  // With as many callers as processors nobody has time to help.
  if (threads <= 1 || scope.help == detail::Help::never || caller.others() >= pool.threads)
    return run_in_order(chunks, body, data, [] {});
  if (scope.help == detail::Help::measured && pool.meter.is_paused())
    return pool.run_alone(chunks, body, data);
  SharedJob job(body, data, threads, chunks);
  pool.run_shared(job, chunks);
  job.rethrow();
}

ThreadPool& detail::current_thread_pool() {
  ThreadPool* const pool = ThreadPoolScope::current().pool;
  return pool != nullptr ? *pool : ThreadPool::shared();
}

detail::ThreadPoolScope::State& detail::ThreadPoolScope::current() {
  thread_local State state;
  return state;
}

detail::ThreadPoolScope::ThreadPoolScope(ThreadPool* pool, Help help) : before_(current()) {
  current() = {.pool = pool, .help = help};
}
detail::ThreadPoolScope::~ThreadPoolScope() { current() = before_; }
bool detail::ThreadPoolScope::had_work_to_share() const { return current().had_work; }

}  // namespace keratin
