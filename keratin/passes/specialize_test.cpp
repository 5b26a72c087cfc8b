#include "keratin/passes/specialize.h"

#include <gtest/gtest.h>

#include "keratin/base/text.h"
#include "keratin/ops/registry.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;

void check_specialize(std::string_view before, const Types& inputs, std::string_view after) {
  const Module module = ops::parse(before);
  const Module actual = specialize(module, inputs);
  EXPECT_NO_THROW(verify(actual));
  EXPECT_EQ(text(actual), text(ops::parse(after)));
  EXPECT_EQ(text(module), text(ops::parse(before))) << "the general program must stay as it is";
}

TEST(Specialize, InfersAllTypesAgain) {
  check_specialize(R"(module(%x: f32[?,4], state %w: f32[4,2]) {
             %y = matmul(%x, %w)
             %z = reshape(%y) {shape = [-2, 1, -1]}
             %n = neg(%w)
             update %w = %n
             return %z
           })",
                   {{DType::f32, {8, 4}}, {DType::f32, {4, 2}}},
                   R"(module(%x: f32[8,4], state %w: f32[4,2]) {
             %y = matmul(%x, %w) : f32[8,2]
             %z = reshape(%y) {shape = [-2, 1, -1]} : f32[8,1,2]
             %n = neg(%w)
             update %w = %n
             return %z
           })");
}

TEST(Specialize, EachOutputStaysOnItsDevice) {
  check_specialize(
      R"(module(%x: f32[?]@gpu:0, %y: f32[?]@gpu:1) {
             %a, %b = all_reduce(%x, %y) {devices = [gpu:0, gpu:1]}
             return %a, %b
           })",
      {{DType::f32, {8}, {Device::Kind::gpu, 0}}, {DType::f32, {8}, {Device::Kind::gpu, 1}}},
      R"(module(%x: f32[8]@gpu:0, %y: f32[8]@gpu:1) {
             %a, %b = all_reduce(%x, %y) {devices = [gpu:0, gpu:1]} : f32[8]@gpu:0, f32[8]@gpu:1
             return %a, %b
           })");
}

TEST(Specialize, SpecializesRegions) {
  check_specialize(R"(module(%p: bool[], %x: f32[?]) {
             %y = cond(%p, %x) do(%a: f32[?]) {
               %b = exp(%a)
               yield %b
             } do(%a: f32[?]) {
               %b = fused(%a) do(%c: f32[?]) {
                 %d = neg(%c)
                 yield %d
               }
               yield %b
             }
             return %y
           })",
                   {{DType::boolean, {}}, {DType::f32, {5}}},
                   R"(module(%p: bool[], %x: f32[5]) {
             %y = cond(%p, %x) do(%a: f32[5]) {
               %b = exp(%a)
               yield %b
             } do(%a: f32[5]) {
               %b = fused(%a) do(%c: f32[5]) {
                 %d = neg(%c)
                 yield %d
               }
               yield %b
             }
             return %y
           })");
}

TEST(Specialize, KnowsTheSlicesThatAScanReads) {
  check_specialize(R"(module(%h: f32[?,4], %x: f32[?,?,4]) {
             %last, %ys = scan(%h, %x) {carries = 1, xs = 1} do(%c: f32[?,4], %s: f32[?,4]) {
               %b = add(%c, %s)
               yield %b, %b
             }
             return %ys
           })",
                   {{DType::f32, {2, 4}}, {DType::f32, {9, 2, 4}}},
                   R"(module(%h: f32[2,4], %x: f32[9,2,4]) {
             %last, %ys = scan(%h, %x) {carries = 1, xs = 1} do(%c: f32[2,4], %s: f32[2,4]) {
               %b = add(%c, %s)
               yield %b, %b
             }
             return %ys
           })");
}

TEST(Specialize, KeepsDevicesAndSizesThatStayUnknown) {
  check_specialize(R"(module(%x: f32[?,?]@gpu:0) {
             %y = exp(%x) : f32[?,?]@gpu:0
             return %y
           })",
                   {{DType::f32, {unknown, 3}}},
                   R"(module(%x: f32[?,3]@gpu:0) {
             %y = exp(%x) : f32[?,3]@gpu:0
             return %y
           })");
}

TEST(Specialize, NamesTheInputThatDoesNotFit) {
  const Module module = ops::parse(R"(module(%x: f32[?,4], %tokens: i32[?]) {
             return %x
           })");
  expect_user_error(
      [&] {
        specialize(module, {{DType::f32, {8, 4}}, {DType::i64, {3}}});
      },
      {"input 1", "'tokens'", "i32[?]", "i64[3]"});
  expect_user_error(
      [&] {
        specialize(module, {{DType::f32, {8, 5}}, {DType::i32, {3}}});
      },
      {"input 0", "'x'", "f32[?,4]", "f32[8,5]"});
  expect_user_error(
      [&] {
        specialize(module, {{DType::f32, {8}}, {DType::i32, {3}}});
      },
      {"input 0", "'x'"});
  expect_user_error([&] { specialize(module, {{DType::f32, {8, 4}}}); }, {"expected 2", "got 1"});
}

TEST(Specialize, LetsOpsRefuseTheSizes) {
  const Module module = ops::parse(R"(module(%x: f32[?], %y: f32[?]) {
             %z = add(%x, %y)
             return %z
           })");
  expect_user_error(
      [&] {
        specialize(module, {{DType::f32, {2}}, {DType::f32, {3}}});
      },
      {"add", "[2]", "[3]"});
}

}  // namespace
}  // namespace keratin
