#include "keratin/passes/sink_views.h"

#include <gtest/gtest.h>

#include "keratin/passes/eliminate_dead.h"
#include "keratin/testing/check_pass.h"

namespace keratin {
namespace {

using testing::check_pass;

Module sink(Module module) { return eliminate_dead(sink_views(std::move(module))); }
void expect_not_sunk(std::string_view program) { check_pass(sink, program, program); }

// The bias of several heads is one value per column of the matmul.
TEST(SinkViews, MovesAReshapeAfterABias) {
  check_pass(sink,
             R"(module(%x: f32[6,4], %w: f32[4,6], %b: f32[2,3]) {
                  %y = matmul(%x, %w) {}
                  %r = reshape(%y) {shape = [2,3,2,3]}
                  %z = add(%r, %b)
                  return %z
                })",
             R"(module(%x: f32[6,4], %w: f32[4,6], %b: f32[2,3]) {
                  %y = matmul(%x, %w) {}
                  %c = reshape(%b) {shape = [6]}
                  %z = add(%y, %c)
                  %r = reshape(%z) {shape = [2,3,2,3]}
                  return %r
                })");
}

TEST(SinkViews, MovesAReshapeAndATransposeAfterAResidualAndAScale) {
  check_pass(sink,
             R"(module(%x: f32[6,4], %w: f32[4,6], %r: f32[2,3,6]) {
                  %s = constant() {value = f32[] {0.5}}
                  %y = matmul(%x, %w) {}
                  %v = reshape(%y) {shape = [2,3,6]}
                  %z = add(%r, %v)
                  %t = transpose(%z) {permutation = [1,0,2]}
                  %u = mul(%t, %s)
                  return %u
                })",
             R"(module(%x: f32[6,4], %w: f32[4,6], %r: f32[2,3,6]) {
                  %s = constant() {value = f32[] {0.5}}
                  %y = matmul(%x, %w) {}
                  %q = reshape(%r) {shape = [6,6]}
                  %z = add(%q, %y)
                  %u = mul(%z, %s)
                  %v = reshape(%u) {shape = [2,3,6]}
                  %t = transpose(%v) {permutation = [1,0,2]}
                  return %t
                })");
}

TEST(SinkViews, LeavesOtherThingsAlone) {
  // no matmul
  expect_not_sunk(R"(module(%x: f32[6,6], %b: f32[2,3]) {
             %r = reshape(%x) {shape = [2,3,2,3]}
             %z = add(%r, %b)
             return %z
           })");
  // something else uses the view, as an optimizer does with a gradient, or the matmul
  expect_not_sunk(R"(module(%x: f32[6,4], %w: f32[4,6], %m: f32[2,3,6]) {
             %y = matmul(%x, %w) {}
             %r = reshape(%y) {shape = [2,3,6]}
             %z = sub(%r, %m)
             %q = mul(%r, %r)
             return %z, %q
           })");
  expect_not_sunk(R"(module(%x: f32[6,4], %w: f32[4,6], %m: f32[2,3,6]) {
             %y = matmul(%x, %w) {}
             %r = reshape(%y) {shape = [2,3,6]}
             %z = sub(%r, %m)
             return %z, %y
           })");
  // one value per row; a part of the columns; a result that is larger than the view
  expect_not_sunk(R"(module(%x: f32[6,4], %w: f32[4,6], %b: f32[3,1]) {
             %y = matmul(%x, %w) {}
             %r = reshape(%y) {shape = [2,3,6]}
             %z = add(%r, %b)
             return %z
           })");
  expect_not_sunk(R"(module(%x: f32[6,4], %w: f32[4,6], %b: f32[3]) {
             %y = matmul(%x, %w) {}
             %r = reshape(%y) {shape = [2,3,2,3]}
             %z = add(%r, %b)
             return %z
           })");
  expect_not_sunk(R"(module(%x: f32[6,4], %w: f32[4,6], %b: f32[5,2,3,6]) {
             %y = matmul(%x, %w) {}
             %r = reshape(%y) {shape = [2,3,6]}
             %z = add(%r, %b)
             return %z
           })");
  // a transpose beside something that is not one value
  expect_not_sunk(R"(module(%x: f32[6,4], %w: f32[4,6], %b: f32[6]) {
             %y = matmul(%x, %w) {}
             %t = transpose(%y) {permutation = [1,0]}
             %z = add(%t, %b)
             return %z
           })");
}

// If two matmuls are added in a third shape, the sum gets the shape of the first.
TEST(SinkViews, SinksTheViewsOfTwoMatmuls) {
  check_pass(sink,
             R"(module(%x: f32[6,4], %w: f32[4,6], %h: f32[12,2], %u: f32[2,3]) {
                  %a = matmul(%x, %w) {}
                  %b = matmul(%h, %u) {}
                  %p = reshape(%a) {shape = [36]}
                  %q = reshape(%b) {shape = [36]}
                  %z = mul(%p, %q)
                  return %z
                })",
             R"(module(%x: f32[6,4], %w: f32[4,6], %h: f32[12,2], %u: f32[2,3]) {
                  %a = matmul(%x, %w) {}
                  %b = matmul(%h, %u) {}
                  %q = reshape(%b) {shape = [6,6]}
                  %z = mul(%a, %q)
                  %r = reshape(%z) {shape = [36]}
                  return %r
                })");
}

// A dead node does not prevent the pass.
TEST(SinkViews, IgnoresDeadNodes) {
  check_pass(sink,
             R"(module(%x: f32[6,4], %w: f32[4,6], %b: f32[6]) {
                  %y = matmul(%x, %w) {}
                  %r = reshape(%y) {shape = [2,3,6]}
                  %z = add(%r, %b)
                  %e = exp(%x)
                  return %e
                })",
             R"(module(%x: f32[6,4], %w: f32[4,6], %b: f32[6]) {
                  %e = exp(%x)
                  return %e
                })");
}

}  // namespace
}  // namespace keratin
