#include "keratin/passes/fold_norms.h"

#include <gtest/gtest.h>

#include "keratin/passes/eliminate_dead.h"
#include "keratin/testing/check_pass.h"

namespace keratin {
namespace {

using testing::check_pass;

Module fold_and_clean(Module module) { return eliminate_dead(fold_norms(std::move(module))); }
void expect_norm_stays(std::string_view program) { check_pass(fold_and_clean, program, program); }

TEST(FoldNorms, FoldsIntoTheFilterOfAConvolution) {
  check_pass(fold_and_clean,
             R"(module(%x: f32[1,4,4,2], state %w: f32[3,3,2,5], state %m: f32[5], state %v: f32[5],
                       state %g: f32[5], state %o: f32[5]) {
                  %y = conv(%x, %w) {padding = "same"}
                  %n = batch_norm_inference(%y, %m, %v, %g, %o) {axis = 3, epsilon = 0.001, scale = true, offset = true}
                  return %n
                })",
             R"(module(%x: f32[1,4,4,2], state %w: f32[3,3,2,5], state %m: f32[5], state %v: f32[5],
                       state %g: f32[5], state %o: f32[5]) {
                  %e = constant() {value = f32[] {0.001}}
                  %a = add(%v, %e)
                  %r = rsqrt(%a)
                  %s = mul(%r, %g)
                  %ms = mul(%m, %s)
                  %neg = neg(%ms)
                  %b = add(%o, %neg)
                  %ws = mul(%w, %s)
                  %y = conv(%x, %ws) {padding = "same"}
                  %z = add(%y, %b)
                  return %z
                })");
}

// Each replica scales its copy of the weights, as one device scales the weights.
TEST(FoldNorms, FoldsIntoTheCopiesOfReplicas) {
  check_pass(fold_and_clean,
             R"(module(%x: f32[2,4], state %w: f32[4,5], state %m: f32[5], state %v: f32[5]) {
                  %y0 = matmul(%x, %w)
                  %n0 = batch_norm_inference(%y0, %m, %v) {axis = 1, epsilon = 0.001}
                  %x1 = transfer(%x) {device = gpu:1} : f32[2,4]@gpu:1
                  %w1 = transfer(%w) {device = gpu:1} : f32[4,5]@gpu:1
                  %m1 = transfer(%m) {device = gpu:1} : f32[5]@gpu:1
                  %v1 = transfer(%v) {device = gpu:1} : f32[5]@gpu:1
                  %y1 = matmul(%x1, %w1)
                  %n1 = batch_norm_inference(%y1, %m1, %v1) {axis = 1, epsilon = 0.001}
                  return %n0, %n1
                })",
             R"(module(%x: f32[2,4], state %w: f32[4,5], state %m: f32[5], state %v: f32[5]) {
                  %e0 = constant() {value = f32[] {0.001}}
                  %a0 = add(%v, %e0)
                  %s0 = rsqrt(%a0)
                  %ms0 = mul(%m, %s0)
                  %b0 = neg(%ms0)
                  %ws0 = mul(%w, %s0)
                  %y0 = matmul(%x, %ws0)
                  %n0 = add(%y0, %b0)
                  %x1 = transfer(%x) {device = gpu:1} : f32[2,4]@gpu:1
                  %w1 = transfer(%w) {device = gpu:1} : f32[4,5]@gpu:1
                  %m1 = transfer(%m) {device = gpu:1} : f32[5]@gpu:1
                  %v1 = transfer(%v) {device = gpu:1} : f32[5]@gpu:1
                  %e1 = constant() {value = f32[] {0.001}}
                  %a1 = add(%v1, %e1)
                  %s1 = rsqrt(%a1)
                  %ms1 = mul(%m1, %s1)
                  %b1 = neg(%ms1)
                  %ws1 = mul(%w1, %s1)
                  %y1 = matmul(%x1, %ws1)
                  %n1 = add(%y1, %b1)
                  return %n0, %n1
                })");
}

// Each of two norms would keep weights of its own, on whichever devices they run.
TEST(FoldNorms, LeavesWeightsWhoseCopyIsScaledOtherwise) {
  check_pass(
      fold_and_clean,
      R"(module(%x: f32[2,4], state %w: f32[4,5], state %m: f32[5], state %v: f32[5], state %u: f32[5]) {
                  %y0 = matmul(%x, %w)
                  %n0 = batch_norm_inference(%y0, %m, %v) {axis = 1, epsilon = 0.001}
                  %x1 = transfer(%x) {device = gpu:1} : f32[2,4]@gpu:1
                  %w1 = transfer(%w) {device = gpu:1} : f32[4,5]@gpu:1
                  %m1 = transfer(%m) {device = gpu:1} : f32[5]@gpu:1
                  %u1 = transfer(%u) {device = gpu:1} : f32[5]@gpu:1
                  %y1 = matmul(%x1, %w1)
                  %n1 = batch_norm_inference(%y1, %m1, %u1) {axis = 1, epsilon = 0.001}
                  return %n0, %n1
                })",
      R"(module(%x: f32[2,4], state %w: f32[4,5], state %m: f32[5], state %v: f32[5], state %u: f32[5]) {
                  %y0 = matmul(%x, %w)
                  %e0 = constant() {value = f32[] {0.001}}
                  %a0 = add(%v, %e0)
                  %s0 = rsqrt(%a0)
                  %ms0 = mul(%m, %s0)
                  %b0 = neg(%ms0)
                  %z0 = mul(%y0, %s0)
                  %n0 = add(%z0, %b0)
                  %x1 = transfer(%x) {device = gpu:1} : f32[2,4]@gpu:1
                  %w1 = transfer(%w) {device = gpu:1} : f32[4,5]@gpu:1
                  %m1 = transfer(%m) {device = gpu:1} : f32[5]@gpu:1
                  %u1 = transfer(%u) {device = gpu:1} : f32[5]@gpu:1
                  %y1 = matmul(%x1, %w1)
                  %e1 = constant() {value = f32[] {0.001}}
                  %a1 = add(%u1, %e1)
                  %s1 = rsqrt(%a1)
                  %ms1 = mul(%m1, %s1)
                  %b1 = neg(%ms1)
                  %z1 = mul(%y1, %s1)
                  %n1 = add(%z1, %b1)
                  return %n0, %n1
                })");
}

// The bias joins the mean; a transposed matrix is scaled along its rows.
TEST(FoldNorms, FoldsIntoAMatmulThroughItsBias) {
  check_pass(
      fold_and_clean,
      R"(module(%x: f32[7,2], state %w: f32[5,2], state %b: f32[1,5], state %m: f32[5], state %v: f32[5]) {
                  %y = matmul(%x, %w) {transpose_b = true}
                  %z = add(%y, %b)
                  %n = batch_norm_inference(%z, %m, %v) {axis = 1, epsilon = 0.001}
                  return %n
                })",
      R"(module(%x: f32[7,2], state %w: f32[5,2], state %b: f32[1,5], state %m: f32[5], state %v: f32[5]) {
                  %e = constant() {value = f32[] {0.001}}
                  %a = add(%v, %e)
                  %s = rsqrt(%a)
                  %flat = reshape(%b) {shape = [5]}
                  %c = sub(%m, %flat)
                  %cs = mul(%c, %s)
                  %shift = neg(%cs)
                  %rows = reshape(%s) {shape = [5,1]}
                  %ws = mul(%w, %rows)
                  %y = matmul(%x, %ws) {transpose_b = true}
                  %z = add(%y, %shift)
                  return %z
                })");
}

// Two pointwise ops join the activation behind them.
TEST(FoldNorms, LeavesAMultiplicationAndASumWhereNothingCanBeScaled) {
  check_pass(fold_and_clean,
             R"(module(%x: f32[2,4,4,5], state %m: f32[5], state %v: f32[5]) {
                  %n = batch_norm_inference(%x, %m, %v) {axis = 3, epsilon = 0.001}
                  %y = relu(%n)
                  return %y
                })",
             R"(module(%x: f32[2,4,4,5], state %m: f32[5], state %v: f32[5]) {
                  %e = constant() {value = f32[] {0.001}}
                  %a = add(%v, %e)
                  %s = rsqrt(%a)
                  %ms = mul(%m, %s)
                  %shift = neg(%ms)
                  %xs = mul(%x, %s)
                  %n = add(%xs, %shift)
                  %y = relu(%n)
                  return %y
                })");
}

// %y and %w would be needed twice.
TEST(FoldNorms, DoesNotScaleWhatOthersUse) {
  const auto folded = [](std::string_view results) {
    return std::string(
               R"(module(%x: f32[2,2], state %w: f32[2,5], state %m: f32[5], state %v: f32[5]) {
                  %e = constant() {value = f32[] {0.001}}
                  %y = matmul(%x, %w) {}
                  )") +
           std::string(results);
  };
  check_pass(fold_and_clean,
             folded(R"(%n = batch_norm_inference(%y, %m, %v) {axis = 1, epsilon = 0.001}
                  return %n, %y
                })"),
             R"(module(%x: f32[2,2], state %w: f32[2,5], state %m: f32[5], state %v: f32[5]) {
                  %y = matmul(%x, %w) {}
                  %e = constant() {value = f32[] {0.001}}
                  %a = add(%v, %e)
                  %s = rsqrt(%a)
                  %ms = mul(%m, %s)
                  %shift = neg(%ms)
                  %ys = mul(%y, %s)
                  %n = add(%ys, %shift)
                  return %n, %y
                })");
  check_pass(fold_and_clean, folded(R"(%q = matmul(%x, %w) {transpose_a = true}
                  %n = batch_norm_inference(%y, %m, %v) {axis = 1, epsilon = 0.001}
                  return %n, %q
                })"),
             R"(module(%x: f32[2,2], state %w: f32[2,5], state %m: f32[5], state %v: f32[5]) {
                  %y = matmul(%x, %w) {}
                  %q = matmul(%x, %w) {transpose_a = true}
                  %e = constant() {value = f32[] {0.001}}
                  %a = add(%v, %e)
                  %s = rsqrt(%a)
                  %ms = mul(%m, %s)
                  %shift = neg(%ms)
                  %ys = mul(%y, %s)
                  %n = add(%ys, %shift)
                  return %n, %q
                })");
}

// Training, statistics of the batch itself, half precision, channels first.
TEST(FoldNorms, LeavesOtherNormsAlone) {
  expect_norm_stays(
      R"(module(%x: f32[2,2], state %w: f32[2,5], state %m: f32[5], state %v: f32[5]) {
                         %y = matmul(%x, %w) {}
                         %n = batch_norm_inference(%y, %m, %v) {axis = 1, epsilon = 0.001}
                         %u = add(%m, %v)
                         update %m = %u
                         return %n
                       })");
  expect_norm_stays(R"(module(%x: f32[2,2], state %w: f32[2,5], %m: f32[5], state %v: f32[5]) {
                         %y = matmul(%x, %w) {}
                         %n = batch_norm_inference(%y, %m, %v) {axis = 1, epsilon = 0.001}
                         return %n
                       })");
  expect_norm_stays(
      R"(module(%x: f16[2,2], state %w: f16[2,5], state %m: f32[5], state %v: f32[5]) {
                         %y = matmul(%x, %w) {}
                         %n = batch_norm_inference(%y, %m, %v) {axis = 1, epsilon = 0.001}
                         return %n
                       })");
  expect_norm_stays(R"(module(%x: f32[2,5,3], state %m: f32[5], state %v: f32[5]) {
                         %n = batch_norm_inference(%x, %m, %v) {axis = 1, epsilon = 0.001}
                         return %n
                       })");
}

}  // namespace
}  // namespace keratin
