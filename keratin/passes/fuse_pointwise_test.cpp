#include "keratin/passes/fuse_pointwise.h"

#include <gtest/gtest.h>

#include "keratin/base/text.h"
#include "keratin/ir/node.h"
#include "keratin/ops/registry.h"
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
TEST(FusePointwise, StartsANewLoopAfterAReduction) {
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

TEST(FusePointwise, NeverReachesAcrossAUserOfALoop) {
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

TEST(FusePointwise, MakesSeveralLoopsOfALongChain) {
  std::string program = "module(%x: f32[8]) { %a0 = exp(%x)\n";
  for (int i = 1; i < 100; ++i) program += text("%a", i, " = exp(%a", i - 1, ")\n");
  const Module module = fuse_pointwise(ops::parse(program + "return %a99 }"));
  std::vector<size_t> sizes;
  for (const auto& node : module.block().nodes()) sizes.push_back(node->region().nodes().size());
  EXPECT_EQ(sizes, std::vector<size_t>({48, 48, 4}));
}

TEST(FusePointwise, SeparatesDevices) {
  constexpr auto program = R"(module(%x: f32[4]) {
                                %a = exp(%x)
                                %b = neg(%a) : f32[4]@gpu:0
                                return %b
                              })";
  check_pass(fuse_pointwise, program, program);
}

TEST(FusePointwise, GivesALoopReductionsOfOneKind) {
  check_pass(fuse_pointwise,
             R"(module(%x: f32[4,8]) {
                  %y = exp(%x)
                  %s = sum(%y) {axes = [0]}
                  %t = sum(%y) {axes = [1]}
                  return %s, %t
                })",
             R"(module(%x: f32[4,8]) {
                  %y, %s = fused(%x) do(%0: f32[4,8]) {
                    %1 = exp(%0)
                    %2 = sum(%1) {axes = [0]}
                    yield %1, %2
                  }
                  %t = sum(%y) {axes = [1]}
                  return %s, %t
                })");
}

TEST(FusePointwise, KeepsLoopsWithDifferentReductionsApart) {
  check_pass(fuse_pointwise,
             R"(module(%x: f32[4,8], %z: f32[4,8]) {
                  %a = exp(%x)
                  %s = sum(%a) {axes = [0]}
                  %b = log(%z)
                  %t = sum(%b) {axes = [1]}
                  %c = add(%a, %b)
                  return %s, %t, %c
                })",
             R"(module(%x: f32[4,8], %z: f32[4,8]) {
                  %b, %t = fused(%z) do(%0: f32[4,8]) {
                    %1 = log(%0)
                    %2 = sum(%1) {axes = [1]}
                    yield %1, %2
                  }
                  %s, %c = fused(%x, %b) do(%0: f32[4,8], %1: f32[4,8]) {
                    %2 = exp(%0)
                    %3 = sum(%2) {axes = [0]}
                    %4 = add(%2, %1)
                    yield %3, %4
                  }
                  return %s, %t, %c
                })");
}

// Constants become part of the loop, which then has no inputs.
TEST(FusePointwise, KeepsALoopOfConstantsOnItsDevice) {
  Module m = ops::parse(R"(module(%x: f32[5,2]) {
    %zero = constant() {value = f32[] {0}}
    %a = broadcast_to(%zero) {shape = [5,2]}
    %b = add(%a, %zero)
    return %b
  })");
  const Device device{Device::Kind::gpu, 3};
  for (const auto& parameter : m.block().parameters()) parameter->place(device);
  for (const auto& node : m.block().nodes()) node->place(device);
  m = fuse_pointwise(std::move(m));
  const Node& loop = m.block().results[0].node();
  EXPECT_EQ(loop.name(), "fused");
  EXPECT_EQ(loop.input_count(), 0U);
  EXPECT_EQ(loop.device(), device);
  EXPECT_EQ(loop.type().device, device);
}

}  // namespace
}  // namespace keratin
