#include "keratin/base/short_list.h"

#include <gtest/gtest.h>

namespace keratin {
namespace {

using List = detail::ShortList<int, 2>;

TEST(ShortList, HoldsAnyNumber) {
  for (const std::vector<int>& items : {std::vector<int>{}, std::vector<int>{1},
                                        std::vector<int>{1, 2}, std::vector<int>{1, 2, 3}}) {
    const List list = items;
    EXPECT_EQ(list.size(), items.size());
    EXPECT_EQ(list.empty(), items.empty());
    EXPECT_EQ(list, items);
    EXPECT_EQ(std::vector<int>(list), items);
    for (size_t i = 0; i < items.size(); ++i) EXPECT_EQ(list[i], items[i]);
  }
}

TEST(ShortList, KeepsFewInsideAndManyOutside) {
  const auto inside = [](const List& list) {
    const auto* object = reinterpret_cast<const std::byte*>(&list);
    const auto* item = reinterpret_cast<const std::byte*>(list.begin());
    return item >= object && item < object + sizeof(list);
  };
  EXPECT_TRUE(inside(List({1, 2})));
  EXPECT_FALSE(inside(List({1, 2, 3})));
}

TEST(ShortList, ComparesLengthsAndElements) {
  EXPECT_EQ(List({1, 2}), List({1, 2}));
  EXPECT_NE(List({1, 2}), List({1}));
  EXPECT_NE(List({1, 2}), List({2, 1}));
  EXPECT_NE(List({1, 2, 3}), List({1, 2, 4}));
}

TEST(ShortList, ElementsMayChangeAndMove) {
  List list({1, 2, 3});
  list[2] = 5;
  const List moved = std::move(list);
  EXPECT_EQ(moved, List({1, 2, 5}));
  List assigned;
  assigned = std::vector<int>{7};
  EXPECT_EQ(assigned, List({7}));
}

}  // namespace
}  // namespace keratin
