#include "keratin/passes/sparse_updates.h"

#include <gtest/gtest.h>

#include "keratin/passes/eliminate_dead.h"
#include "keratin/testing/check_pass.h"

namespace keratin {
namespace {

void check_sparse(std::string_view before, std::string_view after) {
  testing::check_pass([](Module m) { return eliminate_dead(sparse_updates(std::move(m))); }, before,
                      after);
}
void expect_left_dense(std::string_view text) { check_sparse(text, text); }

TEST(SparseUpdates, AStepOfGradientDescent) {
  check_sparse(R"(module(%w: f32[1000,8], %lr: f32[], %i: i32[4], %u: f32[4,8]) {
             %zero = constant() {value = f32[] {0}}
             %zeros = broadcast_to(%zero) {shape = [1000, 8]}
             %g = scatter_add(%zeros, %i, %u)
             %d = mul(%lr, %g)
             %n = sub(%w, %d)
             return %n
           })",
               R"(module(%w: f32[1000,8], %lr: f32[], %i: i32[4], %u: f32[4,8]) {
             %d = mul(%u, %lr)
             %m = neg(%d)
             %n = scatter_add(%w, %i, %m)
             return %n
           })");
}

TEST(SparseUpdates, TwoLookupsOfOneTable) {
  check_sparse(
      R"(module(%w: f32[100,8], %c: f32[1], %i: i32[4], %u: f32[4,8], %j: i32[100], %v: f32[100,8]) {
             %zero = constant() {value = f32[] {0}}
             %zeros = broadcast_to(%zero) {shape = [100, 8]}
             %a = scatter_add(%zeros, %i, %u)
             %b = scatter_add(%zeros, %j, %v)
             %g = add(%a, %b)
             %d = div(%b, %c)
             %e = neg(%d)
             return %g, %e
           })",
      R"(module(%w: f32[100,8], %c: f32[1], %i: i32[4], %u: f32[4,8], %j: i32[100], %v: f32[100,8]) {
             %zero = constant() {value = f32[] {0}}
             %zeros = broadcast_to(%zero) {shape = [100, 8]}
             %a = scatter_add(%zeros, %i, %u)
             %g = scatter_add(%a, %j, %v)
             %c0 = reshape(%c) {shape = []}
             %d = div(%v, %c0)
             %e = neg(%d)
             %s = scatter_add(%zeros, %j, %e)
             return %g, %s
           })");
}

TEST(SparseUpdates, AlongAnAxis) {
  check_sparse(R"(module(%w: f32[3,9], %i: i64[3,2], %u: f32[3,2]) {
             %one = constant() {value = f32[1] {0}}
             %zeros = broadcast_to(%one) {shape = [3, 9]}
             %g = scatter_add_along_axis(%zeros, %i, %u) {axis = 1}
             %n = add(%g, %w)
             return %n
           })",
               R"(module(%w: f32[3,9], %i: i64[3,2], %u: f32[3,2]) {
             %n = scatter_add_along_axis(%w, %i, %u) {axis = 1}
             return %n
           })");
}

TEST(SparseUpdates, LeavesOtherTablesAlone) {
  // More updates than rows: scaling the table is less work.
  expect_left_dense(R"(module(%w: f32[2,8], %lr: f32[], %i: i32[4], %u: f32[4,8]) {
                       %zero = constant() {value = f32[] {0}}
                       %zeros = broadcast_to(%zero) {shape = [2, 8]}
                       %g = scatter_add(%zeros, %i, %u)
                       %d = mul(%lr, %g)
                       %n = sub(%w, %d)
                       return %n
                     })");
  // Not onto zeros.
  expect_left_dense(R"(module(%w: f32[9,8], %lr: f32[], %i: i32[4], %u: f32[4,8]) {
                       %g = scatter_add(%w, %i, %u)
                       %d = mul(%lr, %g)
                       %n = sub(%w, %d)
                       return %n
                     })");
  // Scaled by more than one number; the table is broadcast.
  expect_left_dense(R"(module(%w: f32[2,9,8], %s: f32[8], %i: i32[4], %u: f32[4,8]) {
                       %zero = constant() {value = f32[] {0}}
                       %zeros = broadcast_to(%zero) {shape = [9, 8]}
                       %g = scatter_add(%zeros, %i, %u)
                       %d = mul(%s, %g)
                       %n = sub(%w, %g)
                       %m = add(%w, %g)
                       return %d, %n, %m
                     })");
}

}  // namespace
}  // namespace keratin
