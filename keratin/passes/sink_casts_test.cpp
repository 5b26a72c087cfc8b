#include "keratin/passes/sink_casts.h"

#include <gtest/gtest.h>

#include "keratin/passes/eliminate_dead.h"
#include "keratin/testing/check_pass.h"

namespace keratin {
namespace {

Module run(Module module) { return eliminate_dead(sink_casts(std::move(module))); }

TEST(SinkCasts, GivesEachReaderItsOwnCast) {
  testing::check_pass(run,
                      R"(module(%x: bf16[3,4], %m: f32[4]) {
             %w = cast(%x) {dtype = f32}
             %s = sum(%w) {axes = [0]}
             %y = mul(%w, %m)
             return %s, %y
           })",
                      R"(module(%x: bf16[3,4], %m: f32[4]) {
             %a = cast(%x) {dtype = f32}
             %s = sum(%a) {axes = [0]}
             %b = cast(%x) {dtype = f32}
             %y = mul(%b, %m)
             return %s, %y
           })");
}

TEST(SinkCasts, LeavesOtherCastsAlone) {
  const char* program = R"(module(%x: f32[3,4], %z: bf16[3,4]) {
             %n = cast(%x) {dtype = bf16}
             %a = neg(%n)
             %b = add(%n, %z)
             %once = cast(%z) {dtype = f32}
             %c = add(%once, %x)
             return %a, %b, %c
           })";
  testing::check_pass(run, program, program);
}

}  // namespace
}  // namespace keratin
