#include "keratin/passes/fuse_pointwise.h"

#include <gtest/gtest.h>

#include "keratin/testing/check_pass.h"

namespace keratin {
namespace {

using testing::check_pass;

TEST(FusePointwise, MergesABiasAndAnActivation) {
  check_pass(fuse_pointwise,
             R"(module(%x: f32[4,8], %b: f32[8]) {
                  %y = add(%x, %b)
                  %z = relu(%y)
                  return %z
                })",
             R"(module(%x: f32[4,8], %b: f32[8]) {
                  %z = fused(%x, %b) do(%0: f32[4,8], %1: f32[8]) {
                    %2 = add(%0, %1)
                    %3 = relu(%2)
                    yield %3
                  }
                  return %z
                })");
}

TEST(FusePointwise, CopiesScalarConstantsIntoTheLoop) {
  check_pass(fuse_pointwise,
             R"(module(%x: f32[8]) {
                  %two = constant() {value = f32[] {2}}
                  %y = mul(%x, %two)
                  %z = exp(%y)
                  return %z
                })",
             R"(module(%x: f32[8]) {
                  %two = constant() {value = f32[] {2}}
                  %z = fused(%x) do(%0: f32[8]) {
                    %1 = constant() {value = f32[] {2}}
                    %2 = mul(%0, %1)
                    %3 = exp(%2)
                    yield %3
                  }
                  return %z
                })");
}

// An optimizer's update of one weight: three results of one loop.
TEST(FusePointwise, KeepsSeveralResultsInOneLoop) {
  check_pass(fuse_pointwise,
             R"(module(%g: f32[8], state %m: f32[8], state %w: f32[8]) {
                  %a = add(%m, %g)
                  %b = sub(%w, %a)
                  update %m = %a
                  update %w = %b
                  return
                })",
             R"(module(%g: f32[8], state %m: f32[8], state %w: f32[8]) {
                  %a, %b = fused(%m, %g, %w) do(%0: f32[8], %1: f32[8], %2: f32[8]) {
                    %3 = add(%0, %1)
                    %4 = sub(%2, %3)
                    yield %3, %4
                  }
                  update %m = %a
                  update %w = %b
                  return
                })");
}

TEST(FusePointwise, EndsALoopWithItsReduction) {
  check_pass(fuse_pointwise,
             R"(module(%x: f32[4,8]) {
                  %y = exp(%x)
                  %s = sum(%y) {axes = [0]}
                  return %y, %s
                })",
             R"(module(%x: f32[4,8]) {
                  %y, %s = fused(%x) do(%0: f32[4,8]) {
                    %1 = exp(%0)
                    %2 = sum(%1) {axes = [0]}
                    yield %1, %2
                  }
                  return %y, %s
                })");
}

// What needs the finished reduction is another loop: a softmax is two.
TEST(FusePointwise, StartsAgainAfterAReduction) {
  check_pass(fuse_pointwise,
             R"(module(%x: f32[4,8]) {
                  %e = exp(%x)
                  %s = sum(%e) {axes = [1], keepdims = true}
                  %y = div(%e, %s)
                  %z = neg(%y)
                  return %z
                })",
             R"(module(%x: f32[4,8]) {
                  %e, %s = fused(%x) do(%0: f32[4,8]) {
                    %1 = exp(%0)
                    %2 = sum(%1) {axes = [1], keepdims = true}
                    yield %1, %2
                  }
                  %z = fused(%e, %s) do(%0: f32[4,8], %1: f32[4,1]) {
                    %2 = div(%0, %1)
                    %3 = neg(%2)
                    yield %3
                  }
                  return %z
                })");
}

TEST(FusePointwise, LeavesAMiddleReductionAlone) {
  constexpr auto program = R"(module(%x: f32[4,8,2]) {
                                %y = exp(%x)
                                %s = sum(%y) {axes = [1]}
                                return %s
                              })";
  check_pass(fuse_pointwise, program, program);
}

TEST(FusePointwise, NeverReachesAcrossWhatUsesALoop) {
  // %m needs %a, and %c needs %m: joining %a and %c in one loop would be a circle.
  constexpr auto program = R"(module(%x: f32[4,4]) {
                                %a = exp(%x)
                                %m = matmul(%a, %a)
                                %c = add(%a, %m)
                                return %c
                              })";
  check_pass(fuse_pointwise, program, program);
}

TEST(FusePointwise, SeparatesShapes) {
  constexpr auto program = R"(module(%x: f32[4,4], %b: f32[4]) {
                                %a = exp(%b)
                                %c = add(%x, %a)
                                return %c
                              })";
  check_pass(fuse_pointwise, program, program);
}

}  // namespace
}  // namespace keratin
