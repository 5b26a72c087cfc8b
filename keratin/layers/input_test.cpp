#include "keratin/graph/input.h"

#include <gtest/gtest.h>

#include "keratin/testing/check_layer.h"

namespace keratin {
namespace {

TEST(InputLayer, BehavesAsInKeras) { testing::check_layer("InputLayer"); }

}  // namespace
}  // namespace keratin
