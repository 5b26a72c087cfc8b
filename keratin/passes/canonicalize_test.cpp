#include "keratin/passes/canonicalize.h"

#include <gtest/gtest.h>

#include "keratin/passes/eliminate_dead.h"
#include "keratin/testing/check_pass.h"

namespace keratin {
namespace {

void check_canonicalize(std::string_view before, std::string_view after) {
  testing::check_pass([](Module m) { return eliminate_dead(canonicalize(std::move(m))); }, before,
                      after);
}

TEST(Canonicalize, PutsConstantsRight) {
  check_canonicalize(R"(module(%x: f32[3]) {
             %c = constant() {value = f32[] {2}}
             %y = mul(%c, %x)
             %z = sub(%c, %y)
             return %z
           })",
                     R"(module(%x: f32[3]) {
             %c = constant() {value = f32[] {2}}
             %y = mul(%x, %c)
             %z = sub(%c, %y)
             return %z
           })");
}

TEST(Canonicalize, PutsBroadcastConstantsRightButLeavesTwoConstantsAlone) {
  check_canonicalize(R"(module(%x: f32[3]) {
             %c = constant() {value = f32[] {2}}
             %b = broadcast_to(%c) {shape = [3]}
             %y = maximum(%b, %x)
             %z = add(%c, %b)
             return %y, %z
           })",
                     R"(module(%x: f32[3]) {
             %c = constant() {value = f32[] {2}}
             %b = broadcast_to(%c) {shape = [3]}
             %y = maximum(%x, %b)
             %z = add(%c, %b)
             return %y, %z
           })");
}

TEST(Canonicalize, WritesOutShapes) {
  check_canonicalize(R"(module(%x: f32[2,3,4]) {
             %y = reshape(%x) {shape = [-2, -1]}
             %z = broadcast_to(%x) {shape = [5, -1, 3, -1]}
             %e = expand_dims(%x) {axis = 1}
             return %y, %z, %e
           })",
                     R"(module(%x: f32[2,3,4]) {
             %y = reshape(%x) {shape = [2, 12]}
             %z = broadcast_to(%x) {shape = [5, 2, 3, 4]}
             %e = reshape(%x) {shape = [2, 1, 3, 4]}
             return %y, %z, %e
           })");
}

TEST(Canonicalize, RemovesOpsWithoutEffect) {
  check_canonicalize(R"(module(%x: f32[2,3]) {
             %a = reshape(%x) {shape = [2, 3]}
             %b = transpose(%a) {permutation = [0, 1]}
             %c = broadcast_to(%b) {shape = [2, 3]}
             %d = cast(%c) {dtype = f32}
             %e = stop_gradient(%d)
             %f = expand_dims(%e) {axis = 0}
             %g = squeeze(%f) {axis = 0}
             return %g
           })",
                     "module(%x: f32[2,3]) { return %x }");
}

TEST(Canonicalize, MergesSeveralInARow) {
  check_canonicalize(R"(module(%x: f32[2,3,4]) {
             %a = reshape(%x) {shape = [6, 4]}
             %b = reshape(%a) {shape = [24]}
             %c = transpose(%x) {permutation = [2, 0, 1]}
             %d = transpose(%c) {permutation = [0, 2, 1]}
             %e = broadcast_to(%x) {shape = [5, 2, 3, 4]}
             %f = broadcast_to(%e) {shape = [6, 5, 2, 3, 4]}
             return %b, %d, %f
           })",
                     R"(module(%x: f32[2,3,4]) {
             %b = reshape(%x) {shape = [24]}
             %d = transpose(%x) {permutation = [2, 1, 0]}
             %f = broadcast_to(%x) {shape = [6, 5, 2, 3, 4]}
             return %b, %d, %f
           })");
}

TEST(Canonicalize, CancelsATransposeAndItsInverse) {
  check_canonicalize(R"(module(%x: f32[2,3,4]) {
             %a = transpose(%x) {permutation = [2, 0, 1]}
             %b = transpose(%a) {permutation = [1, 2, 0]}
             return %b
           })",
                     "module(%x: f32[2,3,4]) { return %x }");
}

TEST(Canonicalize, MergesCastsThatLoseNothing) {
  check_canonicalize(R"(module(%h: f16[3], %i: i32[3], %b: i8[3]) {
             %a1 = cast(%h) {dtype = f32}
             %a2 = cast(%a1) {dtype = f16}
             %b1 = cast(%i) {dtype = f64}
             %b2 = cast(%b1) {dtype = f32}
             %c1 = cast(%b) {dtype = i64}
             %c2 = cast(%c1) {dtype = u8}
             return %a2, %b2, %c2
           })",
                     R"(module(%h: f16[3], %i: i32[3], %b: i8[3]) {
             %b2 = cast(%i) {dtype = f32}
             %c2 = cast(%b) {dtype = u8}
             return %h, %b2, %c2
           })");
}

TEST(Canonicalize, KeepsCastsThatRoundSaturateOrWrap) {
  const std::string_view text = R"(module(%f: f32[3], %i: i32[3]) {
             %a1 = cast(%f) {dtype = f16}
             %a2 = cast(%a1)
             %b1 = cast(%i) {dtype = f64}
             %b2 = cast(%b1) {dtype = i8}
             %c1 = cast(%f) {dtype = i32}
             %c2 = cast(%c1)
             return %a2, %b2, %c2
           })";
  check_canonicalize(text, text);
}

TEST(Canonicalize, LooksIntoRegions) {
  check_canonicalize(R"(module(%x: f32[3]) {
             %y = fused(%x) do(%a: f32[3]) {
               %b = reshape(%a) {shape = [3]}
               %c = neg(%b)
               yield %c
             }
             return %y
           })",
                     R"(module(%x: f32[3]) {
             %y = fused(%x) do(%a: f32[3]) {
               %c = neg(%a)
               yield %c
             }
             return %y
           })");
}

TEST(Canonicalize, LeavesUnknownSizesAlone) {
  const std::string_view text = R"(module(%x: f32[?,3]) {
             %a = reshape(%x) {shape = [-2, 3]}
             %b = expand_dims(%a)
             return %b
           })";
  check_canonicalize(text, text);
}

}  // namespace
}  // namespace keratin
