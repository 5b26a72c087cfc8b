#include <gtest/gtest.h>

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>

#include "keratin/engine/compile.h"
#include "keratin/model/program.h"
#include "keratin/plan/plan.h"
#include "training_testing.h"

// Sanitizers replace malloc and locks themselves.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {

std::atomic<bool> watching = false;
std::atomic<int> allocations = 0, locks = 0;

void count(std::atomic<int>& counter) {
  if (watching.load(std::memory_order_relaxed)) counter.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

// These replace the C library's functions for the whole process; operator new calls them too.
extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

void* malloc(size_t bytes) {
  count(allocations);
  return __libc_malloc(bytes);
}
void* calloc(size_t number, size_t bytes) {
  count(allocations);
  return __libc_calloc(number, bytes);
}
void* realloc(void* memory, size_t bytes) {
  count(allocations);
  return __libc_realloc(memory, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  count(allocations);
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  count(allocations);
  *memory = __libc_memalign(alignment, bytes);
  return *memory == nullptr ? ENOMEM : 0;
}
int pthread_mutex_lock(pthread_mutex_t* mutex) {
  static const auto real =
      reinterpret_cast<int (*)(pthread_mutex_t*)>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  count(locks);
  return real(mutex);
}
}

namespace keratin {
namespace {

struct Counts {
  int allocations = 0;
  int locks = 0;
};

// The allocations and locks of a hundred runs, after a few runs to warm up.
Counts watch(const EngineOptions& options) {
  testing::TrainingStep step = testing::make_training_step();
  const Executable executable = compile(std::move(step.module), options);
  const std::vector<Tensor> outputs = {Tensor(DType::f32, {})};
  for (int i = 0; i < 3; ++i) executable.run(step.inputs, outputs);
  const double before = outputs[0].at(0);
  allocations = locks = 0;
  watching = true;
  for (int i = 0; i < 100; ++i) executable.run(step.inputs, outputs);
  watching = false;
  EXPECT_LT(outputs[0].at(0), before) << "expected a lower loss after training";
  return {allocations, locks};
}

TEST(Allocations, AreCounted) {
  allocations = locks = 0;
  watching = true;
  auto memory = std::make_unique<int>(3);
  void* aligned = std::aligned_alloc(64, 64);
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  watching = false;
  pthread_mutex_unlock(&mutex);
  std::free(aligned);
  EXPECT_EQ(allocations, 2);
  EXPECT_EQ(locks, 1);
}

TEST(Allocations, TrainingStepsNeitherAllocateNorLock) {
  for (int threads : {1, 2}) {
    const Counts counts = watch({.threads = threads});
    EXPECT_EQ(counts.allocations, 0) << threads << " threads";
    EXPECT_EQ(counts.locks, 0) << threads << " threads";
  }
}

}  // namespace
}  // namespace keratin

#endif
