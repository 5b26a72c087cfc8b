#include "keratin/graph/variable.h"

#include <gtest/gtest.h>

#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

TEST(Variable, TakesATensorThatNobodyElseHolds) {
  const Variable v({.name = "v", .shape = {2}});
  const Tensor given = Tensor::of<float>(DType::f32, {2}, {3, 4});
  v.take(given);
  EXPECT_EQ(v.value().raw(), given.raw());
}

TEST(Variable, KeepsItsPlaceOnceItWasSeen) {
  const Variable v({.name = "v", .shape = {2}});
  const void* place = v.value().raw();  // a program may hold it
  v.take(Tensor::of<float>(DType::f32, {2}, {3, 4}));
  EXPECT_EQ(v.value().raw(), place);
  EXPECT_EQ(v.value().at(1), 4);
}

TEST(Variable, ConvertsWhatIsNotItsOwnKind) {
  const Variable v({.name = "v", .shape = {2}});
  v.take(Tensor::of<int32_t>(DType::i32, {2}, {3, 4}));
  EXPECT_EQ(v.value().dtype(), DType::f32);
  EXPECT_EQ(v.value().at(0), 3);
  testing::expect_user_error([&] { v.take(Tensor::zeros(DType::f32, {3})); }, {"[2]", "[3]"});
}

}  // namespace
}  // namespace keratin
