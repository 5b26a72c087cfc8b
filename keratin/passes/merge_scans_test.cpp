#include "keratin/passes/merge_scans.h"

#include <gtest/gtest.h>

#include "keratin/passes/eliminate_dead.h"
#include "keratin/testing/check_pass.h"

namespace keratin {
namespace {

using testing::check_pass;

Module merge(Module module) { return eliminate_dead(merge_scans(std::move(module))); }

TEST(MergeScans, KeepsTheYsOfBothLoops) {
  check_pass(merge,
             R"(module(%h: f32[2], %x: f32[5,2]) {
                  %c, %y = scan(%h, %x) {carries = 1, xs = 1} do(%p: f32[2], %q: f32[2]) {
                    %a = mul(%p, %q)
                    %b = neg(%a)
                    yield %a, %b
                  }
                  %s = sum(%y) {axes = [0]}
                  %d, %z, %v = scan(%h, %x) {carries = 1, xs = 1, length = 5}
                      do(%p: f32[2], %q: f32[2]) {
                    %a = mul(%q, %p)
                    %b = neg(%a)
                    yield %a, %p, %b
                  }
                  %t = add(%d, %s)
                  return %c, %s, %t, %z, %v
                })",
             R"(module(%h: f32[2], %x: f32[5,2]) {
                  %c, %y, %z = scan(%h, %x) {carries = 1, xs = 1} do(%p: f32[2], %q: f32[2]) {
                    %a = mul(%p, %q)
                    %b = neg(%a)
                    yield %a, %b, %p
                  }
                  %s = sum(%y) {axes = [0]}
                  %t = add(%c, %s)
                  return %c, %s, %t, %z, %y
                })");
}

TEST(MergeScans, LeavesOtherLoopsAlone) {
  const std::string_view text =
      R"(module(%h: f32[2], %x: f32[5,2]) {
           %c = scan(%h, %x) {carries = 1, xs = 1} do(%p: f32[2], %q: f32[2]) {
             %a = mul(%p, %q)
             yield %a
           }
           %d = scan(%h, %x) {carries = 1, xs = 1} do(%p: f32[2], %q: f32[2]) {
             %a = add(%p, %q)
             yield %a
           }
           %e = scan(%h, %x) {carries = 1, xs = 1, reverse = true} do(%p: f32[2], %q: f32[2]) {
             %a = mul(%p, %q)
             yield %a
           }
           %f = scan(%c, %x) {carries = 1, xs = 1} do(%p: f32[2], %q: f32[2]) {
             %a = mul(%p, %q)
             yield %a
           }
           return %c, %d, %e, %f
         })";
  check_pass(merge, text, text);
}

}  // namespace
}  // namespace keratin
