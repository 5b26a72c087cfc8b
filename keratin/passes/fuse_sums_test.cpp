#include "keratin/passes/fuse_sums.h"

#include <gtest/gtest.h>

#include "keratin/testing/check_pass.h"

namespace keratin {
namespace {

using testing::check_pass;

Module fuse_all(Module module) {
  return fuse_sums(std::move(module), [](const Node&) { return true; });
}

void expect_unchanged(std::string_view program) { check_pass(fuse_all, program, program); }

TEST(FuseSums, FusesTheSumOfAnOperand) {
  check_pass(fuse_all,
             R"(module(%x: f32[8,4]@gpu:0, %dy: f32[8,3]@gpu:0) {
                  %db = sum(%dy) {axes = [0]}
                  %dw = matmul(%x, %dy) {transpose_a = true}
                  return %dw, %db
                })",
             R"(module(%x: f32[8,4]@gpu:0, %dy: f32[8,3]@gpu:0) {
                  %dw, %db = fused(%x, %dy) {kind = "summed"} do(%0: f32[8,4]@gpu:0, %1: f32[8,3]@gpu:0) {
                    %2 = matmul(%0, %1) {transpose_a = true}
                    %3 = sum(%1) {axes = [0]}
                    yield %2, %3
                  }
                  return %dw, %db
                })");
  // The first factor: the kernel is kept transposed.
  check_pass(fuse_all,
             R"(module(%x: f32[8,4], %dy: f32[8,3]) {
                  %dw = matmul(%dy, %x) {transpose_a = true}
                  %db = sum(%dy) {axes = [0]}
                  return %dw, %db
                })",
             R"(module(%x: f32[8,4], %dy: f32[8,3]) {
                  %dw, %db = fused(%dy, %x) {kind = "summed"} do(%0: f32[8,3], %1: f32[8,4]) {
                    %2 = matmul(%0, %1) {transpose_a = true}
                    %3 = sum(%0) {axes = [0]}
                    yield %2, %3
                  }
                  return %dw, %db
                })");
}

// The sum has two leading axes, the matmul reads them as one.
TEST(FuseSums, SeesThroughViews) {
  check_pass(fuse_all,
             R"(module(%x: bf16[6,4], %dy: bf16[2,3,5]) {
                  %db = sum(%dy) {axes = [0, 1]}
                  %0 = reshape(%dy) {shape = [6, 5]}
                  %dw = matmul(%x, %0) {transpose_a = true}
                  return %dw, %db
                })",
             R"(module(%x: bf16[6,4], %dy: bf16[2,3,5]) {
                  %0 = reshape(%dy) {shape = [6, 5]}
                  %dw, %db = fused(%x, %0) {kind = "summed"} do(%1: bf16[6,4], %2: bf16[6,5]) {
                    %3 = matmul(%1, %2) {transpose_a = true}
                    %4 = sum(%2) {axes = [0]}
                    yield %3, %4
                  }
                  return %dw, %db
                })");
}

TEST(FuseSums, KeepsTheEpilogue) {
  check_pass(fuse_all,
             R"(module(%dy: f32[2,3,4], %w: f32[5,4], %h: f32[2,3,5]) {
                  %dx = fused(%dy, %w, %h) {kind = "epilogue"} do(%0: f32[2,3,4], %1: f32[5,4], %2: f32[2,3,5]) {
                    %3 = constant() {value = f32[] {0}}
                    %4 = matmul(%0, %1) {transpose_b = true}
                    %5 = greater(%2, %3)
                    %6 = select(%5, %4, %3)
                    yield %6
                  }
                  %db = sum(%dx) {axes = [0, 1]}
                  %more = neg(%dx)
                  return %db, %more
                })",
             R"(module(%dy: f32[2,3,4], %w: f32[5,4], %h: f32[2,3,5]) {
                  %dx, %db = fused(%dy, %w, %h) {kind = "summed"} do(%0: f32[2,3,4], %1: f32[5,4], %2: f32[2,3,5]) {
                    %3 = constant() {value = f32[] {0}}
                    %4 = matmul(%0, %1) {transpose_b = true}
                    %5 = greater(%2, %3)
                    %6 = select(%5, %4, %3)
                    %7 = sum(%6) {axes = [0, 1]}
                    yield %6, %7
                  }
                  %more = neg(%dx)
                  return %db, %more
                })");
}

// Of two matmuls that load the operand, the one that reads it: its producer would finish later.
TEST(FuseSums, PrefersAReaderToTheProducer) {
  check_pass(fuse_all,
             R"(module(%dy: f32[8,4], %w: f32[5,4], %x: f32[8,2]) {
                  %dx = matmul(%dy, %w) {transpose_b = true}
                  %db = sum(%dx) {axes = [0]}
                  %dw = matmul(%x, %dx) {transpose_a = true}
                  return %db, %dw
                })",
             R"(module(%dy: f32[8,4], %w: f32[5,4], %x: f32[8,2]) {
                  %dx = matmul(%dy, %w) {transpose_b = true}
                  %dw, %db = fused(%x, %dx) {kind = "summed"} do(%0: f32[8,2], %1: f32[8,5]) {
                    %2 = matmul(%0, %1) {transpose_a = true}
                    %3 = sum(%1) {axes = [0]}
                    yield %2, %3
                  }
                  return %db, %dw
                })");
}

TEST(FuseSums, LeavesOtherSumsAlone) {
  // Of columns, of all, of what is not added up, of whole numbers, of another value.
  expect_unchanged(R"(module(%x: f32[8,4], %dy: f32[8,3]) {
                        %a = sum(%dy) {axes = [1]}
                        %b = sum(%dy) {axes = [0, 1]}
                        %c = sum(%dy) {axes = [0], keepdims = true}
                        %dw = matmul(%x, %dy) {transpose_a = true}
                        return %dw, %a, %b, %c
                      })");
  expect_unchanged(R"(module(%dy: f32[8,3], %w: f32[4,3]) {
                        %db = sum(%dy) {axes = [0]}
                        %dx = matmul(%dy, %w) {transpose_b = true}
                        return %db, %dx
                      })");
  expect_unchanged(R"(module(%x: i32[8,4], %dy: i32[8,3]) {
                        %db = sum(%dy) {axes = [0]}
                        %dw = matmul(%x, %dy) {transpose_a = true}
                        return %dw, %db
                      })");
  expect_unchanged(R"(module(%x: f32[8,4], %dy: f32[8,3], %other: f32[8,3]) {
                        %db = sum(%other) {axes = [0]}
                        %dw = matmul(%x, %dy) {transpose_a = true}
                        return %dw, %db
                      })");
}

// Together they come where the later one is.
TEST(FuseSums, LeavesASumThatIsNeededEarlier) {
  expect_unchanged(R"(module(%x: f32[8,4], %dy: f32[8,3]) {
                        %db = sum(%dy) {axes = [0]}
                        %more = neg(%db)
                        %dw = matmul(%x, %dy) {transpose_a = true}
                        return %dw, %more
                      })");
  // The matmul needs the sum.
  expect_unchanged(R"(module(%dy: f32[8,3]) {
                        %db = sum(%dy) {axes = [0]}
                        %x = add(%dy, %db)
                        %dw = matmul(%x, %dy) {transpose_a = true}
                        return %dw
                      })");
}

TEST(FuseSums, FusesOneSumWithAMatmul) {
  check_pass(fuse_all,
             R"(module(%x: f32[8,4], %dy: f32[8,3]) {
                  %dw = matmul(%x, %dy) {transpose_a = true}
                  %a = sum(%x) {axes = [0]}
                  %b = sum(%dy) {axes = [0]}
                  return %dw, %a, %b
                })",
             R"(module(%x: f32[8,4], %dy: f32[8,3]) {
                  %dw, %a = fused(%x, %dy) {kind = "summed"} do(%0: f32[8,4], %1: f32[8,3]) {
                    %2 = matmul(%0, %1) {transpose_a = true}
                    %3 = sum(%0) {axes = [0]}
                    yield %2, %3
                  }
                  %b = sum(%dy) {axes = [0]}
                  return %dw, %a, %b
                })");
}

// If the backend refuses, nothing changes, or another matmul takes the sum.
TEST(FuseSums, FusesOnlyWhatTheBackendClaims) {
  const std::string_view program = R"(module(%x: f32[8,4], %dy: f32[8,3]) {
                                        %db = sum(%dy) {axes = [0]}
                                        %dw = matmul(%x, %dy) {transpose_a = true}
                                        return %dw, %db
                                      })";
  check_pass([](Module m) { return fuse_sums(std::move(m), [](const Node&) { return false; }); },
             program, program);
  const auto narrow = [](Module m) {
    return fuse_sums(std::move(m), [](const Node& node) { return node.type().shape[0] == 2; });
  };
  check_pass(narrow,
             R"(module(%x: f32[8,4], %y: f32[8,2], %dy: f32[8,3]) {
                  %db = sum(%dy) {axes = [0]}
                  %dw = matmul(%x, %dy) {transpose_a = true}
                  %dv = matmul(%y, %dy) {transpose_a = true}
                  return %dw, %dv, %db
                })",
             R"(module(%x: f32[8,4], %y: f32[8,2], %dy: f32[8,3]) {
                  %dw = matmul(%x, %dy) {transpose_a = true}
                  %dv, %db = fused(%y, %dy) {kind = "summed"} do(%0: f32[8,2], %1: f32[8,3]) {
                    %2 = matmul(%0, %1) {transpose_a = true}
                    %3 = sum(%1) {axes = [0]}
                    yield %2, %3
                  }
                  return %dw, %dv, %db
                })");
}

}  // namespace
}  // namespace keratin
