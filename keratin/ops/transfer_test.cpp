#include "keratin/ops/transfer.h"

#include <gtest/gtest.h>

#include "keratin/autodiff/gradients.h"
#include "keratin/base/text.h"
#include "keratin/engine/devices.h"
#include "keratin/ops/reduce.h"
#include "keratin/testing/check_op.h"

namespace keratin::ops {
namespace {

constexpr Device other_cpu{Device::Kind::cpu, 1};

TEST(Transfer, CopiesToTheDevice) {
  set_logical_devices("cpu", 2);
  for (DType dtype : all_dtypes)
    testing::check_op({.name = text("transfer ", dtype),
                       .inputs = {{dtype, {3, 4}}},
                       .build = [](const Values& in) { return Values{transfer(in[0], other_cpu)}; },
                       .gradient = dtype == DType::f32});
  set_logical_devices("cpu", 1);
}

TEST(Transfer, TransfersTheGradientBack) {
  Module module;
  const Value x = module.input({DType::f32, {3}}, "x");
  const Value y = transfer(x, other_cpu);
  EXPECT_EQ(y.type().device, other_cpu);
  EXPECT_EQ(sum(y).type().device, other_cpu);
  EXPECT_EQ(gradients(sum(y), {x})[0].type().device, x.type().device);
}

}  // namespace
}  // namespace keratin::ops
