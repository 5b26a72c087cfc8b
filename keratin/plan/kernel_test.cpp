#include "keratin/plan/kernel.h"
#include "keratin/ops/scalar.h"

#include <gtest/gtest.h>

#include "keratin/ir/module.h"
#include "keratin/ops/ops.h"
#include "keratin/ops/records.h"
#include "keratin/plan/view.h"

namespace keratin {
namespace {

class NamedKernel final : public Kernel {
 public:
  std::string describe() const override { return "named"; }
  Launch bind(Pointers) const override {
    return [] {};
  }
};

Offer make_named(const Node&, const KernelOptions&) {
  return {.kernel = std::make_unique<NamedKernel>()};
}

constexpr KernelDef vectors_only{
    .name = "vectors only",
    .ops = {&ops::record_of(ScalarOp::tanh), &ops::record_of(ScalarOp::exp)},
    .refuses = [](const Node& node) -> std::optional<std::string> {
      if (node.type().shape.rank() == 1) return std::nullopt;
      return "the rank is not 1";
    },
    .make = make_named,
};
constexpr KernelDef pointwise_only{
    .name = "pointwise only",
    .refuses = [](const Node& node) -> std::optional<std::string> {
      if (node.op().scalar) return std::nullopt;
      return "not pointwise";
    },
    .make = make_named,
};
constexpr KernelDef needs_threads{
    .name = "needs threads",
    .ops = {&ops::record_of(ScalarOp::exp)},
    .make = [](const Node& node, const KernelOptions& options) -> Offer {
      if (options.threads < 2) return refuse("only ", options.threads, " thread");
      return make_named(node, options);
    },
};

KernelList listed() {
  constexpr const KernelDef* all[] = {&vectors_only, &needs_threads, &pointwise_only};
  return KernelList(all);
}

const Node& over(Module& module, Value (*op)(Value), const Shape& shape) {
  return op(module.input({DType::f32, shape})).node();
}

TEST(KernelList, TakesTheFirstKernelThatDoesNotRefuse) {
  Module module;
  const KernelList list = listed();
  EXPECT_EQ(list.make(over(module, ops::exp, {3}), {}).name, "vectors only");
  EXPECT_EQ(list.make(over(module, ops::exp, {3, 2}), {.threads = 2}).name, "needs threads");
  EXPECT_EQ(list.make(over(module, ops::exp, {3, 2}), {}).name, "pointwise only");
  EXPECT_EQ(list.make(over(module, ops::negative, {3}), {}).name, "pointwise only");
}

TEST(KernelList, SaysWhyBetterKernelsRefused) {
  Module module;
  const Choice choice = listed().make(over(module, ops::exp, {3, 2}), {});
  ASSERT_EQ(choice.refused.size(), 2u);
  EXPECT_EQ(choice.refused[0].kernel, "vectors only");
  EXPECT_EQ(choice.refused[0].reason, "the rank is not 1");
  EXPECT_EQ(choice.refused[1].kernel, "needs threads");
  EXPECT_EQ(choice.refused[1].reason, "only 1 thread");
}

TEST(KernelList, ClaimsNodesThatSomeKernelDoesNotRefuse) {
  Module module;
  const KernelList list = listed();
  EXPECT_TRUE(list.claims(over(module, ops::tanh, {3, 2})));
  const Value x = module.input({DType::f32, {2, 2}});
  EXPECT_FALSE(list.claims(ops::matmul(x, x).node()));
}

template <class T>
struct ScaleOperands {
  T x, scale, offset, y, spare;

  static ScaleOperands read(OperandReader<T> r) {
    return {.x = r.input(),
            .scale = r.input_if(false),
            .offset = r.optional_input(),
            .y = r.output(),
            .spare = r.output_if(false)};
  }
};

TEST(View, ReadsOperandsByNameWhereTheyAreNow) {
  Module module;
  const Value a = module.input({DType::f32, {2}}), b = module.input({DType::f32, {2}});
  const Node& node = (a + b).node();
  float first[2] = {1, 2}, second[2] = {3, 4}, result[2] = {};
  void* pointers[] = {first, second, nullptr, result};
  const auto v = operands<ScaleOperands>(node, pointers);
  EXPECT_EQ(v.x.as<float>()[1], 2);
  EXPECT_EQ(v.offset.shape(), (Shape{2}));
  EXPECT_FALSE(v.scale);
  EXPECT_FALSE(v.y);  // nobody uses it
  pointers[0] = second;
  EXPECT_EQ(v.x.as<const float>()[1], 4);
  EXPECT_EQ(*scratch_slot(node, pointers), result);
  EXPECT_THROW(v.x.as<double>(), InternalError);
}

}  // namespace
}  // namespace keratin
