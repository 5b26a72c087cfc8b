#include "keratin/plan/storage.h"

#include <gtest/gtest.h>

#include "keratin/ir/module.h"
#include "keratin/ops/registry.h"

namespace keratin {
namespace {

// The outputs of the nodes, in order.
Values outputs_of(const Module& module) {
  Values all;
  for (const auto& node : module.block().nodes())
    for (const Value& output : node->outputs()) all.push_back(output);
  return all;
}

TEST(Storage, ViewsOfViewsBelongToOneOwner) {
  const Module m = ops::parse(R"(module(%x: f32[4]) {
    %a = neg(%x)
    %b = reshape(%a) {shape = [2, 2]}
    %c = reshape(%b) {shape = [4, 1]}
    return %c
  })");
  const Storage storage(m.block());
  const Values v = outputs_of(m);
  EXPECT_EQ(storage.owner(v[2]), v[0]);
  EXPECT_EQ(storage.owner(v[0]), v[0]);
  EXPECT_EQ(storage.index(v[1]), storage.index(v[2]));
  EXPECT_TRUE(storage.is_alias(v[1].node()));
  EXPECT_FALSE(storage.is_alias(v[0].node()));
}

TEST(Storage, OffsetsOfRowsOfRowsAddUp) {
  const Module m = ops::parse(R"(module(%x: f32[6,2]) {
    %a = slice(%x) {start = [1, 0], limit = [6, 2], step = [1, 1]}
    %b = slice(%a) {start = [2, 0], limit = [4, 2], step = [1, 1]}
    %n = neg(%b)
    return %n
  })");
  const Storage storage(m.block());
  const Values v = outputs_of(m);
  EXPECT_EQ(storage.offset(v[0]), 8U);
  EXPECT_EQ(storage.offset(v[1]), 24U);
  EXPECT_EQ(storage.owner(v[1]), m.block().parameters()[0]->out());
}

TEST(Storage, RowsOfComputedValuesAreCopied) {
  const Module m = ops::parse(R"(module(%x: f32[4,2]) {
    %a = neg(%x)
    %b = slice(%a) {start = [1, 0], limit = [4, 2], step = [1, 1]}
    return %b
  })");
  const Storage storage(m.block());
  EXPECT_FALSE(storage.is_alias(outputs_of(m)[1].node()));
}

TEST(Storage, OutputsOfANodeHaveTheirOwnIndices) {
  const Module m = ops::parse(R"(module(%x: f32[2]) {
    %b, %c = fused(%x) do(%y: f32[2]) { %0 = exp(%y) %1 = log(%y) yield %0, %1 }
    return %b, %c
  })");
  const Storage storage(m.block());
  const Values v = outputs_of(m);
  EXPECT_NE(storage.index(v[0]), storage.index(v[1]));
  EXPECT_EQ(storage.count(), 3U);
}

}  // namespace
}  // namespace keratin
