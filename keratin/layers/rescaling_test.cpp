#include "keratin/layers/preprocessing.h"

#include "keratin/testing/check_layer.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

TEST(Rescaling, RefusesScalesThatAreNotNumbers) {
  testing::expect_user_error([] { Rescaling({.scale = "half"}); }, "number");
}

}  // namespace
}  // namespace keratin
