#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "keratin/base/once.h"

namespace keratin {
namespace {

TEST(Once, HappensOnceWhoeverAsks) {
  for (int round = 0; round < 50; ++round) {
    detail::Once once;
    int count = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        once([&] { ++count; });
        EXPECT_EQ(count, 1);  // and nobody goes on before
      });
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(Once, TheOthersSleepUntilItHasHappened) {
  detail::Once once;
  std::atomic<bool> begun = false;
  int made = 0;
  std::thread first([&] {
    once([&] {
      begun = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      made = 1;
    });
  });
  while (!begun) std::this_thread::yield();
  once([&] { made = 2; });
  EXPECT_EQ(made, 1);
  first.join();
}

TEST(Once, WhatThrowsHasNotHappened) {
  detail::Once once;
  int count = 0;
  EXPECT_THROW(once([] { throw std::runtime_error("no"); }), std::runtime_error);
  once([&] { ++count; });
  once([&] { ++count; });
  EXPECT_EQ(count, 1);
}

TEST(Once, AFailureLetsTheNextOneTry) {
  for (int round = 0; round < 50; ++round) {
    detail::Once once;
    std::atomic<int> tries = 0, failures = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        try {
          once([&] {
            if (++tries < 3) throw std::runtime_error("no");
          });
        } catch (const std::runtime_error&) {
          ++failures;
        }
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(tries, 3);
    EXPECT_EQ(failures, 2);
  }
}

}  // namespace
}  // namespace keratin
