#include "keratin/passes/eliminate_common.h"

#include <gtest/gtest.h>

#include "keratin/base/text.h"
#include "keratin/ops/registry.h"
#include "keratin/testing/check_pass.h"

namespace keratin {
namespace {

using testing::check_pass;

TEST(EliminateCommon, KeepsTheFirstOfEquals) {
  check_pass(eliminate_common,
             R"(module(%x: f32[3]) {
                  %a = exp(%x)
                  %b = exp(%x)
                  %c = neg(%a)
                  %d = neg(%b)
                  %e = add(%c, %d)
                  return %e
                })",
             R"(module(%x: f32[3]) {
                  %a = exp(%x)
                  %c = neg(%a)
                  %e = add(%c, %c)
                  return %e
                })");
}

TEST(EliminateCommon, KnowsCommutativeOps) {
  check_pass(eliminate_common,
             R"(module(%x: f32[3], %y: f32[3]) {
                  %a = add(%x, %y)
                  %b = add(%y, %x)
                  %c = sub(%x, %y)
                  %d = sub(%y, %x)
                  return %a, %b, %c, %d
                })",
             R"(module(%x: f32[3], %y: f32[3]) {
                  %a = add(%x, %y)
                  %c = sub(%x, %y)
                  %d = sub(%y, %x)
                  return %a, %a, %c, %d
                })");
}

TEST(EliminateCommon, ComparesAttributesAndConstantsBitByBit) {
  check_pass(eliminate_common,
             R"(module(%x: f32[2,2]) {
                  %a = sum(%x) {axes = [0]}
                  %b = sum(%x) {axes = [1]}
                  %c = sum(%x) {axes = [0]}
                  %n = constant() {value = f32[] {nan}}
                  %m = constant() {value = f32[] {nan}}
                  %z = constant() {value = f32[] {0}}
                  %w = constant() {value = f32[] {-0}}
                  return %a, %b, %c, %n, %m, %z, %w
                })",
             R"(module(%x: f32[2,2]) {
                  %a = sum(%x) {axes = [0]}
                  %b = sum(%x) {axes = [1]}
                  %n = constant() {value = f32[] {nan}}
                  %z = constant() {value = f32[] {0}}
                  %w = constant() {value = f32[] {-0}}
                  return %a, %b, %a, %n, %n, %z, %w
                })");
}

TEST(EliminateCommon, ReachesUpdates) {
  check_pass(eliminate_common,
             R"(module(state %s: f32[3]) {
                  %a = exp(%s)
                  %b = exp(%s)
                  update %s = %b
                  return %a
                })",
             R"(module(state %s: f32[3]) {
                  %a = exp(%s)
                  update %s = %a
                  return %a
                })");
}

TEST(EliminateCommon, ComparesRegionsByStructure) {
  check_pass(eliminate_common,
             R"(module(%x: f32[3], %y: f32[3]) {
                  %a = fused(%x, %y) do(%p: f32[3], %q: f32[3]) {
                    %r = add(%p, %q)
                    %s = exp(%r)
                    yield %s
                  }
                  %b = fused(%x, %y) do(%u: f32[3], %v: f32[3]) {
                    %w = add(%v, %u)
                    %t = exp(%w)
                    yield %t
                  }
                  %c = fused(%x, %y) do(%u: f32[3], %v: f32[3]) {
                    %w = add(%u, %u)
                    %t = exp(%w)
                    yield %t
                  }
                  %d = fused(%x, %y) do(%u: f32[3], %v: f32[3]) {
                    %w = add(%u, %v)
                    %t = exp(%w)
                    yield %w
                  }
                  return %a, %b, %c, %d
                })",
             R"(module(%x: f32[3], %y: f32[3]) {
                  %a = fused(%x, %y) do(%p: f32[3], %q: f32[3]) {
                    %r = add(%p, %q)
                    %s = exp(%r)
                    yield %s
                  }
                  %c = fused(%x, %y) do(%u: f32[3], %v: f32[3]) {
                    %w = add(%u, %u)
                    %t = exp(%w)
                    yield %t
                  }
                  %d = fused(%x, %y) do(%u: f32[3], %v: f32[3]) {
                    %w = add(%u, %v)
                    %t = exp(%w)
                    yield %w
                  }
                  return %a, %a, %c, %d
                })");
}

TEST(EliminateCommon, WorksInsideRegionsButNeverAcrossThem) {
  check_pass(eliminate_common,
             R"(module(%x: f32[3]) {
                  %e = exp(%x)
                  %a = fused(%x) do(%p: f32[3]) {
                    %r = exp(%p)
                    %s = exp(%p)
                    %t = add(%r, %s)
                    yield %t
                  }
                  return %a, %e
                })",
             R"(module(%x: f32[3]) {
                  %e = exp(%x)
                  %a = fused(%x) do(%p: f32[3]) {
                    %r = exp(%p)
                    %t = add(%r, %r)
                    yield %t
                  }
                  return %a, %e
                })");
}

// Enough nodes for collisions in the hash table.
TEST(EliminateCommon, FindsEqualsAmongMany) {
  std::string once = "module(%x: f32[3]) {\n", again, results = "return %x";
  for (int i = 0; i < 500; ++i) {
    once +=
        text("%c", i, " = constant() {value = f32[] {", i, "}}\n%a", i, " = add(%x, %c", i, ")\n");
    again += text("%b", i, " = add(%x, %c", i, ")\n");
    results += text(", %a", i, ", %b", i);
  }
  const Module module = eliminate_common(ops::parse(once + again + results + " }"));
  EXPECT_EQ(module.block().nodes().size(), 1000);
}

}  // namespace
}  // namespace keratin
