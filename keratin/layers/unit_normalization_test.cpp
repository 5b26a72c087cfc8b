#include "keratin/layers/normalizations.h"

#include "keratin/graph/input.h"
#include "keratin/testing/check_layer.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;

TEST(UnitNormalization, KeepsZeros) {
  const Tensor zeros = Tensor::zeros(DType::f32, {2, 3});
  EXPECT_EQ(Tensor(run_layer(*UnitNormalization(), {{MaskedTensor{zeros}}, {}}).outputs), zeros);
}

TEST(UnitNormalization, RefusesWrongAxes) {
  expect_user_error([] { UnitNormalization({.axis = 2})(Input({4})); },
                    {"Axis 2 is out of bounds", "(None, 4)"});
}

}  // namespace
}  // namespace keratin
