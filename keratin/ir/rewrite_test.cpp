#include "keratin/ir/rewrite.h"

#include <gtest/gtest.h>

#include "keratin/base/text.h"
#include "keratin/ir/sample_testing.h"

namespace keratin {
namespace {

using testing::EveryAttrs;
using testing::parse_sample;

int64_t whole(const Node& node) { return node.attr<EveryAttrs>().whole; }

Value every(Value input, int64_t number) {
  return input.block().append(testing::every_op, {input}, EveryAttrs{.whole = number}).out();
}

TEST(Rewrite, VisitsNodesWithInputsAlreadyReplaced) {
  Module module = parse_sample(R"(module(%x: f32[]) {
    %a = every(%x) {whole = 1}
    %b = every(%a) {whole = 2}
    %c = every(%b) {whole = 1}
    return %c, %b
  })");
  module = rewrite(std::move(module), [](const Node& node) -> std::optional<Values> {
    if (whole(node) != 1) return std::nullopt;
    return Values{node.in()};
  });
  EXPECT_NO_THROW(verify(module));
  EXPECT_EQ(text(module), text(parse_sample(R"(module(%x: f32[]) {
    %b = every(%x) {whole = 2}
    return %b, %b
  })")));
}

TEST(Rewrite, VisitsNewNodesOnlyInRewriteFully) {
  const auto halve = [](const Node& node) -> std::optional<Values> {
    if (whole(node) <= 1) return std::nullopt;
    const Value inner = every(node.in(), whole(node) / 2);
    return Values{every(inner, whole(node) / 2)};
  };
  const auto count = [](const Module& module) { return module.block().nodes().size(); };
  const std::string_view text = "module(%x: f32[]) { %a = every(%x) {whole = 8} return %a }";
  EXPECT_EQ(count(rewrite(parse_sample(text), halve)), 2);
  const Module done = rewrite_fully(parse_sample(text), halve);
  EXPECT_NO_THROW(verify(done));
  EXPECT_EQ(count(done), 8);
}

TEST(Rewrite, ReachesUpdatesAndRegionsAndSeveralOutputs) {
  Module module = parse_sample(R"(module(%x: f32[], state %s: f32[]) {
    %a, %b = pair(%x, %s)
    %c = body(%a) do(%p: f32[]) { %q, %r = pair(%p, %p) yield %r }
    update %s = %b
    return %c
  })");
  module = rewrite(std::move(module), [](const Node& node) -> std::optional<Values> {
    if (&node.op() != &testing::pair_op) return std::nullopt;
    return Values{node.in(1), node.in(0)};
  });
  EXPECT_NO_THROW(verify(module));
  EXPECT_EQ(text(module), text(parse_sample(R"(module(%x: f32[], state %s: f32[]) {
    %c = body(%s) do(%p: f32[]) { yield %p }
    update %s = %x
    return %c
  })")));
}

TEST(Rewrite, DetectsRulesThatFormACycle) {
  const auto forever = [](const Node& node) -> std::optional<Values> {
    return Values{every(node.in(), whole(node))};
  };
  EXPECT_THROW(
      rewrite_fully(parse_sample("module(%x: f32[]) { %a = every(%x) return %a }"), forever),
      InternalError);
}

TEST(Rewrite, RefusesInvalidReplacements) {
  const std::string_view text = "module(%x: f32[]) { %a = every(%x) return %a }";
  for (const auto& wrong : std::vector<Rewrite>{
           [](const Node&) { return Values{}; },
           [](const Node&) { return Values{Value()}; },
           [](const Node& node) { return Values{node.out()}; },
           [](const Node& node) {
             return Values{node.in(), node.in()};
           },
       })
    EXPECT_THROW(rewrite(parse_sample(text), wrong), InternalError);
}

TEST(Rewrite, AHundredThousandNodesInARow) {
  Module module;
  Value x = module.input({DType::f32, {}});
  for (int i = 0; i < 100000; ++i) x = every(x, i % 2);
  module.output(x);
  module = rewrite_fully(std::move(module), [](const Node& node) -> std::optional<Values> {
    if (whole(node) != 0) return std::nullopt;
    return Values{every(every(node.in(), 2), 2)};
  });
  EXPECT_NO_THROW(verify(module));
  EXPECT_EQ(module.block().nodes().size(), 150000);
}

TEST(RemoveNodes, DropsThemInRegionsToo) {
  Module module = parse_sample(R"(module(%x: f32[]) {
    %a = every(%x) {whole = 9}
    %c = body(%x) do(%p: f32[]) { %q = every(%p) {whole = 9} yield %p }
    return %c
  })");
  module = remove_nodes(std::move(module), [](const Node& node) {
    return &node.op() == &testing::every_op && whole(node) == 9;
  });
  EXPECT_NO_THROW(verify(module));
  EXPECT_EQ(module.block().nodes().size(), 1);
  EXPECT_TRUE(module.block().nodes()[0]->region().nodes().empty());
}

TEST(ReorderNodes, NeedsEveryPosition) {
  EXPECT_THROW(reorder_nodes(parse_sample("module(%x: f32[]) { %a = every(%x) return %a }"), {}),
               InternalError);
}

void expect_positions(const Block& block) {
  for (size_t i = 0; i < block.nodes().size(); ++i) EXPECT_EQ(block.nodes()[i]->position(), i);
}

TEST(Rewrite, NodesKnowTheirPositions) {
  Module module = parse_sample(R"(module(%x: f32[], %y: f32[]) {
    %a = every(%x) {whole = 4}
    %b = every(%y) {whole = 1}
    %c = every(%y) {whole = 2}
    return %a, %c
  })");
  EXPECT_EQ(module.block().parameters()[1]->position(), 1);
  expect_positions(module.block());
  module = reorder_nodes(std::move(module), {2, 0, 1});
  expect_positions(module.block());
  module = remove_nodes(std::move(module), [](const Node& node) { return whole(node) == 1; });
  expect_positions(module.block());
  module = rewrite_fully(std::move(module), [](const Node& node) -> std::optional<Values> {
    if (whole(node) <= 1) return std::nullopt;
    return Values{every(every(node.in(), whole(node) / 2), whole(node) / 2)};
  });
  EXPECT_EQ(module.block().nodes().size(), 6);
  expect_positions(module.block());
}

}  // namespace
}  // namespace keratin
