#include "keratin/passes/fold_padding.h"

#include <gtest/gtest.h>

#include "keratin/passes/eliminate_dead.h"
#include "keratin/testing/check_pass.h"

namespace keratin {
namespace {

using testing::check_pass;

Module fold_pads(Module module) { return eliminate_dead(fold_padding(std::move(module))); }
void expect_pad_stays(std::string_view program) { check_pass(fold_pads, program, program); }

TEST(FoldPadding, MakesZerosPartOfTheConvolution) {
  check_pass(fold_pads,
             R"(module(%x: f32[1,4,4,2], %w: f32[3,3,2,5]) {
                  %p = pad(%x) {lo = [0,0,1,0], hi = [0,1,2,0], interior = [0,0,0,0], value = 0}
                  %y = conv(%p, %w) {padding = "valid", strides = [2,2]}
                  return %y
                })",
             R"(module(%x: f32[1,4,4,2], %w: f32[3,3,2,5]) {
                  %y = conv(%x, %w) {padding = "explicit", strides = [2,2], low = [0,1], high = [1,2]}
                  return %y
                })");
}

TEST(FoldPadding, AddsToPaddingThatIsThere) {
  check_pass(fold_pads,
             R"(module(%x: f32[1,4,2], %w: f32[3,2,5]) {
                  %p = pad(%x) {lo = [0,1,0], hi = [0,1,0], interior = [0,0,0], value = 0}
                  %y = conv(%p, %w) {padding = "explicit", low = [2], high = [0]}
                  return %y
                })",
             R"(module(%x: f32[1,4,2], %w: f32[3,2,5]) {
                  %y = conv(%x, %w) {padding = "explicit", low = [3], high = [1]}
                  return %y
                })");
}

// Other values, channels, gaps, other users, and padding that depends on the size.
TEST(FoldPadding, LeavesOtherPaddingAlone) {
  const auto convolve = [](std::string_view pad, std::string_view padding,
                           std::string_view results) {
    return std::string("module(%x: f32[1,4,2], %w: f32[3,2,5]) { %p = pad(%x) {") +
           std::string(pad) + "} %y = conv(%p, %w) {padding = \"" + std::string(padding) +
           "\"} return " + std::string(results) + " }";
  };
  const char* zeros = "lo = [0,1,0], hi = [0,1,0], interior = [0,0,0], value = 0";
  expect_pad_stays(
      convolve("lo = [0,1,0], hi = [0,1,0], interior = [0,0,0], value = 1", "valid", "%y"));
  expect_pad_stays(
      convolve("lo = [1,1,0], hi = [0,1,0], interior = [0,0,0], value = 0", "valid", "%y"));
  expect_pad_stays(
      convolve("lo = [0,1,0], hi = [0,1,0], interior = [0,1,0], value = 0", "valid", "%y"));
  expect_pad_stays(convolve(zeros, "same", "%y"));
  expect_pad_stays(convolve(zeros, "valid", "%y, %p"));
}

}  // namespace
}  // namespace keratin
