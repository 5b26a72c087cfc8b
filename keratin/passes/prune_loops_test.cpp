#include "keratin/passes/prune_loops.h"

#include <gtest/gtest.h>

#include "keratin/testing/check_pass.h"

namespace keratin {
namespace {

using testing::check_pass;

TEST(PruneLoops, DropsUnusedYsAndWhatOnlyTheyNeed) {
  // %e is carried for the second y only, %x and %w serve nothing else.
  check_pass(prune_loops,
             R"(module(%h: f32[2], %e: f32[2], %x: f32[5,2], %z: f32[5,2], %w: f32[2]) {
                  %c, %d, %y, %u = scan(%h, %e, %x, %z, %w) {carries = 2, xs = 2}
                      do(%p: f32[2], %q: f32[2], %r: f32[2], %s: f32[2], %t: f32[2]) {
                    %a = mul(%p, %s)
                    %b = mul(%q, %r)
                    %g = mul(%b, %t)
                    %f = add(%g, %p)
                    yield %a, %f, %a, %g
                  }
                  return %y
                })",
             R"(module(%h: f32[2], %e: f32[2], %x: f32[5,2], %z: f32[5,2], %w: f32[2]) {
                  %c, %y = scan(%h, %z) {carries = 1, xs = 1, length = 5}
                      do(%p: f32[2], %s: f32[2]) {
                    %a = mul(%p, %s)
                    yield %a, %a
                  }
                  return %y
                })");
}

TEST(PruneLoops, KeepsStatesThatFeedEachOther) {
  const std::string_view text =
      R"(module(%h: f32[2], %e: f32[2]) {
           %c, %d = scan(%h, %e) {carries = 2, length = 3} do(%p: f32[2], %q: f32[2]) {
             %a = neg(%q)
             %b = neg(%p)
             yield %a, %b
           }
           return %c
         })";
  check_pass(prune_loops, text, text);
}

TEST(PruneLoops, TurnsAFixedStateIntoAConstant) {
  check_pass(prune_loops,
             R"(module(%h: f32[2], %w: f32[2]) {
                  %c, %d = scan(%w, %h) {carries = 2, length = 3} do(%p: f32[2], %q: f32[2]) {
                    %a = mul(%q, %p)
                    yield %p, %a
                  }
                  return %c, %d
                })",
             R"(module(%h: f32[2], %w: f32[2]) {
                  %d = scan(%h, %w) {carries = 1, length = 3} do(%q: f32[2], %p: f32[2]) {
                    %a = mul(%q, %p)
                    yield %a
                  }
                  return %w, %d
                })");
}

TEST(PruneLoops, PrunesNestedLoops) {
  check_pass(prune_loops,
             R"(module(%h: f32[2], %e: f32[2]) {
                  %c, %d = scan(%h, %e) {carries = 2, length = 3} do(%p: f32[2], %q: f32[2]) {
                    %a, %b = scan(%p, %q) {carries = 2, length = 4} do(%r: f32[2], %s: f32[2]) {
                      %t = neg(%r)
                      %u = exp(%s)
                      yield %t, %u
                    }
                    yield %a, %b
                  }
                  return %c
                })",
             R"(module(%h: f32[2], %e: f32[2]) {
                  %c = scan(%h) {carries = 1, length = 3} do(%p: f32[2]) {
                    %a = scan(%p) {carries = 1, length = 4} do(%r: f32[2]) {
                      %t = neg(%r)
                      yield %t
                    }
                    yield %a
                  }
                  return %c
                })");
}

TEST(PruneLoops, PrunesBranches) {
  check_pass(prune_loops,
             R"(module(%b: bool[], %x: f32[2], %y: f32[2], %z: f32[2]) {
                  %c, %d = cond(%b, %x, %y, %z)
                      do(%p: f32[2], %q: f32[2], %r: f32[2]) {
                    %a = exp(%q)
                    yield %a, %p
                  } do(%p: f32[2], %q: f32[2], %r: f32[2]) {
                    yield %q, %r
                  }
                  return %d
                })",
             R"(module(%b: bool[], %x: f32[2], %y: f32[2], %z: f32[2]) {
                  %d = cond(%b, %x, %z) do(%p: f32[2], %r: f32[2]) {
                    yield %p
                  } do(%p: f32[2], %r: f32[2]) {
                    yield %r
                  }
                  return %d
                })");
}

// Without a step, a loop gives back what it started from, whatever its body reads.
TEST(PruneLoops, KeepsTheInitialStateOfANestedLoop) {
  const std::string_view text =
      R"(module(%h: f32[2], %e: f32[0,2], %w: f32[2]) {
           %n = scan(%h, %e, %w) {carries = 1, length = 3} do(%c: f32[2], %xs: f32[0,2], %start: f32[2]) {
             %r = scan(%start, %xs) {carries = 1, xs = 1} do(%p: f32[2], %s: f32[2]) {
               yield %s
             }
             %a = add(%c, %r)
             yield %a
           }
           return %n
         })";
  check_pass(prune_loops, text, text);
}

}  // namespace
}  // namespace keratin
