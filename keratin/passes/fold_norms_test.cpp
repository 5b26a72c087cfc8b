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
