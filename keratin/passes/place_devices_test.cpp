#include "keratin/passes/place_devices.h"

#include <gtest/gtest.h>

#include "keratin/base/text.h"
#include "keratin/ops/registry.h"
#include "keratin/passes/insert_transfers.h"
#include "keratin/testing/check_pass.h"

namespace keratin {
namespace {

using testing::check_pass;

Module place(Module module) { return place_devices(std::move(module)); }
Module place_and_transfer(Module module) { return insert_transfers(place(std::move(module))); }

TEST(PlaceDevices, NodesFollowTheirFirstInput) {
  check_pass(place,
             R"(module(%x: f32[3]@cpu:1, %y: f32[3]@gpu:0) {
                  %a = add(%x, %y)
                  %b = exp(%y)
                  %c = add(%b, %a)
                  return %c
                })",
             R"(module(%x: f32[3]@cpu:1, %y: f32[3]@gpu:0) {
                  %a = add(%x, %y) : f32[3]@cpu:1
                  %b = exp(%y) : f32[3]@gpu:0
                  %c = add(%b, %a) : f32[3]@gpu:0
                  return %c
                })");
}

TEST(PlaceDevices, ConstantsFollowTheirFirstUserOrTheirState) {
  check_pass(place,
             R"(module(%x: f32[3]@cpu:1, %y: f32[3]@gpu:0, state %s: f32[3]@gpu:1) {
                  %one = constant() {value = f32[] {1}}
                  %ones = broadcast_to(%one) {shape = [3]}
                  %a = add(%ones, %y)
                  %b = add(%x, %ones)
                  %two = constant() {value = f32[3] {2, 2, 2}}
                  %three = constant() {value = f32[] {3}}
                  update %s = %two
                  return %a, %b, %three
                })",
             R"(module(%x: f32[3]@cpu:1, %y: f32[3]@gpu:0, state %s: f32[3]@gpu:1) {
                  %one = constant() {value = f32[] {1}} : f32[]@gpu:0
                  %ones = broadcast_to(%one) {shape = [3]} : f32[3]@gpu:0
                  %a = add(%ones, %y) : f32[3]@gpu:0
                  %b = add(%x, %ones) : f32[3]@cpu:1
                  %two = constant() {value = f32[3] {2, 2, 2}} : f32[3]@gpu:1
                  %three = constant() {value = f32[] {3}} : f32[]
                  update %s = %two
                  return %a, %b, %three
                })");
}

TEST(PlaceDevices, NodesFollowTransfers) {
  check_pass(place,
             R"(module(%x: f32[3]) {
                  %a = transfer(%x) {device = gpu:1}
                  %b = exp(%a)
                  return %b
                })",
             R"(module(%x: f32[3]) {
                  %a = transfer(%x) {device = gpu:1} : f32[3]@gpu:1
                  %b = exp(%a) : f32[3]@gpu:1
                  return %b
                })");
}

TEST(PlaceDevices, RegionsRunWhereTheirNodeDoes) {
  check_pass(place,
             R"(module(%x: f32[3]@gpu:0) {
                  %a = fused(%x) do(%p: f32[3]) {
                    %one = constant() {value = f32[] {1}}
                    %q = add(%p, %one)
                    yield %q
                  }
                  return %a
                })",
             R"(module(%x: f32[3]@gpu:0) {
                  %a = fused(%x) do(%p: f32[3]@gpu:0) {
                    %one = constant() {value = f32[] {1}} : f32[]@gpu:0
                    %q = add(%p, %one) : f32[3]@gpu:0
                    yield %q
                  } : f32[3]@gpu:0
                  return %a
                })");
}

TEST(PlaceDevices, CollectiveResultsStayOnTheirDevices) {
  check_pass(place_and_transfer,
             R"(module(%x: f32[3]@gpu:0, %y: f32[3]@gpu:1) {
                  %one = constant() {value = f32[3] {1, 1, 1}}
                  %a, %b, %c, %d = all_reduce(%x, %y, %x, %one) {devices = [gpu:0, gpu:1]}
                  %e = exp(%a)
                  %f = exp(%b)
                  %g = add(%d, %c)
                  return %e, %f, %g
                })",
             R"(module(%x: f32[3]@gpu:0, %y: f32[3]@gpu:1) {
                  %one = constant() {value = f32[3] {1, 1, 1}} : f32[3]@gpu:1
                  %a, %b, %c, %d = all_reduce(%x, %y, %x, %one) {devices = [gpu:0, gpu:1]}
                      : f32[3]@gpu:0, f32[3]@gpu:1, f32[3]@gpu:0, f32[3]@gpu:1
                  %e = exp(%a) : f32[3]@gpu:0
                  %f = exp(%b) : f32[3]@gpu:1
                  %t = transfer(%c) {device = gpu:1} : f32[3]@gpu:1
                  %g = add(%d, %t) : f32[3]@gpu:1
                  return %e, %f, %g
                })");
}

TEST(PlaceDevices, HintsComeFirst) {
  Module module = ops::parse(R"(module(%x: f32[3]) {
                  %a = exp(%x)
                  %b = neg(%a)
                  return %b
                })");
  const Node* const first = module.block().nodes()[0].get();
  module = place_devices(std::move(module), {{first, *parse_device("gpu:2")}});
  EXPECT_EQ(text(module.block().nodes()[0]->device()), "gpu:2");
  EXPECT_EQ(text(module.block().results[0].type().device), "gpu:2");
}

TEST(InsertTransfers, EachValueOncePerDevice) {
  check_pass(place_and_transfer,
             R"(module(%x: f32[3]@cpu:1, %y: f32[3]@gpu:0) {
                  %a = add(%x, %y)
                  %b = mul(%a, %y)
                  %c = add(%y, %b)
                  return %c
                })",
             R"(module(%x: f32[3]@cpu:1, %y: f32[3]@gpu:0) {
                  %t = transfer(%y) {device = cpu:1} : f32[3]@cpu:1
                  %a = add(%x, %t) : f32[3]@cpu:1
                  %b = mul(%a, %t) : f32[3]@cpu:1
                  %u = transfer(%b) {device = gpu:0} : f32[3]@gpu:0
                  %c = add(%y, %u) : f32[3]@gpu:0
                  return %c
                })");
}

TEST(InsertTransfers, CreatesConstantsOnEachDevice) {
  check_pass(place_and_transfer,
             R"(module(%x: f32[3]@cpu:1, %y: f32[3]@gpu:0) {
                  %one = constant() {value = f32[] {1}}
                  %a = add(%x, %one)
                  %b = add(%y, %one)
                  return %a, %b
                })",
             R"(module(%x: f32[3]@cpu:1, %y: f32[3]@gpu:0) {
                  %one = constant() {value = f32[] {1}} : f32[]@cpu:1
                  %a = add(%x, %one) : f32[3]@cpu:1
                  %uno = constant() {value = f32[] {1}} : f32[]@gpu:0
                  %b = add(%y, %uno) : f32[3]@gpu:0
                  return %a, %b
                })");
}

TEST(InsertTransfers, TransfersNewStateToItsDeviceAndDropsNeedlessTransfers) {
  check_pass(place_and_transfer,
             R"(module(%x: f32[3], state %s: f32[3]@gpu:0) {
                  %a = add(%x, %s)
                  %b = transfer(%a)
                  update %s = %b
                  return
                })",
             R"(module(%x: f32[3], state %s: f32[3]@gpu:0) {
                  %t = transfer(%s)
                  %a = add(%x, %t)
                  %b = transfer(%a) {device = gpu:0} : f32[3]@gpu:0
                  update %s = %b
                  return
                })");
}

TEST(InsertTransfers, MovesTheInputsOfRegions) {
  check_pass(place_and_transfer,
             R"(module(%x: f32[3]@gpu:0, %y: f32[3]) {
                  %a = fused(%x, %y) do(%p: f32[3], %r: f32[3]) {
                    %q = add(%p, %r)
                    yield %q
                  }
                  return %a
                })",
             R"(module(%x: f32[3]@gpu:0, %y: f32[3]) {
                  %t = transfer(%y) {device = gpu:0} : f32[3]@gpu:0
                  %a = fused(%x, %t) do(%p: f32[3]@gpu:0, %r: f32[3]@gpu:0) {
                    %q = add(%p, %r) : f32[3]@gpu:0
                    yield %q
                  } : f32[3]@gpu:0
                  return %a
                })");
}

}  // namespace
}  // namespace keratin
