#include "keratin/passes/fuse_epilogue.h"

#include <gtest/gtest.h>

#include "keratin/base/text.h"
#include "keratin/ops/registry.h"
#include "keratin/passes/eliminate_dead.h"
#include "keratin/testing/check_pass.h"

namespace keratin {
namespace {

using testing::check_pass;

Module fuse(Module module) { return fuse_epilogue(std::move(module)); }
void expect_not_fused(std::string_view program) { check_pass(fuse, program, program); }

TEST(FuseEpilogue, FusesBiasAndActivation) {
  check_pass(fuse,
             R"(module(%x: f32[4,8], %w: f32[8,3], %b: f32[3]) {
                  %y = matmul(%x, %w) {}
                  %z = add(%y, %b)
                  %r = relu(%z)
                  return %r
                })",
             R"(module(%x: f32[4,8], %w: f32[8,3], %b: f32[3]) {
                  %r = fused(%x, %w, %b) {kind = "epilogue"} do(%0: f32[4,8], %1: f32[8,3], %2: f32[3]) {
                    %3 = matmul(%0, %1) {}
                    %4 = add(%3, %2)
                    %5 = relu(%4)
                    yield %5
                  }
                  return %r
                })");
}

TEST(FuseEpilogue, FusesAResidualAndAScalar) {
  check_pass(fuse,
             R"(module(%x: f32[2,5,5,3], %w: f32[1,1,3,4], %r: f32[2,5,5,4]) {
                  %half = constant() {value = f32[] {0.5}}
                  %y = conv(%x, %w) {}
                  %z = add(%r, %y)
                  %s = mul(%z, %half)
                  return %s
                })",
             R"(module(%x: f32[2,5,5,3], %w: f32[1,1,3,4], %r: f32[2,5,5,4]) {
                  %half = constant() {value = f32[] {0.5}}
                  %s = fused(%x, %w, %r) {kind = "epilogue"} do(%0: f32[2,5,5,3], %1: f32[1,1,3,4], %2: f32[2,5,5,4]) {
                    %3 = constant() {value = f32[] {0.5}}
                    %4 = conv(%0, %1) {}
                    %5 = add(%2, %4)
                    %6 = mul(%5, %3)
                    yield %6
                  }
                  return %s
                })");
}

// A residual block: %s needs %x alone, so it can be over when %c has what it needs, which then adds
// it. The bias of %s stays its own.
TEST(FuseEpilogue, FusesTheSumOfABlockWithItsLastConvolution) {
  check_pass(fuse,
             R"(module(%x: f32[2,5,5,4], %w: f32[1,1,4,4], %b: f32[4]) {
                  %a = conv(%x, %w) {}
                  %c = conv(%a, %w) {}
                  %s = conv(%x, %w) {}
                  %t = add(%s, %b)
                  %y = add(%t, %c)
                  return %y
                })",
             R"(module(%x: f32[2,5,5,4], %w: f32[1,1,4,4], %b: f32[4]) {
                  %a = conv(%x, %w) {}
                  %t = fused(%x, %w, %b) {kind = "epilogue"} do(%0: f32[2,5,5,4], %1: f32[1,1,4,4], %2: f32[4]) {
                    %3 = conv(%0, %1) {}
                    %4 = add(%3, %2)
                    yield %4
                  }
                  %y = fused(%a, %w, %t) {kind = "epilogue"} do(%5: f32[2,5,5,4], %6: f32[1,1,4,4], %7: f32[2,5,5,4]) {
                    %8 = conv(%5, %6) {}
                    %9 = add(%7, %8)
                    yield %9
                  }
                  return %y
                })");
}

// x · sigmoid(x): the matmul is used twice, both times inside.
TEST(FuseEpilogue, FusesAnActivationWithBranches) {
  check_pass(fuse,
             R"(module(%x: f32[4,8], %w: f32[8,3]) {
                  %y = matmul(%x, %w) {}
                  %s = sigmoid(%y)
                  %z = mul(%y, %s)
                  return %z
                })",
             R"(module(%x: f32[4,8], %w: f32[8,3]) {
                  %z = fused(%x, %w) {kind = "epilogue"} do(%0: f32[4,8], %1: f32[8,3]) {
                    %2 = matmul(%0, %1) {}
                    %3 = sigmoid(%2)
                    %4 = mul(%2, %3)
                    yield %4
                  }
                  return %z
                })");
}

// The matmul computes the mask of relu's gradient, too.
TEST(FuseEpilogue, FusesOpsThatOnlyTheEpilogueUses) {
  check_pass(fuse,
             R"(module(%dy: f32[4,8], %w: f32[3,8], %h: f32[4,3]) {
                  %zero = constant() {value = f32[] {0}}
                  %mask = greater(%h, %zero)
                  %dx = matmul(%dy, %w) {transpose_b = true}
                  %r = select(%mask, %dx, %zero)
                  return %r
                })",
             R"(module(%dy: f32[4,8], %w: f32[3,8], %h: f32[4,3]) {
                  %zero = constant() {value = f32[] {0}}
                  %r = fused(%h, %dy, %w) {kind = "epilogue"} do(%0: f32[4,3], %1: f32[4,8], %2: f32[3,8]) {
                    %3 = constant() {value = f32[] {0}}
                    %4 = greater(%0, %3)
                    %5 = matmul(%1, %2) {transpose_b = true}
                    %6 = select(%4, %5, %3)
                    yield %6
                  }
                  return %r
                })");
}

TEST(FuseEpilogue, StopsAtAValueWithOtherUsers) {
  check_pass(fuse,
             R"(module(%x: f32[4,8], %w: f32[8,3], %b: f32[3]) {
                  %y = matmul(%x, %w) {}
                  %z = add(%y, %b)
                  %r = tanh(%z)
                  return %z, %r
                })",
             R"(module(%x: f32[4,8], %w: f32[8,3], %b: f32[3]) {
                  %z = fused(%x, %w, %b) {kind = "epilogue"} do(%0: f32[4,8], %1: f32[8,3], %2: f32[3]) {
                    %3 = matmul(%0, %1) {}
                    %4 = add(%3, %2)
                    yield %4
                  }
                  %r = tanh(%z)
                  return %z, %r
                })");
}

TEST(FuseEpilogue, LeavesOtherThingsAlone) {
  // the result of the matmul is returned, too
  expect_not_fused(R"(module(%x: f32[4,8], %w: f32[8,3]) {
             %y = matmul(%x, %w) {}
             %r = relu(%y)
             return %y, %r
           })");
  // one value per row
  expect_not_fused(R"(module(%x: f32[4,8], %w: f32[8,3], %b: f32[4,1]) {
             %y = matmul(%x, %w) {}
             %z = add(%y, %b)
             return %z
           })");
  // the result grows, or has another type
  expect_not_fused(R"(module(%x: f32[4,8], %w: f32[8,3], %b: f32[2,4,3]) {
             %y = matmul(%x, %w) {}
             %z = add(%y, %b)
             return %z
           })");
  expect_not_fused(R"(module(%x: f32[4,8], %w: f32[8,3], %b: f32[3]) {
             %y = matmul(%x, %w) {}
             %z = greater(%y, %b)
             return %z
           })");
  // integers
  expect_not_fused(R"(module(%x: i32[4,8], %w: i32[8,3], %b: i32[3]) {
             %y = matmul(%x, %w) {}
             %z = add(%y, %b)
             return %z
           })");
}

// Of matmuls that are added up, each one also adds the sum of those before it.
TEST(FuseEpilogue, AddsTheResultOfAnotherMatmul) {
  check_pass(fuse,
             R"(module(%x: f32[4,8], %w: f32[8,3], %h: f32[4,5], %u: f32[5,3]) {
                  %a = matmul(%x, %w) {}
                  %b = matmul(%h, %u) {}
                  %c = matmul(%h, %u) {}
                  %y = add(%a, %b)
                  %z = add(%y, %c)
                  %r = relu(%z)
                  return %r
                })",
             R"(module(%x: f32[4,8], %w: f32[8,3], %h: f32[4,5], %u: f32[5,3]) {
                  %a = matmul(%x, %w) {}
                  %y = fused(%h, %u, %a) {kind = "epilogue"} do(%0: f32[4,5], %1: f32[5,3], %2: f32[4,3]) {
                    %3 = matmul(%0, %1) {}
                    %4 = add(%2, %3)
                    yield %4
                  }
                  %r = fused(%h, %u, %y) {kind = "epilogue"} do(%5: f32[4,5], %6: f32[5,3], %7: f32[4,3]) {
                    %8 = matmul(%5, %6) {}
                    %9 = add(%7, %8)
                    %10 = relu(%9)
                    yield %10
                  }
                  return %r
                })");
  // A matmul with another user is not fused.
  check_pass(fuse,
             R"(module(%x: f32[4,8], %w: f32[8,3]) {
                  %a = matmul(%x, %w) {}
                  %b = matmul(%x, %w) {}
                  %z = add(%a, %b)
                  return %z, %b
                })",
             R"(module(%x: f32[4,8], %w: f32[8,3]) {
                  %b = matmul(%x, %w) {}
                  %z = fused(%x, %w, %b) {kind = "epilogue"} do(%0: f32[4,8], %1: f32[8,3], %2: f32[4,3]) {
                    %3 = matmul(%0, %1) {}
                    %4 = add(%3, %2)
                    yield %4
                  }
                  return %z, %b
                })");
}

// The two sides of a residual block: each matmul is followed by ops of its own.
TEST(FuseEpilogue, FusesTheSumWithTheLaterSide) {
  check_pass(fuse,
             R"(module(%x: f32[4,8], %w: f32[8,3], %h: f32[4,5], %u: f32[5,3], %s: f32[3]) {
                  %a = matmul(%x, %w) {}
                  %b = mul(%a, %s)
                  %c = matmul(%h, %u) {}
                  %d = mul(%c, %s)
                  %y = add(%b, %d)
                  %r = relu(%y)
                  return %r
                })",
             R"(module(%x: f32[4,8], %w: f32[8,3], %h: f32[4,5], %u: f32[5,3], %s: f32[3]) {
                  %b = fused(%x, %w, %s) {kind = "epilogue"} do(%0: f32[4,8], %1: f32[8,3], %2: f32[3]) {
                    %3 = matmul(%0, %1) {}
                    %4 = mul(%3, %2)
                    yield %4
                  }
                  %r = fused(%h, %u, %s, %b) {kind = "epilogue"} do(%5: f32[4,5], %6: f32[5,3], %7: f32[3], %8: f32[4,3]) {
                    %9 = matmul(%5, %6) {}
                    %10 = mul(%9, %7)
                    %11 = add(%8, %10)
                    %12 = relu(%11)
                    yield %12
                  }
                  return %r
                })");
}

// As many members as a group may have are looked at, not all of the users.
TEST(FuseEpilogue, TakesLittleTimeForAMatmulWithManyUsers) {
  std::string program = "module(%x: f32[4,8], %w: f32[8,3]) { %y = matmul(%x, %w) {}\n";
  std::string results;
  for (int i = 0; i < 5000; ++i) {
    program += text("%u", i, " = relu(%y)\n");
    results += text(i == 0 ? "%u" : ", %u", i);
  }
  program += text("return ", results, " }");
  check_pass(fuse, program, program);
}

// What others use as well is computed once, and read.
TEST(FuseEpilogue, ReadsValuesThatHaveOtherUsers) {
  const auto check = [](std::string_view other, std::string_view results) {
    check_pass(fuse,
               text(R"(module(%x: f32[4,8], %w: f32[8,3], %h: f32[4,3]) {
                         %s = exp(%h) )",
                    other, R"(
                         %y = matmul(%x, %w) {}
                         %z = add(%y, %s)
                         return )",
                    results, "}"),
               text(R"(module(%x: f32[4,8], %w: f32[8,3], %h: f32[4,3]) {
                         %s = exp(%h) )",
                    other, R"(
                         %z = fused(%x, %w, %s) {kind = "epilogue"} do(%0: f32[4,8], %1: f32[8,3], %2: f32[4,3]) {
                           %3 = matmul(%0, %1) {}
                           %4 = add(%3, %2)
                           yield %4
                         }
                         return )",
                    results, "}"));
  };
  check("%t = neg(%s)", "%z, %t");
  check("", "%z, %s");
}

// Attention: each matmul reads the heads without a transpose, also an input that another one reads,
// and writes its result in the layout that the next one reads.
TEST(FuseEpilogue, ReadsAndWritesThroughTransposes) {
  check_pass([](Module m) { return eliminate_dead(fuse(std::move(m))); },
             R"(module(%q: f32[2,5,3,4], %k: f32[2,5,3,4]) {
                  %qt = transpose(%q) {permutation = [0,2,1,3]}
                  %kt = transpose(%k) {permutation = [0,2,1,3]}
                  %s = matmul(%qt, %kt) {transpose_b = true}
                  %p = softmax(%s) {axis = 3}
                  %o = matmul(%p, %kt) {}
                  %r = transpose(%o) {permutation = [0,2,1,3]}
                  return %r
                })",
             R"(module(%q: f32[2,5,3,4], %k: f32[2,5,3,4]) {
                  %s = fused(%q, %k) {kind = "epilogue"} do(%0: f32[2,5,3,4], %1: f32[2,5,3,4]) {
                    %2 = transpose(%0) {permutation = [0,2,1,3]}
                    %3 = transpose(%1) {permutation = [0,2,1,3]}
                    %4 = matmul(%2, %3) {transpose_b = true}
                    yield %4
                  }
                  %p = softmax(%s) {axis = 3}
                  %r = fused(%p, %k) {kind = "epilogue"} do(%0: f32[2,3,5,5], %1: f32[2,5,3,4]) {
                    %2 = transpose(%1) {permutation = [0,2,1,3]}
                    %3 = matmul(%0, %2) {}
                    %4 = transpose(%3) {permutation = [0,2,1,3]}
                    yield %4
                  }
                  return %r
                })");
}

TEST(FuseEpilogue, LeavesTransposesThatScatterRows) {
  // neither rows nor columns of the operand, or of the result, lie together
  expect_not_fused(R"(module(%x: f32[2,4,3], %w: f32[4,5]) {
             %t = transpose(%x) {permutation = [2,0,1]}
             %y = matmul(%t, %w) {}
             return %y
           })");
  expect_not_fused(R"(module(%x: f32[3,2,4], %w: f32[4,5]) {
             %y = matmul(%x, %w) {}
             %t = transpose(%y) {permutation = [0,2,1]}
             return %t
           })");
  // the result is seen as it is, too
  expect_not_fused(R"(module(%x: f32[3,2,4], %w: f32[4,5]) {
             %y = matmul(%x, %w) {}
             %t = transpose(%y) {permutation = [1,0,2]}
             return %t, %y
           })");
}

// The sum of gradients of two devices: each computes its own at once.
TEST(FuseEpilogue, DoesNotWaitForOtherDevices) {
  constexpr const char* program = R"(module(%x: f32[4,8], %w: f32[8,3], %g: f32[4,3]) {
                                       %n = transfer(%g) {device = cpu:1}
                                       %o = neg(%n)
                                       %t = transfer(%o) {device = cpu:0}
                                       %y = matmul(%x, %w) {}
                                       %z = add(%y, %t)
                                       return %z
                                     })";
  Module module = ops::parse(program);
  EXPECT_EQ(text(fuse_epilogue(ops::parse(program))), text(module));
  EXPECT_NE(text(fuse_epilogue(ops::parse(program), /*side_by_side=*/false)).find("fused"),
            std::string::npos);
}

}  // namespace
}  // namespace keratin
