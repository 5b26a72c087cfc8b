#include "keratin/tensor/shape.h"
#include "keratin/tensor/shape_rules.h"

#include <gtest/gtest.h>

#include "keratin/base/text.h"
#include "keratin/tensor/device.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;

TEST(Shape, CountsAndStrides) {
  EXPECT_EQ(Shape({}).count(), 1);
  EXPECT_EQ(Shape({2, 3, 4}).count(), 24);
  EXPECT_EQ(Shape({2, 3, 4}).count(1, 3), 12);
  EXPECT_EQ(Shape({2, 0, 4}).count(), 0);
  EXPECT_EQ(Shape({2, 3, 4}).strides(), Dims({12, 4, 1}));
  EXPECT_EQ(text(Shape({2, unknown, 0})), "[2,?,0]");
  EXPECT_TRUE(Shape({2, 3}).known());
  EXPECT_FALSE(Shape({2, unknown}).known());
}

TEST(Shape, RefusesWhatCannotBe) {
  expect_user_error([] { Shape({-3}); }, {"negative", "-3"});
  expect_user_error([] { Shape(Dims(9, 1)); }, {"at most 8", "9"});
  expect_user_error([] { Shape({2, unknown}).count(); }, {"[2,?]", "not known"});
  expect_user_error([] { Shape({1 << 20, 1 << 20, 1 << 20}).count(); }, "too many");
  const int64_t huge = std::numeric_limits<int64_t>::max();
  expect_user_error([&] { Shape({huge, huge, huge, huge}).count(); }, "too many");
  // A size of 0 does not help: the product of the others must fit, as strides need it.
  expect_user_error([&] { Shape({0, huge, huge}).count(); }, "too many");
  EXPECT_FALSE(Shape({unknown, huge, huge}).fits());
}

TEST(Shape, HashesTellShapesApart) {
  const std::vector<Shape> shapes = {{}, {0}, {1}, {1, 1}, {2, 3}, {3, 2}, {unknown}};
  for (const Shape& a : shapes)
    for (const Shape& b : shapes) {
      EXPECT_EQ(a == b, &a == &b);
      EXPECT_EQ(a.hash() == b.hash(), &a == &b);
    }
}

TEST(Shape, CompatibleWhereSizesMayBecomeEqual) {
  EXPECT_TRUE(compatible({2, unknown}, {unknown, 3}));
  EXPECT_FALSE(compatible({2, unknown}, {3, unknown}));
  EXPECT_FALSE(compatible({2}, {2, 2}));
}

TEST(Shape, BroadcastsAsNumPyDoes) {
  EXPECT_EQ(broadcast({3, 1}, {4}, "x"), Shape({3, 4}));
  EXPECT_EQ(broadcast({}, {2, 2}, "x"), Shape({2, 2}));
  EXPECT_EQ(broadcast({1}, {0}, "x"), Shape({0}));
  EXPECT_EQ(broadcast({unknown}, {1}, "x"), Shape({unknown}));
  EXPECT_EQ(broadcast({unknown}, {5}, "x"), Shape({5}));
  EXPECT_EQ(broadcast({5}, {unknown}, "x"), Shape({5}));
  EXPECT_EQ(broadcast({unknown}, {unknown}, "x"), Shape({unknown}));
  EXPECT_EQ(broadcast({unknown}, {0}, "x"), Shape({0}));
  EXPECT_EQ(broadcast({0}, {unknown}, "x"), Shape({0}));
  expect_user_error([] { broadcast({2}, {3}, "who"); }, {"who", "[2]", "[3]"});
  expect_user_error([] { broadcast({0}, {2}, "who"); }, {"who", "[0]", "[2]"});
}

TEST(Shape, NormalizesAxes) {
  EXPECT_EQ(normalize_axis(-1, 3, "x"), 2);
  EXPECT_EQ(normalize_axis(2, 3, "x"), 2);
  expect_user_error([] { normalize_axis(3, 3, "who"); }, {"who", "rank 3", "got 3"});
  expect_user_error([] { normalize_axis(-4, 3, "who"); }, {"who", "got -4"});
  expect_user_error([] { normalize_axis(0, 0, "who"); }, "who");
  EXPECT_EQ(normalize_axes({-1, 0}, 3, "x"), Dims({0, 2}));
  EXPECT_EQ(normalize_axes({}, 3, "x"), Dims({0, 1, 2}));
  expect_user_error([] { normalize_axes({1, -2}, 3, "who"); }, {"who", "twice"});
}

TEST(Device, NamesParseBack) {
  for (const char* name : {"cpu:0", "cpu:7", "gpu:0", "gpu:12"})
    EXPECT_EQ(text(parse_device(name).value()), name);
  for (const char* wrong : {"", "cpu", "cpu:", "gpu:-1", "tpu:0", "cpu:1x", "gpu:99999"})
    EXPECT_EQ(parse_device(wrong), std::nullopt) << wrong;
}

}  // namespace
}  // namespace keratin
