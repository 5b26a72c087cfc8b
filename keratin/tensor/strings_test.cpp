#include <gtest/gtest.h>

#include <optional>

#include "keratin/base/text.h"
#include "keratin/tensor/tensor.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;

TEST(Strings, AreElementsOfTensors) {
  const Tensor t({{"a", "bc"}, {"", "d"}});
  EXPECT_EQ(t.dtype(), DType::string);
  EXPECT_EQ(t.shape(), Shape({2, 2}));
  EXPECT_EQ(t.at<std::string>({0, -1}), "bc");
  EXPECT_EQ(t.row(1).to_strings(), (std::vector<std::string>{"", "d"}));
  EXPECT_EQ(t.data<std::string_view>()[3], "d");
}

TEST(Strings, AreComparedByTheirCharacters) {
  const Tensor a({"x", "yz"}), b(std::vector<std::string>{"x", "yz"}), c({"xy", "z"});
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.hash(), b.hash());
  EXPECT_FALSE(a == c);
  EXPECT_FALSE(a == a.reshape({2, 1}));
}

TEST(Strings, OutliveTheTensorTheyCameFrom) {
  std::optional<Tensor> source(std::in_place, std::vector<std::string>{std::string(100, 'a'), "b"});
  const Tensor copy = source->clone(), row = source->row(0);
  source.reset();
  EXPECT_EQ(copy.at<std::string>({0}), std::string(100, 'a'));
  EXPECT_EQ(row.to_strings()[0], std::string(100, 'a'));
}

TEST(Strings, ArePrintedAsBytesOfPython) {
  const Tensor t(std::vector<std::string>{"a", "it's", std::string("\xc3\xa9\0\n", 4)});
  EXPECT_EQ(text(t), "string[3]\n[b'a' b\"it's\" b'\\xc3\\xa9\\x00\\n']");
  EXPECT_EQ(exact_text(Tensor({"a\"b\\"})), "string[1] {\"a\\\"b\\\\\"}");
}

TEST(Strings, AreNoNumbers) {
  const Tensor t({"1"});
  expect_user_error([&] { t.at(0); }, "expected a dtype of numbers, got string");
  expect_user_error([&] { t.cast(DType::f32); }, "expected a dtype of numbers, got string");
  expect_user_error([&] { Tensor({1.f}).cast(DType::string); }, "got string");
  expect_user_error([&] { (void)static_cast<double>(t(0)); }, "got string");
  expect_user_error([&] { Tensor({1.f}).at<std::string>({0}); }, "asked for a string of a f32");
}

TEST(Strings, StartEmpty) {
  EXPECT_EQ(Tensor(DType::string, {2}), Tensor({"", ""}));
  EXPECT_EQ(Tensor::zeros(DType::string, {2}), Tensor({"", ""}));
}

}  // namespace
}  // namespace keratin
