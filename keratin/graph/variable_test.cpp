#include "keratin/graph/variable.h"
#include "keratin/graph/next_seed.h"

#include <gtest/gtest.h>

#include "keratin/engine/devices.h"
#include "keratin/graph/variable_shards.h"
#include "keratin/tensor/resident_copy.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

TEST(Variable, TakesOverATensorWithoutACopy) {
  const Variable v({.name = "v", .shape = {2}});
  const Tensor given = Tensor::of<float>(DType::f32, {2}, {3, 4});
  v.take(given);
  EXPECT_EQ(v.value().raw(), given.raw());
}

TEST(Variable, KeepsItsAddressOnceItWasRead) {
  const Variable v({.name = "v", .shape = {2}});
  const void* address = v.value().raw();  // a program may hold it
  v.take(Tensor::of<float>(DType::f32, {2}, {3, 4}));
  EXPECT_EQ(v.value().raw(), address);
  EXPECT_EQ(v.value().at(1), 4);
}

TEST(Variable, TakeConvertsAnotherDtype) {
  const Variable v({.name = "v", .shape = {2}});
  v.take(Tensor::of<int32_t>(DType::i32, {2}, {3, 4}));
  EXPECT_EQ(v.value().dtype(), DType::f32);
  EXPECT_EQ(v.value().at(0), 3);
  testing::expect_user_error([&] { v.take(Tensor::zeros(DType::f32, {3})); }, {"[2]", "[3]"});
}

// Counts how often it was copied to the host.
class CountedCopy final : public ResidentCopy {
 public:
  void copy_to_host() override { ++count; }
  int count = 0;
};

TEST(Variable, CopiesToTheHostBeforeItIsReadOrWritten) {
  const Variable v({.name = "v", .shape = {2}});
  const void* address = v.value().raw();
  const auto there = std::make_shared<CountedCopy>();
  add_resident_copy(address, there);
  v.value();
  EXPECT_EQ(there->count, 1);
  v.assign(Tensor::zeros(DType::f32, {2}));
  EXPECT_EQ(there->count, 2);
  remove_resident_copy(address);
}

// So a model on several devices begins with the weights that it has on one.
TEST(Variable, ShardingDrawsNoSeeds) {
  const auto next_seed_after = [](const std::function<void(const Variable&)>& store) {
    set_random_seed(3);
    const Variable v({.name = "v", .shape = {4}});
    store(v);
    return next_seed();
  };
  set_logical_devices("cpu", 2);
  const std::vector<Device> devices = keratin::devices();
  const uint64_t expected = next_seed_after([](const Variable&) {});
  EXPECT_EQ(next_seed_after([&](const Variable& v) { mirror_variable(v, devices); }), expected);
  EXPECT_EQ(next_seed_after([&](const Variable& v) { shard_variable(v, 0, devices); }), expected);
  set_logical_devices("cpu", 1);
}

}  // namespace
}  // namespace keratin
