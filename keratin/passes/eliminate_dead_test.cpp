#include "keratin/passes/eliminate_dead.h"

#include <gtest/gtest.h>

#include "keratin/testing/check_pass.h"

namespace keratin {
namespace {

using testing::check_pass;

TEST(EliminateDead, RemovesWholeUnusedChainsAndKeepsParameters) {
  check_pass(eliminate_dead,
             R"(module(%x: f32[3], %unused: f32[2]) {
                  %a = exp(%x)
                  %b = neg(%a)
                  %c = add(%b, %x)
                  %d = log(%x)
                  return %d
                })",
             R"(module(%x: f32[3], %unused: f32[2]) {
                  %d = log(%x)
                  return %d
                })");
}

TEST(EliminateDead, KeepsUpdates) {
  check_pass(eliminate_dead,
             R"(module(state %s: f32[3], state %t: f32[3]) {
                  %a = exp(%s)
                  %b = exp(%t)
                  update %s = %a
                  return
                })",
             R"(module(state %s: f32[3], state %t: f32[3]) {
                  %a = exp(%s)
                  update %s = %a
                  return
                })");
}

TEST(EliminateDead, CleansRegions) {
  check_pass(eliminate_dead,
             R"(module(%x: f32[3]) {
                  %a = fused(%x) do(%p: f32[3]) {
                    %r = exp(%p)
                    %s = neg(%p)
                    yield %s
                  }
                  return %a
                })",
             R"(module(%x: f32[3]) {
                  %a = fused(%x) do(%p: f32[3]) {
                    %s = neg(%p)
                    yield %s
                  }
                  return %a
                })");
}

TEST(EliminateDead, KeepsANodeOfWhichOneOutputIsUsed) {
  const std::string_view text = R"(module(%x: f32[3]) {
                  %a, %b = fused(%x) do(%p: f32[3]) {
                    %r = exp(%p)
                    %s = neg(%p)
                    yield %r, %s
                  }
                  return %b
                })";
  check_pass(eliminate_dead, text, text);
}

}  // namespace
}  // namespace keratin
