#include "keratin/base/thread_pool_scope.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "keratin/base/processors.h"

namespace keratin {
namespace {

using namespace std::chrono_literals;

void run(ThreadPool& pool, int threads, int64_t chunks,
         const std::function<void(int64_t chunk, int slot)>& body) {
  pool.run(
      threads, chunks,
      [](void* data, int64_t chunk, int slot) {
        (*static_cast<const std::function<void(int64_t, int)>*>(data))(chunk, slot);
      },
      const_cast<void*>(static_cast<const void*>(&body)));
}

TEST(ThreadPool, RunsEveryChunkOnce) {
  ThreadPool pool(4);
  for (const int threads : {1, 2, 4, 9, 200}) {
    for (const int64_t chunks : {0, 1, 2, 3, 64, 1000}) {
      std::vector<std::atomic<int>> seen(static_cast<size_t>(chunks));
      run(pool, threads, chunks, [&](int64_t chunk, int slot) {
        ++seen[static_cast<size_t>(chunk)];
        EXPECT_LT(slot, std::min(threads, 4));
      });
      for (const auto& count : seen) EXPECT_EQ(count, 1);
    }
  }
}

TEST(ThreadPool, OfOneThreadRunsOnTheCaller) {
  ThreadPool pool(1);
  const auto self = std::this_thread::get_id();
  run(pool, 8, 20, [&](int64_t, int slot) {
    EXPECT_EQ(std::this_thread::get_id(), self);
    EXPECT_EQ(slot, 0);
  });
}

TEST(ThreadPool, HelpersTakePartOfTheWork) {
  ThreadPool pool(2);
  std::atomic<bool> helped = false;
  // A helper may be late, so the caller's chunk waits for it.
  for (int attempt = 0; attempt < 100 && !helped; ++attempt) {
    run(pool, 2, 2, [&](int64_t, int slot) {
      if (slot == 1) helped = true;
      const auto end = std::chrono::steady_clock::now() + 100ms;
      while (!helped && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    });
  }
  EXPECT_TRUE(helped);
}

TEST(ThreadPool, DoesNotWaitForThreadsThatAreBusyElsewhere) {
  ThreadPool pool(2);
  std::atomic<int> inside = 0;
  std::atomic<bool> free = false;
  // The only helper, or the first caller, stays in a chunk until the second call has returned.
  std::thread first([&] {
    run(pool, 2, 2, [&](int64_t, int) {
      ++inside;
      while (!free) std::this_thread::yield();
    });
  });
  while (inside == 0) std::this_thread::yield();
  std::set<int64_t> chunks;
  if (inside == 2) {  // nobody is left to help
    run(pool, 2, 10, [&](int64_t chunk, int) { chunks.insert(chunk); });
    EXPECT_EQ(chunks.size(), 10U);
  }
  free = true;
  first.join();
}

TEST(ThreadPool, ThrowsTheFailureOfTheLowestChunkAfterAll) {
  ThreadPool pool(4);
  for (int repeat = 0; repeat < 50; ++repeat) {
    std::atomic<int> ran = 0;
    try {
      run(pool, repeat < 40 ? 4 : 1, 40, [&](int64_t chunk, int) {
        ++ran;
        if (chunk % 7 == 5) throw std::runtime_error(std::to_string(chunk));
      });
      FAIL();
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "5");
    }
    EXPECT_EQ(ran, 40);
  }
}

TEST(ThreadPool, ServesManyCallersAtOnce) {
  ThreadPool pool(3);
  std::atomic<int64_t> total = 0;
  std::vector<std::thread> callers;
  for (int c = 0; c < 8; ++c) {
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 200; ++repeat) {
        std::vector<int64_t> results(16);
        run(pool, 3, 16, [&](int64_t chunk, int) { results[static_cast<size_t>(chunk)] = chunk; });
        for (const int64_t r : results) total += r;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(total, 8 * 200 * 120);
}

TEST(ThreadPool, RunsWorkWithinWork) {
  ThreadPool pool(3);
  std::atomic<int> count = 0;
  run(pool, 3, 6, [&](int64_t, int) { run(pool, 3, 5, [&](int64_t, int) { ++count; }); });
  EXPECT_EQ(count, 30);
}

TEST(ThreadPool, SleepsAndWakesAgain) {
  ThreadPool pool(3);
  std::atomic<int> count = 0;
  for (int repeat = 0; repeat < 20; ++repeat) {
    run(pool, 3, 8, [&](int64_t, int) { ++count; });
    if (repeat % 4 == 0) std::this_thread::sleep_for(2ms);
  }
  EXPECT_EQ(count, 160);
}

TEST(ThreadPool, EndsWhileItsThreadsLookForWork) {
  for (int repeat = 0; repeat < 50; ++repeat) {
    ThreadPool pool(4);
    std::atomic<int> count = 0;
    if (repeat % 2 == 0) run(pool, 4, 12, [&](int64_t, int) { ++count; });
    EXPECT_EQ(count, repeat % 2 == 0 ? 12 : 0);
  }
}

TEST(ThreadPool, SharedHasAThreadForEachProcessor) {
  EXPECT_EQ(ThreadPool::shared().threads(), available_processors());
}

TEST(ThreadPoolScope, ChoosesThePoolOfItsThread) {
  ThreadPool mine(2), inner(2);
  EXPECT_EQ(&detail::current_thread_pool(), &ThreadPool::shared());
  {
    const detail::ThreadPoolScope scope(&mine);
    EXPECT_EQ(&detail::current_thread_pool(), &mine);
    {
      const detail::ThreadPoolScope again(&inner);
      EXPECT_EQ(&detail::current_thread_pool(), &inner);
    }
    EXPECT_EQ(&detail::current_thread_pool(), &mine);
    std::thread([] { EXPECT_EQ(&detail::current_thread_pool(), &ThreadPool::shared()); }).join();
    const detail::ThreadPoolScope none(nullptr);
    EXPECT_EQ(&detail::current_thread_pool(), &ThreadPool::shared());
  }
}

}  // namespace
}  // namespace keratin
