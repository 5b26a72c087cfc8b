#include "keratin/graph/operation.h"

#include "keratin/graph/functional.h"
#include "keratin/graph/input.h"
#include "keratin/graph/symbolic_ops.h"
#include "keratin/layers/dense.h"
#include "keratin/layers/registry.h"
#include "keratin/model/model.h"
#include "keratin/testing/check_op.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/expect_values.h"
#include "keratin/testing/golden.h"

namespace keratin {
namespace {

using testing::expect_user_error;
using testing::golden_structure;
using testing::golden_tensor;

constexpr DType f32 = DType::f32, i32 = DType::i32, boolean = DType::boolean;

// Models of Keras that are made of operations: they load, run and write the same config.
TEST(Operation, RunsTheModelsOfKeras) {
  for (const char* name : {"op_nodes", "op_functions"}) {
    SCOPED_TRACE(name);
    const Json test = testing::read_golden(text("models/", name, ".json"));
    const Json& config = test.at("config");
    const Model model(layer_from_json(config));
    std::vector<std::string> layers;
    for (const LayerPtr& layer : model.layers()) layers.push_back(layer->name());
    EXPECT_EQ(config::write(layers), test.at("layers"));
    std::vector<Tensor> weights;
    for (const Json& weight : test.at("weights").as_array())
      weights.push_back(golden_tensor(weight));
    model.layer()->set_weights(weights);
    const auto got = model.predict(golden_structure(test.at("inputs"))).flat();
    const auto wanted = golden_structure(test.at("outputs")).flat();
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i)
      testing::expect_close(got[i], wanted[i], 2e-5, text("output ", i));
    EXPECT_EQ(model.get_config().at("layers"), config.at("config").at("layers"));
  }
}

// The same graph written in C++ has Keras's names, order and configs.
TEST(Operation, OperatorsMakeTheNodesOfKeras) {
  clear_session();
  const auto x = Input({.shape = {4}, .name = "x"}), y = Input({.shape = {4}, .name = "y"});
  const SymbolicTensor dense = Dense({.units = 4}, "dense")(x + y);
  const auto mixed = 2.0 * dense - y / 3.0;
  const auto joined = ops::concatenate({mixed, -x, ops::abs(y)}, -1);
  const auto part = ops::get_item(joined, {Slice{}, Slice{.start = 1, .stop = 5, .step = 2}});
  const auto mean = ops::mean(joined, 1, true);
  const Model model({.inputs = {x, y}, .outputs = {joined, part, mean}, .name = "op_nodes"});
  const Json test = testing::read_golden("models/op_nodes.json");
  const Json &theirs = test.at("config").at("config"), ours = model.get_config();
  EXPECT_EQ(ours.at("output_layers"), theirs.at("output_layers"));
  ASSERT_EQ(ours.at("layers").size(), theirs.at("layers").size());
  for (size_t i = 0; i < ours.at("layers").size(); ++i)
    EXPECT_EQ(ours.at("layers")[i], theirs.at("layers")[i]);
}

// Runs what f makes of one symbolic input on data.
template <class F>
Tensor run(const Tensor& x, const F& f) {
  Dims shape(x.shape().begin() + 1, x.shape().end());
  const auto input = Input({.shape = Shape(shape), .dtype = x.dtype()});
  const SymbolicTensor output = f(input);
  const Tensor y = Model({.inputs = input, .outputs = output}).predict(x).flat()[0];
  EXPECT_EQ(output.dtype(), y.dtype());
  EXPECT_TRUE(compatible(output.shape(), y.shape())) << output.shape() << y.shape();
  return y;
}

const Tensor numbers = Tensor::of<double>(f32, {1, 4}, {-1, 0.5, 2, 3});
const Tensor whole = Tensor::of<int>(i32, {1, 3}, {-7, 2, 5});

TEST(Operation, PromotesAsKerasDoes) {
  using T = SymbolicTensor;
  EXPECT_EQ(run(whole, [](T x) { return x * 2; }), Tensor::of<int>(i32, {1, 3}, {-14, 4, 10}));
  EXPECT_EQ(run(whole, [](T x) { return x * 0.5; }),
            Tensor::of<double>(f32, {1, 3}, {-3.5, 1, 2.5}));
  EXPECT_EQ(run(whole, [](T x) { return x / 2; }), Tensor::of<double>(f32, {1, 3}, {-3.5, 1, 2.5}));
  EXPECT_EQ(run(whole, [](T x) { return ops::floor_divide(x, 2); }),
            Tensor::of<int>(i32, {1, 3}, {-4, 1, 2}));
  EXPECT_EQ(run(whole, [](T x) { return ops::mean(x, 1); }), Tensor::of<double>(f32, {1}, {0}));
  EXPECT_EQ(run(whole, [](T x) { return ops::sum(x, 1); }), Tensor::of<int>(i32, {1}, {0}));
  EXPECT_EQ(run(whole, [](T x) { return ops::sum(x > 0, 1); }), Tensor::of<int>(i32, {1}, {2}));
  EXPECT_EQ(run(whole, [](T x) { return ops::argmax(x, 1); }), Tensor::of<int>(i32, {1}, {2}));
  EXPECT_EQ(run(whole, [](T x) { return ops::sqrt(ops::square(x)); }),
            Tensor::of<double>(f32, {1, 3}, {7, 2, 5}));
  EXPECT_EQ(run(whole, [](T x) { return x + ops::cast(x, f32); }),
            Tensor::of<double>(f32, {1, 3}, {-14, 4, 10}));
}

TEST(Operation, ComputesWhatItsNameSays) {
  using T = SymbolicTensor;
  const auto row = [](const std::vector<double>& v) {
    return Tensor::of(f32, {1, static_cast<int64_t>(v.size())}, v);
  };
  EXPECT_EQ(run(numbers, [](T x) { return 1.0 - x; }), row({2, 0.5, -1, -2}));
  EXPECT_EQ(run(numbers, [](T x) { return ops::relu(x); }), row({0, 0.5, 2, 3}));
  EXPECT_EQ(run(numbers, [](T x) { return ops::where(x > 1.0, x, 0.0); }), row({0, 0, 2, 3}));
  EXPECT_EQ(run(numbers, [](T x) { return ops::clip(x, 0, 1); }), row({0, 0.5, 1, 1}));
  EXPECT_EQ(run(numbers, [](T x) { return ops::maximum(x, 1.0); }), row({1, 1, 2, 3}));
  EXPECT_EQ(run(numbers, [](T x) { return ops::flip(x, 1); }), row({3, 2, 0.5, -1}));
  EXPECT_EQ(run(numbers, [](T x) { return ops::power(x, 2); }), row({1, 0.25, 4, 9}));
  EXPECT_EQ(run(numbers, [](T x) { return (x > 0.0) & (x < 2.5); }),
            Tensor::of<int>(boolean, {1, 4}, {0, 1, 1, 0}));
  EXPECT_EQ(run(numbers, [](T x) { return !(x >= 2.0); }),
            Tensor::of<int>(boolean, {1, 4}, {1, 1, 0, 0}));
  EXPECT_EQ(run(numbers,
                [](T x) {
                  return ops::max(ops::reshape(x, {-1, 2, 2}), 2);
                }),
            row({0.5, 3}));
  EXPECT_EQ(run(numbers, [](T x) { return ops::stack({x, x}, 1); }).shape(), Shape({1, 2, 4}));
  EXPECT_EQ(run(numbers, [](T x) { return ops::squeeze(ops::expand_dims(x, 1), 1); }), numbers);
  EXPECT_EQ(run(numbers, [](T x) { return ops::split(x, {1, 3}, 1)[1]; }), row({0.5, 2}));
  EXPECT_EQ(run(numbers, [](T x) { return ops::tile(x, {1, 2}); }).shape(), Shape({1, 8}));
  EXPECT_EQ(run(numbers, [](T x) { return ops::ones_like(x); }), row({1, 1, 1, 1}));
  EXPECT_EQ(run(numbers,
                [](T x) {
                  const T column = ops::expand_dims(x, -1);
                  return ops::matmul(ops::transpose(column, Dims{0, 2, 1}), column);
                }),
            Tensor::of<double>(f32, {1, 1, 1}, {14.25}));
}

TEST(Operation, IndexesAsPythonDoes) {
  using T = SymbolicTensor;
  std::vector<int> count(24);
  for (int i = 0; i < 24; ++i) count[static_cast<size_t>(i)] = i;
  const Tensor x = Tensor::of(i32, {2, 3, 4}, count);
  const auto at = [&](const std::vector<Index>& index) {
    return run(x, [&](T t) { return ops::get_item(t, index); });
  };
  EXPECT_EQ(at({Slice{}, 0}), Tensor::of<int>(i32, {2, 4}, {0, 1, 2, 3, 12, 13, 14, 15}));
  EXPECT_EQ(at({Slice{}, -1, 1}), Tensor::of<int>(i32, {2}, {9, 21}));
  EXPECT_EQ(at({Slice{}, -2, 1}), Tensor::of<int>(i32, {2}, {5, 17}));
  EXPECT_EQ(at({ellipsis, 3}), Tensor::of<int>(i32, {2, 3}, {3, 7, 11, 15, 19, 23}));
  EXPECT_EQ(at({Slice{}, 1, Slice{.step = -1}}),
            Tensor::of<int>(i32, {2, 4}, {7, 6, 5, 4, 19, 18, 17, 16}));
  EXPECT_EQ(at({Slice{}, new_axis, 0, Slice{.start = 1, .stop = 3}}),
            Tensor::of<int>(i32, {2, 1, 2}, {1, 2, 13, 14}));
  EXPECT_EQ(at({ellipsis, new_axis}).shape(), Shape({2, 3, 4, 1}));
  EXPECT_EQ(at({1}).shape(), Shape({3, 4}));
  expect_user_error([&] { at({Slice{}, 3}); }, {"GetItem", "index 3", "axis 1"});
  expect_user_error([&] { at({0, 0, 0, 0}); }, "too many indices");
}

TEST(Operation, IsNotALayerOfTheModel) {
  const auto x = Input({.shape = {3}, .name = "a"});
  const Model model({.inputs = x, .outputs = ops::exp(x)});
  EXPECT_EQ(model.layers().size(), 1u);
  EXPECT_EQ(model.graph().operations().size(), 2u);
}

TEST(Operation, DropsMasks) {
  const auto x = Input({4, 3});
  EXPECT_FALSE((x + 1.0).has_mask());
}

TEST(Operation, LoadsOnlyWhatThereIs) {
  const auto make = [](const char* name, const char* module) {
    return layer_from_json(Json::Object{
        {"class_name", name}, {"module", module}, {"config", Json::Object{{"name", "n"}}}});
  };
  EXPECT_TRUE(make("Add", "keras.src.ops.numpy")->is_operation());
  EXPECT_EQ(make("Add", "keras.src.ops.numpy")->name(), "n");
  expect_user_error([&] { make("Frobnicate", "keras.src.ops.numpy"); },
                    {"operation 'Frobnicate'", "keras.src.ops.numpy", "'n'"});
}

TEST(Operation, TableIsSorted) {
  std::string_view last;
  for (const OperationDef& def : all_operations()) {
    EXPECT_LT(last, def.class_name);
    last = def.class_name;
  }
}

}  // namespace
}  // namespace keratin
