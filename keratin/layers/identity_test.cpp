#include "keratin/layers/identity.h"

#include <gtest/gtest.h>

#include "keratin/testing/check_layer.h"

namespace keratin {
namespace {

TEST(Identity, BehavesAsInKeras) { testing::check_layer("Identity"); }

}  // namespace
}  // namespace keratin
