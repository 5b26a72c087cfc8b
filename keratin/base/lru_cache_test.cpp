#include "keratin/base/lru_cache.h"

#include <gtest/gtest.h>

#include <string>

namespace keratin {
namespace {

struct Key {
  int number = 0;
  std::string word = {};
  static constexpr auto fields =
      field_list(field("number", &Key::number), field("word", &Key::word));
};

// A value that has bytes, of which some can be given back.
struct Sized {
  size_t fixed = 0, spare = 0;
};
struct SizedMemory {
  static size_t bytes(const Sized& value) { return value.fixed + value.spare; }
  static void shrink(Sized& value) { value.spare = 0; }
};
using Cache = detail::LruCache<Key, Sized, SizedMemory>;

std::shared_ptr<Sized> add(Cache& cache, const Key& key, size_t fixed, size_t spare = 0) {
  const auto value = std::make_shared<Sized>(Sized{fixed, spare});
  cache.insert(key, value);
  return value;
}

TEST(LruCache, FindsWhatHasTheSameFields) {
  Cache cache;
  add(cache, {1, "a"}, 10);
  add(cache, {1, "b"}, 20);
  EXPECT_EQ(cache.find({1, "a"})->fixed, 10u);
  EXPECT_EQ(cache.find({1, "b"})->fixed, 20u);
  EXPECT_EQ(cache.find({2, "a"}), nullptr);
  add(cache, {1, "a"}, 30);
  EXPECT_EQ(cache.find({1, "a"})->fixed, 30u);
  EXPECT_EQ(cache.size(), 2u);
  EXPECT_EQ(cache.bytes(), 50u);
}

TEST(LruCache, EvictsTheLeastRecentlyUsedEntry) {
  Cache cache({.entries = 2, .bytes = 1000});
  add(cache, {1}, 1);
  add(cache, {2}, 2);
  cache.find({1});
  add(cache, {3}, 3);
  EXPECT_NE(cache.find({1}), nullptr);
  EXPECT_EQ(cache.find({2}), nullptr);
  EXPECT_NE(cache.find({3}), nullptr);
}

TEST(LruCache, KeepsWithinItsBytesButForTheNewest) {
  Cache cache({.entries = 10, .bytes = 100, .always = 1});
  for (int i = 0; i < 5; ++i) add(cache, {i}, 40);
  EXPECT_EQ(cache.size(), 2u);
  EXPECT_NE(cache.find({4}), nullptr);
  EXPECT_NE(cache.find({3}), nullptr);
  add(cache, {9}, 500);
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_EQ(cache.find({9})->fixed, 500u);

  cache.set_limits({.entries = 10, .bytes = 100, .always = 3});
  for (int i = 0; i < 5; ++i) add(cache, {i}, 400);
  EXPECT_EQ(cache.size(), 3u);
}

TEST(LruCache, ShrinksOldEntriesBeforeEvictingThem) {
  Cache cache({.entries = 10, .bytes = 100, .always = 1});
  const auto first = add(cache, {1}, 10, 60), second = add(cache, {2}, 10, 60);
  EXPECT_EQ(first->spare, 0u);
  EXPECT_EQ(second->spare, 60u);
  EXPECT_EQ(cache.size(), 2u);
  add(cache, {3}, 95);
  EXPECT_EQ(cache.size(), 1u);
}

TEST(LruCache, MeasuresValuesAgainAsTheyGrow) {
  Cache cache({.entries = 10, .bytes = 100, .always = 1});
  add(cache, {1}, 10);
  const auto grows = add(cache, {2}, 10);
  add(cache, {3}, 10);
  grows->fixed = 95;
  EXPECT_EQ(cache.find({2}), grows);
  EXPECT_EQ(cache.size(), 1u);
}

TEST(LruCache, NewLimitsHoldAtOnce) {
  Cache cache;
  for (int i = 0; i < 5; ++i) add(cache, {i}, 10);
  const auto held = cache.find({0});
  cache.set_limits({.entries = 1, .bytes = 1000});
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_EQ(cache.find({0}), held);
  cache.set_limits({.entries = 0, .bytes = 0, .always = 0});
  EXPECT_EQ(cache.size(), 1u);
  cache.clear();
  EXPECT_EQ(cache.find({0}), nullptr);
  EXPECT_EQ(held->fixed, 10u);
}

TEST(LruCache, RemovesWhatIsNotWanted) {
  Cache cache;
  for (int i = 0; i < 5; ++i) add(cache, {i}, static_cast<size_t>(i));
  cache.erase_if([](const Sized& value) { return value.fixed % 2 == 1; });
  EXPECT_EQ(cache.size(), 3u);
  EXPECT_EQ(cache.find({1}), nullptr);
  EXPECT_NE(cache.find({2}), nullptr);
}

}  // namespace
}  // namespace keratin
