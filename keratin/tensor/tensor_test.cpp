#include "keratin/tensor/tensor.h"

#include <gtest/gtest.h>

#include <cmath>

#include "keratin/base/text.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;

TEST(Tensor, HoldsEveryDType) {
  for (DType dtype : all_dtypes) {
    const Tensor tensor = Tensor::of<double>(dtype, {2, 2}, {0, 1, 0, 1});
    EXPECT_EQ(tensor.to_vector(), std::vector<double>({0, 1, 0, 1})) << dtype;
    EXPECT_EQ(tensor.bytes(), 4 * size_of(dtype));
    EXPECT_EQ(Tensor::zeros(dtype, {3}).to_vector<int>(), std::vector<int>({0, 0, 0}));
    EXPECT_EQ(Tensor::full(dtype, {}, 1).at(0), 1);
    EXPECT_EQ(reinterpret_cast<size_t>(tensor.raw()) % 64, 0) << "not aligned to a cache line";
  }
}

TEST(Tensor, CopiesShareAndClonesDoNot) {
  Tensor tensor = Tensor::zeros(DType::f32, {4});
  const Tensor shared = tensor.reshape({2, 2}), own = tensor.clone();
  tensor.set(3, 7);
  EXPECT_EQ(shared.at(3), 7);
  EXPECT_EQ(own.at(3), 0);
  EXPECT_EQ(tensor.cast(DType::f32).raw(), tensor.raw());
  EXPECT_NE(tensor.cast(DType::f64).raw(), tensor.raw());
}

TEST(Tensor, EqualityAndHashAreByBits) {
  const auto of = [](double value) { return Tensor::scalar(DType::f32, value); };
  EXPECT_EQ(of(NAN), of(NAN));
  EXPECT_NE(of(0.0), of(-0.0));
  EXPECT_NE(of(1), Tensor::scalar(DType::f64, 1));
  EXPECT_NE(of(1), Tensor::full(DType::f32, {1}, 1));
  EXPECT_NE(Tensor(), of(0));
  EXPECT_EQ(Tensor(), Tensor());
  EXPECT_EQ(of(2).hash(), of(2).hash());
  EXPECT_NE(of(2).hash(), of(3).hash());
  EXPECT_EQ(Tensor().hash(), Tensor().hash());
  EXPECT_EQ(Tensor::zeros(DType::f32, {0}), Tensor::zeros(DType::f32, {0}));
}

TEST(Tensor, ExactTextHasEveryDigitThatMatters) {
  EXPECT_EQ(exact_text(Tensor::of<double>(DType::f32, {2, 2}, {1, 0.1, NAN, -INFINITY})),
            "f32[2,2] {1, 0.1, nan, -inf}");
  EXPECT_EQ(exact_text(Tensor({false, true})), "bool[2] {false, true}");
  EXPECT_EQ(exact_text(Tensor({int8_t{-100}})), "i8[1] {-100}");
  EXPECT_EQ(exact_text(Tensor::zeros(DType::u8, {0})), "u8[0] {}");
}

TEST(Tensor, RefusesWhatDoesNotFit) {
  const Tensor tensor = Tensor::zeros(DType::f32, {2, 3});
  expect_user_error([&] { tensor.reshape({4}); }, {"reshape", "[2,3]", "[4]"});
  expect_user_error([&] { tensor.at(6); }, {"position 6", "[2,3]"});
  expect_user_error([&] { tensor.at(-1); }, "position -1");
  expect_user_error([&] { Tensor(tensor).set(6, 0); }, "position 6");
  expect_user_error([&] { tensor.data<double>(); }, {"f64", "f32"});
  expect_user_error([] { Tensor::of<int>(DType::f32, {2}, {1, 2, 3}); }, {"[2]", "2", "3"});
  expect_user_error([] { Tensor(DType::f32, {unknown}); }, "not known");
  expect_user_error([] { Tensor(DType::f32, {1 << 30, 1 << 30}); }, "too many");
  expect_user_error([] { Tensor(DType::f64, {3}, Buffer::zeros(23)); }, {"24", "23"});
}

TEST(Tensor, MemoryThatIsNotThereIsABackendError) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer's allocator stops the program instead";
#endif
  EXPECT_THROW(Tensor(DType::f64, {int64_t{1} << 47}), BackendError);
}

TEST(Buffer, WrapsMemoryOfOthersAndKeepsItAlive) {
  auto owner = std::make_shared<std::vector<float>>(4, 1.5F);
  std::weak_ptr<std::vector<float>> watch = owner;
  {
    const Tensor tensor(DType::f32, {4}, Buffer::wrap({owner, owner->data()}, 16));
    owner.reset();
    EXPECT_FALSE(watch.expired());
    EXPECT_EQ(tensor.at(2), 1.5);
  }
  EXPECT_TRUE(watch.expired());
}

}  // namespace
}  // namespace keratin
