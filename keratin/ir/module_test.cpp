#include "keratin/ir/module.h"

#include <gtest/gtest.h>

#include "keratin/base/text.h"
#include "keratin/ir/sample_testing.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::EveryAttrs;
using testing::expect_user_error;
using testing::parse_sample;
using testing::scalar;

TEST(Module, ClonesAreIndependentAndEqual) {
  Module module = parse_sample(R"(module(%x: f32[], state %s: f32[], state %t: f32[]) {
    %c = body(%x) do(%p: f32[]) { %q, %r = pair(%p, %p) yield %r }
    update %t = %c
    update %s = %t
    return %c, %x
  })");
  const std::string before = text(module);
  const Module copy = module.clone();
  EXPECT_NO_THROW(verify(copy));
  EXPECT_EQ(text(copy), before);
  module.output(module.block().parameters()[0]->out());
  EXPECT_EQ(text(copy), before);
}

TEST(Module, NumbersEveryNodeOnceRegionsIncluded) {
  Module module = parse_sample(R"(module(%x: f32[]) {
    %a = every(%x)
    %c = body(%x) do(%p: f32[]) { %q = every(%p) yield %q }
    %d = every(%c)
    return %d
  })");
  EXPECT_EQ(module.number(), 6);
  EXPECT_EQ(module.block().nodes()[0]->id(), 1);
  EXPECT_EQ(module.block().nodes()[1]->region().nodes()[0]->id(), 4);
  EXPECT_EQ(module.block().nodes()[2]->id(), 5);
}

TEST(Module, OnlyStateIsUpdatedOnceAndKeepsItsType) {
  Module module;
  const Value x = module.input(scalar, "x"), s = module.state(scalar, "s");
  const Value i = module.input({DType::i32, {}}, "i");
  expect_user_error([&] { module.update(x, x); }, "only state");
  expect_user_error([&] { module.update(s, i); }, {"'s'", "f32[]", "i32[]"});
  module.update(s, x);
  expect_user_error([&] { module.update(s, x); }, {"'s'", "twice"});
}

TEST(Module, ManyUpdatesCostLittle) {
  Module module;
  for (int i = 0; i < 20000; ++i) module.update(module.state(scalar), module.input(scalar));
  EXPECT_EQ(module.clone().updates().size(), 20000);
}

TEST(Block, RefusesInvalidNodes) {
  Module module;
  const Value x = module.input(scalar);
  expect_user_error([&] { module.block().append(testing::every_op, {Value()}, EveryAttrs{}); },
                    {"every", "undefined"});
  expect_user_error([&] { module.block().append(testing::every_op, {x}); },
                    {"every", "attributes"});
  expect_user_error(
      [&] {
        module.block().append(testing::every_op, {x, x}, EveryAttrs{});
      },
      {"every", "expected 1 inputs", "got 2"});
  expect_user_error([&] { module.block().append(testing::body_op, {x}); },
                    {"body", "expected 1 regions", "got 0"});
  EXPECT_TRUE(module.block().nodes().empty());
}

TEST(Block, InliningNeedsAnArgumentPerParameter) {
  const Module from = parse_sample("module(%a: f32[], %b: f32[]) { %c = every(%b) return %c, %a }");
  Module to;
  const Value x = to.input(scalar, "x");
  to.block().results = inline_block(from.block(), to.block(), {x, x});
  EXPECT_EQ(text(to), text(parse_sample("module(%x: f32[]) { %c = every(%x) return %c, %x }")));
  EXPECT_THROW(inline_block(from.block(), to.block(), {x}), InternalError);
}

TEST(Attrs, KnowTheirStruct) {
  const Attrs attrs(EveryAttrs{.whole = 5});
  EXPECT_EQ(attrs.get<EveryAttrs>().whole, 5);
  EXPECT_THROW(attrs.get<NoAttrs>(), InternalError);
  EXPECT_EQ(attrs, Attrs(EveryAttrs{.whole = 5}));
  EXPECT_FALSE(attrs == Attrs(EveryAttrs{.whole = 6}));
  EXPECT_FALSE(attrs == Attrs());
  EXPECT_EQ(attrs.hash(), Attrs(EveryAttrs{.whole = 5}).hash());
  EXPECT_NE(attrs.hash(), Attrs(EveryAttrs{.whole = 6}).hash());
}

TEST(Node, PlacingMovesItsRegions) {
  Module module = parse_sample(
      "module(%x: f32[]) { %a = body(%x) do(%p: f32[]) { %q = every(%p) yield %q } return %a }");
  Node& node = *module.block().nodes()[0];
  const Device gpu{Device::Kind::gpu, 2};
  node.place(gpu);
  EXPECT_EQ(node.device(), gpu);
  EXPECT_EQ(node.region().parameters()[0]->device(), gpu);
  EXPECT_EQ(node.region().nodes()[0]->device(), gpu);
}

TEST(Node, KeepsItsOrigin) {
  Module module;
  const Value x = module.input({DType::f32, {2}});
  {
    const OriginScope layer(std::make_shared<const std::string>("dense"));
    module.output(module.block().append(testing::every_op, {x}, EveryAttrs{}).out());
  }
  module.output(module.block().append(testing::every_op, {x}, EveryAttrs{}).out());
  const Module copy = module.clone();
  EXPECT_EQ(*copy.block().nodes()[0]->origin(), "dense");
  EXPECT_EQ(copy.block().nodes()[1]->origin(), nullptr);
}

TEST(Block, SortsNodesAfterThoseTheyUse) {
  Module module = parse_sample(
      "module(%x: f32[2]) { %a = every(%x) %b = every(%a) %c = every(%x) %d = every(%c) "
      "%e = every(%b) return %e }");
  Block& block = module.block();
  const Value c = block.nodes()[2]->out();
  block.nodes()[1]->set_input(0, block.nodes()[3]->out());  // b of d, which comes later
  block.sort();
  EXPECT_NO_THROW(verify(module));
  EXPECT_EQ(text(module),
            text(parse_sample("module(%x: f32[2]) { %a = every(%x) %c = every(%x) %d = every(%c) "
                              "%b = every(%d) %e = every(%b) return %e }")));
  EXPECT_THROW(c.node().set_input(0, module.input({DType::f32, {3}})), InternalError);
  c.node().set_input(0, block.nodes()[4]->out());  // c of e: a circle
  EXPECT_THROW(block.sort(), InternalError);
}

TEST(Value, RefusesUndefinedValues) {
  const Value nothing;
  EXPECT_FALSE(nothing.defined());
  expect_user_error([&] { nothing.type(); }, {"Value", "undefined"});
  expect_user_error([&] { nothing.rank(); }, {"Value", "undefined"});
  expect_user_error([&] { nothing.block(); }, {"Value", "undefined"});
  expect_user_error([&] { nothing.node(); }, {"Value", "undefined"});
}

}  // namespace
}  // namespace keratin
