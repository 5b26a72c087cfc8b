#include "keratin/passes/rematerialize.h"

#include <gtest/gtest.h>

#include "keratin/testing/check_pass.h"

namespace keratin {
namespace {

using testing::check_pass;

// The second loop reads %x anyway; %e need not be there.
TEST(Rematerialize, ComputesIntermediateValuesAgain) {
  check_pass(rematerialize,
             R"(module(%x: f32[8,8]@gpu:0, %d: f32[8,8]@gpu:0, %w: f32[8,8]@gpu:0) {
                  %y, %e = fused(%x) do(%0: f32[8,8]@gpu:0) {
                    %1 = erf(%0)
                    %2 = mul(%0, %1)
                    yield %2, %1
                  }
                  %p = matmul(%y, %w)
                  %dx = fused(%e, %d, %x) do(%3: f32[8,8]@gpu:0, %4: f32[8,8]@gpu:0, %5: f32[8,8]@gpu:0) {
                    %6 = mul(%3, %4)
                    %7 = add(%6, %5)
                    yield %7
                  }
                  return %p, %dx
                })",
             R"(module(%x: f32[8,8]@gpu:0, %d: f32[8,8]@gpu:0, %w: f32[8,8]@gpu:0) {
                  %y, %e = fused(%x) do(%0: f32[8,8]@gpu:0) {
                    %1 = erf(%0)
                    %2 = mul(%0, %1)
                    yield %2, %1
                  }
                  %p = matmul(%y, %w)
                  %dx = fused(%x, %d) do(%3: f32[8,8]@gpu:0, %4: f32[8,8]@gpu:0) {
                    %5 = erf(%3)
                    %6 = mul(%5, %4)
                    %7 = add(%6, %3)
                    yield %7
                  }
                  return %p, %dx
                })");
}

// Nothing is won where a value is in memory anyway, or is made of more than it is.
TEST(Rematerialize, ReadsValuesThatOthersNeedOrThatAreSmall) {
  const std::string_view needed =
      R"(module(%x: f32[8,8]@gpu:0, %d: f32[8,8]@gpu:0) {
           %y = fused(%x) do(%0: f32[8,8]@gpu:0) {
             %1 = erf(%0)
             %2 = mul(%0, %1)
             yield %2
           }
           %p = matmul(%y, %y)
           %dx = fused(%y, %d) do(%3: f32[8,8]@gpu:0, %4: f32[8,8]@gpu:0) {
             %5 = mul(%3, %4)
             %6 = neg(%5)
             yield %6
           }
           return %p, %dx
         })";
  check_pass(rematerialize, needed, needed);
  const std::string_view small =
      R"(module(%x: f32[8,8]@gpu:0, %z: f32[8,8]@gpu:0, %d: f32[8,8]@gpu:0) {
           %y, %m = fused(%x, %z) do(%0: f32[8,8]@gpu:0, %1: f32[8,8]@gpu:0) {
             %2 = mul(%0, %1)
             %3 = less(%0, %2)
             yield %2, %3
           }
           %p = matmul(%y, %y)
           %dx = fused(%m, %d) do(%4: bool[8,8]@gpu:0, %5: f32[8,8]@gpu:0) {
             %6 = neg(%5)
             %7 = select(%4, %6, %5)
             yield %7
           }
           return %p, %dx
         })";
  check_pass(rematerialize, small, small);
}

}  // namespace
}  // namespace keratin
