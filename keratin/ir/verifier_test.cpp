#include <gtest/gtest.h>

#include "keratin/base/text.h"
#include "keratin/ir/rewrite.h"
#include "keratin/ir/sample_testing.h"

namespace keratin {
namespace {

using testing::EveryAttrs;
using testing::parse_sample;
using testing::scalar;

void expect_broken(const Module& module, const std::string& part) {
  try {
    verify(module);
    ADD_FAILURE() << "nothing was found wrong with\n" << text(module);
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

Node& append_every(Block& block, Value input, Types types = {scalar}) {
  return block.append_typed(testing::every_op, {input}, EveryAttrs{}, std::move(types));
}

TEST(Verifier, AcceptsAValidModule) {
  EXPECT_NO_THROW(verify(parse_sample(R"(module(%x: f32[2], state %s: f32[2]) {
    %a, %b = pair(%x, %s)
    %c = body(%a) do(%p: f32[2]) { yield %p }
    update %s = %b
    return %c, %x
  })")));
}

TEST(Verifier, RefusesUndefinedValues) {
  Module module;
  append_every(module.block(), Value());
  expect_broken(module, "undefined");
  Module results;
  results.output(Value());
  expect_broken(results, "a result uses an undefined value");
}

TEST(Verifier, RefusesAUseBeforeTheDefinition) {
  Module module = parse_sample("module(%x: f32[]) { %a = every(%x) %b = every(%a) return %b }");
  module = reorder_nodes(std::move(module), {1, 0});
  expect_broken(module, "before it is defined");
}

TEST(Verifier, RefusesValuesOfOtherBlocks) {
  Module module = parse_sample(
      "module(%x: f32[]) { %a = body(%x) do(%p: f32[]) { %q = every(%p) yield %q } return %a }");
  Block& region = module.block().nodes()[0]->region();
  Module outward = module.clone();
  append_every(outward.block(), outward.block().nodes()[0]->region().results[0]);
  expect_broken(outward, "another block");
  append_every(region, module.block().parameters()[0]->out());
  expect_broken(module, "another block");
  Module other, foreign;
  append_every(foreign.block(), other.input(scalar));
  expect_broken(foreign, "before it is defined");
}

TEST(Verifier, RefusesOutputsThatDoNotExist) {
  Module module;
  const Value x = module.input(scalar);
  append_every(module.block(), Value(&x.node(), 1));
  expect_broken(module, "uses output 1");
}

TEST(Verifier, RefusesTypesThatTheOpDoesNotInfer) {
  for (const Types& types :
       {Types{{DType::i8, {}}}, Types{{DType::f32, {1}}}, Types{}, Types{scalar, scalar}}) {
    Module module;
    append_every(module.block(), module.input(scalar), types);
    expect_broken(module, "its op gives");
  }
}

TEST(Verifier, ReportsShapeErrorsAsInternalError) {
  Module module;
  const Value x = module.input(scalar), y = module.input({DType::i8, {}});
  module.block().append_typed(testing::pair_op, {x, y}, {}, {scalar, scalar});
  expect_broken(module, "pair: expected two equal types");
  Module arity;
  arity.block().append_typed(testing::pair_op, {arity.input(scalar)}, {}, {scalar, scalar});
  expect_broken(arity, "pair: expected 2 inputs");
}

TEST(Verifier, RefusesRegionsOfAnotherDepth) {
  Module module;
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(std::make_unique<Block>(2));
  module.block().append_typed(testing::body_op, {}, {}, {}, std::move(regions));
  expect_broken(module, "another depth");
}

TEST(Verifier, RefusesADeviceTheOpDoesNotChoose) {
  Module module;
  module.block().append_typed(testing::far_op, {}, {}, {{DType::f32, {2}}});
  expect_broken(module, "gpu:1");
}

TEST(Verifier, RefusesUpdatesOfOtherValuesThanState) {
  Module module;
  const Value x = module.input(scalar, "x"), s = module.state(scalar, "s");
  const Value i = module.input({DType::i8, {}}, "i");
  module.updates() = {{x, s}};
  expect_broken(module, "no state");
  module.updates() = {{s, i}};
  expect_broken(module, "changes a state's type");
  module.updates() = {{s, Value()}};
  expect_broken(module, "undefined");
  module.updates() = {{s, x}, {s, x}};
  expect_broken(module, "twice");
  module.updates() = {{s, x}};
  EXPECT_NO_THROW(verify(module));
}

}  // namespace
}  // namespace keratin
