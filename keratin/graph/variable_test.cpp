#include "keratin/graph/variable.h"

#include <gtest/gtest.h>

#include "keratin/engine/devices.h"
#include "keratin/graph/variable_parts.h"
#include "keratin/tensor/resident_copy.h"
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

// Counts how often it was brought home.
class Elsewhere final : public ResidentCopy {
 public:
  void copy_to_host() override { ++count; }
  int count = 0;
};

TEST(Variable, ComesHomeBeforeItIsReadOrWritten) {
  const Variable v({.name = "v", .shape = {2}});
  const void* place = v.value().raw();
  const auto there = std::make_shared<Elsewhere>();
  add_resident_copy(place, there);
  v.value();
  EXPECT_EQ(there->count, 1);
  v.assign(Tensor::zeros(DType::f32, {2}));
  EXPECT_EQ(there->count, 2);
  remove_resident_copy(place);
}

// So that a model on several devices begins with the weights that it has on one.
TEST(Variable, DividingItTakesNoSeeds) {
  const auto next_seed_after = [](const std::function<void(const Variable&)>& divide) {
    set_random_seed(3);
    const Variable v({.name = "v", .shape = {4}});
    divide(v);
    return next_seed();
  };
  set_logical_devices("cpu", 2);
  const std::vector<Device> devices = keratin::devices();
  const uint64_t expected = next_seed_after([](const Variable&) {});
  EXPECT_EQ(next_seed_after([&](const Variable& v) { mirror(v, devices); }), expected);
  EXPECT_EQ(next_seed_after([&](const Variable& v) { split(v, 0, devices); }), expected);
  set_logical_devices("cpu", 1);
}

}  // namespace
}  // namespace keratin
