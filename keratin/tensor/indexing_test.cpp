#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "keratin/base/text.h"
#include "keratin/tensor/tensor.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;

TEST(TensorLists, HaveTheDTypeAndTheShapeOfTheirBraces) {
  EXPECT_EQ(exact_text(Tensor({1.F, 2.5F})), "f32[2] {1, 2.5}");
  EXPECT_EQ(exact_text(Tensor({{1.0, 2.0}, {3.0, 4.0}})), "f64[2,2] {1, 2, 3, 4}");
  EXPECT_EQ(exact_text(Tensor({{{1, 2}}, {{3, 4}}})), "i32[2,1,2] {1, 2, 3, 4}");
  EXPECT_EQ(exact_text(Tensor({{{{int64_t{1}}, {int64_t{2}}}}})), "i64[1,1,2,1] {1, 2}");
  EXPECT_EQ(exact_text(Tensor({{true}, {false}})), "bool[2,1] {true, false}");
  EXPECT_EQ(exact_text(Tensor({uint8_t{200}})), "u8[1] {200}");
  EXPECT_EQ(exact_text(Tensor({Half(1.5F)})), "f16[1] {1.5}");
  EXPECT_EQ(exact_text(Tensor({BFloat16(1.5F)})), "bf16[1] {1.5}");
  const Tensor assigned = {{1.F}, {2.F}};
  EXPECT_EQ(assigned.shape(), Shape({2, 1}));
}

TEST(TensorLists, RefuseRowsOfDifferentLengths) {
  expect_user_error(
      [] {
        Tensor({{1.F, 2.F}, {3.F}});
      },
      "Tensor: the lists of axis 1 differ in length: 2 and 1");
  expect_user_error([] { Tensor({{{1}, {2}}, {{3}}}); }, {"axis 1", "2 and 1"});
}

TEST(TensorFromMemory, CopiesVectorsSpansAndArrays) {
  std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const Tensor copy(values, {2, 3});
  values[0] = 9;
  EXPECT_EQ(exact_text(copy), "f32[2,3] {1, 2, 3, 4, 5, 6}");
  EXPECT_EQ(exact_text(Tensor(std::span<const float>(values).first(2), {2})), "f32[2] {9, 2}");
  EXPECT_EQ(exact_text(Tensor(std::array<int64_t, 2>{3, 4}, {1, 2})), "i64[1,2] {3, 4}");
  expect_user_error([&] { Tensor(values, {4}); }, {"[4]", "4 elements", "6 values"});
}

TEST(TensorFromMemory, ViewsWriteThroughAndCopyNothing) {
  std::vector<float> values = {1, 2, 3, 4};
  Tensor view = Tensor::view(values, {2, 2});
  EXPECT_EQ(view.raw(), values.data());
  view(1, 0) = 7;
  EXPECT_EQ(values[2], 7);
  values[3] = 8;
  EXPECT_EQ(view(1, 1), 8);
  EXPECT_EQ(Tensor::view(std::span(values).subspan(1), {3}).raw(), &values[1]);
  expect_user_error([&] { Tensor::view(values, {3}); }, {"[3]", "4 values"});
}

TEST(TensorIndex, FindsElementsAndCountsFromTheEnd) {
  const Tensor t({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(t(0, 0), 1);
  EXPECT_EQ(t(1, 2), 6);
  EXPECT_EQ(t(-1, -3), 4);
  EXPECT_EQ(t.at({0, -1}), 3);
  EXPECT_EQ(t.at<int>({1, 1}), 5);
  EXPECT_EQ(Tensor({int64_t{1} << 60 | 1}).at<int64_t>({0}), int64_t{1} << 60 | 1);
  EXPECT_EQ(Tensor::scalar(DType::f32, 2).at({}), 2);
}

TEST(TensorIndex, OutOfRangeSaysAxisSizeAndIndex) {
  Tensor t({{1, 2, 3}, {4, 5, 6}});
  expect_user_error([&] { t(0, 3); }, "Tensor: index 3 is out of bounds for axis 1 with size 3");
  expect_user_error(
      [&] {
        t.at({-3, 0});
      },
      "Tensor: index -3 is out of bounds for axis 0 with size 2");
  expect_user_error([&] { t.set({2, 0}, 1); }, {"index 2", "axis 0", "size 2"});
  expect_user_error([&] { t(1); }, "Tensor: expected 2 indices for shape [2,3], got 1");
  expect_user_error([&] { t.row(2); }, {"index 2", "axis 0", "size 2"});
  expect_user_error([] { Tensor().at({}); }, "empty tensor");
}

TEST(TensorIndex, AssignsWhatTheDTypeHolds) {
  Tensor f({{1.F, 2.F}}), u({uint8_t{1}}), i({int64_t{0}, int64_t{0}}), b({false});
  f(0, 1) = 0.1;
  EXPECT_EQ(f.at<float>({0, 1}), 0.1F);
  f(0, 0) = f(0, 1);
  EXPECT_EQ(f(0, 0), f(0, 1));
  f.set({0, 0}, NAN);
  EXPECT_TRUE(std::isnan(f(0, 0)));
  u(0) = 255;
  EXPECT_EQ(u(0), 255);
  u(0) = 3.0;
  EXPECT_EQ(u(0), 3);
  i(0) = (int64_t{1} << 62) + 1;
  i(1) = i(0);
  EXPECT_EQ(i.at<int64_t>({1}), (int64_t{1} << 62) + 1);
  b(0) = true;
  EXPECT_EQ(b(0), 1);
}

TEST(TensorIndex, RefusesWhatTheDTypeCannotHold) {
  Tensor u({uint8_t{1}}), i({1}), b({false});
  expect_user_error([&] { u(0) = 1.5; }, "Tensor: an element of dtype u8 cannot be 1.5");
  expect_user_error([&] { u(0) = 256; }, {"u8", "256"});
  expect_user_error([&] { u(0) = -1; }, {"u8", "-1"});
  expect_user_error([&] { i(0) = NAN; }, {"i32", "nan"});
  expect_user_error([&] { i(0) = 1e300; }, "i32");
  expect_user_error([&] { i.set({0}, int64_t{1} << 40); }, "i32");
  expect_user_error([&] { b(0) = 2; }, {"bool", "2"});
  EXPECT_EQ(u(0), 1);
}

TEST(TensorRows, ShareTheMemory) {
  const Tensor t({{1, 2}, {3, 4}, {5, 6}});
  Tensor last = t[-1];
  EXPECT_EQ(exact_text(last), "i32[2] {5, 6}");
  last(0) = 9;
  EXPECT_EQ(t(2, 0), 9);
  EXPECT_EQ(t[1][0].at({}), 3);
  int64_t sum = 0;
  for (const Tensor& row : t.rows()) sum += static_cast<int64_t>(row(1));
  EXPECT_EQ(sum, 12);
  for (int32_t& x : t.data<int32_t>()) x = 0;
  EXPECT_EQ(t(1, 1), 0);
  expect_user_error([] { Tensor::scalar(DType::f32, 1).rows(); }, "has no rows");
}

TEST(TensorRows, OutliveTheTensor) {
  Tensor row;
  {
    const Tensor t({{1, 2}, {3, 4}});
    row = t.row(1);
  }
  EXPECT_EQ(row(1), 4);
}

}  // namespace
}  // namespace keratin
