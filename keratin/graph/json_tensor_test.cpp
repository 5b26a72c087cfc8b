#include "keratin/graph/json_tensor.h"

#include <gtest/gtest.h>

#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;

TEST(JsonTensor, ReadsNumbersAndNestedLists) {
  EXPECT_EQ(tensor_from_json(Json(2.5)), Tensor::scalar(DType::f32, 2.5));
  EXPECT_EQ(tensor_from_json(Json(2)), Tensor::scalar(DType::i32, 2));
  EXPECT_EQ(tensor_from_json(Json::parse("[[1, 2, 3], [4, 5, 6.5]]")),
            Tensor::of<double>(DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6.5}));
  EXPECT_EQ(tensor_from_json(Json::parse("[1, 0]"), DType::boolean),
            Tensor::of<int>(DType::boolean, {2}, {1, 0}));
  EXPECT_EQ(tensor_from_json(Json::parse("[]")).shape(), Shape({0}));
}

TEST(JsonTensor, ReadsBools) {
  EXPECT_EQ(tensor_from_json(Json(true)), Tensor::scalar(DType::boolean, 1));
  EXPECT_EQ(tensor_from_json(Json::parse("[true, false]")),
            Tensor::of<int>(DType::boolean, {2}, {1, 0}));
  EXPECT_EQ(tensor_from_json(Json::parse("[true, 2]")), Tensor::of<int>(DType::i32, {2}, {1, 2}));
}

TEST(JsonTensor, KeepsWholeNumbersExact) {
  const Json large(int64_t{9007199254740993});  // no double is this number
  EXPECT_EQ(tensor_from_json(large, DType::i64).data<int64_t>()[0], 9007199254740993);
  EXPECT_EQ(tensor_from_json(Json(-3), DType::u8), Tensor::of<int>(DType::u8, {}, {253}));
  EXPECT_EQ(tensor_from_json(Json(-3), DType::f32), Tensor::scalar(DType::f32, -3));
}

TEST(JsonTensor, ReadsKerasEnvelopes) {
  const Json json = Json::parse(
      R"({"class_name": "__numpy__", "config": {"value": [1, 2], "dtype": "float64"}})");
  EXPECT_TRUE(is_array_envelope(json));
  EXPECT_FALSE(is_array_envelope(Json::parse(R"({"class_name": "Dense"})")));
  EXPECT_EQ(tensor_from_json(json), Tensor::of<double>(DType::f64, {2}, {1, 2}));
}

TEST(JsonTensor, RefusesUnevenLists) {
  expect_user_error([] { tensor_from_json(Json::parse("[[1, 2], [3]]")); }, "equal length");
  expect_user_error([] { tensor_from_json(Json::parse("[[1, 2], 3]")); }, "equal depth");
  expect_user_error([] { tensor_from_json(Json::parse("[1, [2]]")); }, "equal length");
  expect_user_error([] { tensor_from_json(Json("one")); }, "number");
}

}  // namespace
}  // namespace keratin
