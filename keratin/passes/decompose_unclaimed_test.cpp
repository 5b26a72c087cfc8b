#include "keratin/passes/decompose_unclaimed.h"

#include <gtest/gtest.h>

#include "keratin/ops/records.h"
#include "keratin/testing/check_pass.h"

namespace keratin {
namespace {

using testing::check_pass;

TEST(DecomposeUnclaimed, GoesDownToPrimitives) {
  check_pass(
      [](Module m) { return decompose_unclaimed(std::move(m), [](const Node&) { return false; }); },
      R"(module(%x: f32[2,4]) {
           %m = mean(%x) {axes = [1]}
           return %m
         })",
      R"(module(%x: f32[2,4]) {
           %s = sum(%x) {axes = [1]}
           %c = constant() {value = f32[] {4}}
           %m = div(%s, %c)
           return %m
         })");
}

TEST(DecomposeUnclaimed, LeavesClaimedNodes) {
  const std::string_view text = R"(module(%x: f32[2,4]) {
           %m = mean(%x) {axes = [1]}
           return %m
         })";
  check_pass(
      [](Module m) {
        return decompose_unclaimed(std::move(m),
                                   [](const Node& n) { return &n.op() == &ops::mean_op; });
      },
      text, text);
}

TEST(DecomposeUnclaimed, DecomposesDecompositions) {
  check_pass(
      [](Module m) { return decompose_unclaimed(std::move(m), [](const Node&) { return false; }); },
      R"(module(%x: f32[2,4]) {
           %y = fused(%x) do(%p: f32[2,4]) {
             %q = fused(%p) do(%r: f32[2,4]) {
               %e = expand_dims(%r)
               yield %e
             }
             yield %q
           }
           return %y
         })",
      R"(module(%x: f32[2,4]) {
           %e = reshape(%x) {shape = [1, 2, 4]}
           return %e
         })");
}

}  // namespace
}  // namespace keratin
