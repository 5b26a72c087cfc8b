// Tests which calls of layers see a mask, pass it on, or warn. Expected results are those of
// Keras 3.15 and, for dialect keras2, of the source of Keras 2.2.5.
#include <gtest/gtest.h>

#include "keratin/base/text.h"
#include "keratin/graph/input.h"
#include "keratin/layers/layers.h"
#include "keratin/model/model.h"
#include "keratin/model/program.h"
#include "keratin/ops/ops.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/warnings.h"

namespace keratin {
namespace {

using testing::expect_user_error;

// Returns 1 if its call saw a mask, else 0, in as many outputs as it has inputs.
class Sees final : public Layer {
 public:
  explicit Sees(bool supports) : Layer("Sees", {}), supports_(supports) {}
  std::string_view class_name() const override { return "Sees"; }
  LayerPtr fresh_copy() const override { return std::make_shared<Sees>(supports_); }
  bool supports_masking() const override { return supports_; }
  bool takes_mask() const override { return true; }
  Results call(const Call& c) const override {
    Values out;
    const Masks masks = c.masks();
    for (const Value x : c.inputs()) out.push_back(x * 0.0 + (masks[out.size()] ? 1.0 : 0.0));
    return out.size() == 1 ? Results(out[0]) : Results(out);
  }

 private:
  bool supports_;
};

// Returns its input unchanged, and computes no mask.
class Unmasks final : public Layer {
 public:
  Unmasks() : Layer("Unmasks", {}) {}
  std::string_view class_name() const override { return "Unmasks"; }
  LayerPtr fresh_copy() const override { return std::make_shared<Unmasks>(); }
  bool supports_masking() const override { return true; }
  Results call(const Call& c) const override { return c.input(); }
  Masks compute_mask(const Call&, size_t outputs) const override { return Masks(outputs); }
};

MaskedTensor plain() { return {Tensor::full(DType::f32, {1, 2, 1}, 5)}; }
MaskedTensor masked() {
  return {plain().value, Tensor::of<bool>(DType::boolean, {1, 2}, {true, false})};
}

RunResult run(const LayerPtr& layer, const Arguments<MaskedTensor>& arguments,
              Dialect dialect = Dialect::keras3) {
  return run_layer(*layer, arguments, {.dialect = dialect});
}
LayerPtr sees(bool supports = true) { return std::make_shared<Sees>(supports); }

bool saw(const RunResult& result, size_t i = 0) { return result.outputs.flat()[i].at(0) == 1; }

TEST(MaskProtocol, NoneRemovesAMaskInKeras2Only) {
  const Arguments<MaskedTensor> none{{masked()}, {{"mask", {}}}};
  EXPECT_TRUE(saw(run(sees(), none)));
  EXPECT_FALSE(saw(run(sees(), none, Dialect::keras2)));
}

TEST(MaskProtocol, PassesOnTheMaskOfOneTensorUnseen) {
  const Arguments<MaskedTensor> two{{masked()}, {{"other", plain()}}};
  const RunResult result = run(sees(), two);
  EXPECT_FALSE(saw(result));
  EXPECT_TRUE(result.masks[0].has_value());
  EXPECT_TRUE(saw(run(sees(), two, Dialect::keras2)));
}

TEST(MaskProtocol, WarnsOfAMaskThatTheCallDoesNotSee) {
  const auto x = Masking()(Input({2, 1}));
  const testing::Warnings warnings;
  sees(false)->call_symbolic({{x}, {{"other", Input({2, 1})}}});
  ASSERT_EQ(warnings.messages.size(), 1u);
  EXPECT_NE(warnings.messages[0].find("does not support masking"), std::string::npos);
}

TEST(MaskProtocol, LayersWithoutMaskingDropMasksInEveryDialect) {
  for (const Dialect dialect : {Dialect::keras3, Dialect::keras2}) {
    const RunResult result = run(sees(false), {{masked()}, {{"mask", {}}}}, dialect);
    EXPECT_FALSE(result.masks[0].has_value());
  }
}

TEST(MaskProtocol, PassesEachInputsMaskToItsOutput) {
  const Arguments<MaskedTensor> both{{Tree<MaskedTensor>{masked(), plain()}}, {}};
  for (const Dialect dialect : {Dialect::keras3, Dialect::keras2}) {
    const RunResult result = run(sees(), both, dialect);
    ASSERT_EQ(result.masks.size(), 2u);
    EXPECT_TRUE(result.masks[0].has_value());
    EXPECT_FALSE(result.masks[1].has_value());
  }
}

TEST(MaskProtocol, KeepsTheMaskOfAReturnedInputInKeras3) {
  const auto layer = std::make_shared<Unmasks>();
  EXPECT_TRUE(run(layer, {{masked()}, {}}).masks[0].has_value());
  EXPECT_FALSE(run(layer, {{masked()}, {}}, Dialect::keras2).masks[0].has_value());
}

// In Keras, a mask is computed by operations of the graph, which make its source deeper. The order
// of the weights shows the depth.
class MaskDepth : public ::testing::Test {
 protected:
  // A model with some layers and a chain of `length` others, with outputs of both.
  static std::string order(int length, const SymbolicTensor& x, const SymbolicTensor& y) {
    const auto z = Input({.shape = {3}, .name = "z"});
    SymbolicTensor h = z;
    for (int i = 0; i < length; ++i) h = Dense({.units = 3}, text("d", i))(h);
    const Model model({.inputs = {z, x}, .outputs = {h, y}});
    std::string names;
    for (const LayerPtr& layer : model.layers()) names += layer->name() + " ";
    return names;
  }

  const SymbolicTensor x = Input({.shape = {5, 2}, .name = "x"});
  const SymbolicTensor e = Dense({.units = 2}, "e")(x);
};

TEST_F(MaskDepth, CountsTheOperationsOfAMask) {
  const SymbolicTensor y = LSTM({.units = 3}, "lstm")(Masking({}, "masking")(e));
  EXPECT_EQ(order(3, x, y), "x z e d0 d1 masking d2 lstm ");
}

TEST_F(MaskDepth, AddsUpTheOperationsOfMergedMasks) {
  const SymbolicTensor a = Masking({}, "ma")(e), b = Masking({}, "mb")(e);
  const SymbolicTensor y = LSTM({.units = 3}, "lstm")(Add({}, "add")({a, b}));
  EXPECT_EQ(order(5, x, y), "z x d0 e d1 d2 ma mb d3 add d4 lstm ");
}

TEST_F(MaskDepth, SubgraphsNeedTheSourceOfTheirMask) {
  const SymbolicTensor m = Masking({}, "masking")(e), y = LSTM({.units = 3}, "lstm")(m);
  expect_user_error([&] { Model({.inputs = m, .outputs = y}); }, "Graph disconnected");
  EXPECT_EQ(Model({.inputs = e, .outputs = y}).layers().size(), 3u);
  EXPECT_EQ(Model({.inputs = {m, e}, .outputs = y}).layers().size(), 3u);
}

}  // namespace
}  // namespace keratin
