#include "keratin/passes/overlap_devices.h"

#include <gtest/gtest.h>

#include "keratin/testing/check_pass.h"

namespace keratin {
namespace {

using testing::check_pass;

TEST(OverlapDevices, LeavesOneDeviceAlone) {
  constexpr const char* program = R"(module(%x: f32[3]) {
                                       %a = neg(%x)
                                       %b = exp(%x)
                                       %c = add(%b, %a)
                                       return %c
                                     })";
  check_pass(overlap_devices, program, program);
}

// Written one after the other, they run at the same time: what the other device waits for goes
// first, and its result is taken up when it is there.
TEST(OverlapDevices, KeepsAllDevicesBusy) {
  check_pass(overlap_devices,
             R"(module(%x: f32[64]) {
                  %h = slice(%x) {start = [0], limit = [32], step = [1]}
                  %a = exp(%h)
                  %b = tanh(%a)
                  %g = slice(%x) {start = [32], limit = [64], step = [1]}
                  %t = transfer(%g) {device = gpu:0}
                  %c = exp(%t)
                  %d = tanh(%c)
                  %u = transfer(%d) {device = cpu:0}
                  %s = add(%b, %u)
                  return %s
                })",
             R"(module(%x: f32[64]) {
                  %g = slice(%x) {start = [32], limit = [64], step = [1]}
                  %h = slice(%x) {start = [0], limit = [32], step = [1]}
                  %t = transfer(%g) {device = gpu:0}
                  %c = exp(%t)
                  %a = exp(%h)
                  %d = tanh(%c)
                  %b = tanh(%a)
                  %u = transfer(%d) {device = cpu:0}
                  %s = add(%b, %u)
                  return %s
                })");
}

// A state is read by all before it changes, so that it can change in place: the sum, which is there
// at once, does not go before the multiplication, which has to wait.
TEST(OverlapDevices, ReadsStateBeforeItChanges) {
  constexpr const char* program = R"(module(%x: f32[64], state %s: f32[64]) {
                                       %t = transfer(%x) {device = gpu:0}
                                       %e = exp(%t)
                                       %u = transfer(%e) {device = cpu:0}
                                       %p = mul(%u, %s)
                                       %n = add(%s, %x)
                                       update %s = %n
                                       return %p
                                     })";
  check_pass(overlap_devices, program, program);
}

// Under another name too.
TEST(OverlapDevices, ReadsAViewOfStateBeforeItChanges) {
  constexpr const char* program = R"(module(%x: f32[64], state %s: f32[64]) {
                                       %v = transfer(%s) {device = cpu:1}
                                       %t = transfer(%x) {device = cpu:1}
                                       %e = exp(%t)
                                       %p = mul(%e, %v)
                                       %n = add(%s, %x)
                                       update %s = %n
                                       return %p
                                     })";
  check_pass(overlap_devices, program, program);
}

}  // namespace
}  // namespace keratin
