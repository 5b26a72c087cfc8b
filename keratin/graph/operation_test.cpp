#include "keratin/graph/operation.h"
#include "keratin/tensor/shape_rules.h"

#include <functional>
#include <set>

#include "keratin/base/text.h"
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

using enum DType;

// Models of Keras made of operations load, compute the same, and write the same config.
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

// tests/golden/operations.json has expressions of Keras, their graphs and their numbers.
TEST(Operation, ComputesWhatKerasDoes) {
  const Json cases = testing::read_golden("operations.json");
  ASSERT_GE(cases.size(), 380u);
  std::set<std::string> seen;
  for (const Json& test : cases.as_array()) {
    SCOPED_TRACE(test.at("name").as_string());
    const Json& config = test.at("config");
    const Json& layers = config.at("config").at("layers");
    for (const Json& layer : layers.as_array()) seen.insert(layer.at("class_name").as_string());
    try {
      const Model model(layer_from_json(config));
      EXPECT_EQ(testing::without_null_arguments(model.get_config().at("layers")),
                testing::without_null_arguments(layers));
      const auto got = model.predict(golden_structure(test.at("inputs"))).flat();
      const auto wanted = golden_structure(test.at("outputs")).flat();
      ASSERT_EQ(got.size(), wanted.size());
      for (size_t i = 0; i < got.size(); ++i)
        testing::expect_close(got[i], wanted[i], 1e-5, text("output ", i));
    } catch (const UserError& error) {
      ADD_FAILURE() << error.what();
    }
  }
  for (const OperationDef& def : all_operations())
    EXPECT_TRUE(seen.contains(std::string(def.class_name))) << def.class_name << " has no case";
}

// C++ that reads like the expression makes the graph that Keras makes of the expression.
TEST(Operation, ReadsAsTheExpressionsOfKeras) {
  using T = SymbolicTensor;
  const auto of = [](const T& t) { return Symbols(t); };
  struct Twin {
    const char* code;
    std::function<Symbols(const std::map<std::string, T>&)> make;
  };
  const auto x = [](const auto& in) { return in.at("x"); };
  const auto y = [](const auto& in) { return in.at("y"); };
  const Slice all, pair{.start = 1, .stop = 3};
  const Twin twins[] = {
      {"x[:, 0]",
       [&](auto& in) {
         return of(x(in)[{all, 0}]);
       }},
      {"x[:, 1:3, ::2]",
       [&](auto& in) {
         return of(x(in)[{all, pair, Slice{.step = 2}}]);
       }},
      {"x[..., None]",
       [&](auto& in) {
         return of(x(in)[{ellipsis, new_axis}]);
       }},
      {"x[:, -1]",
       [&](auto& in) {
         return of(x(in)[{all, -1}]);
       }},
      {"x[:, ::-1]",
       [&](auto& in) {
         return of(x(in)[{all, Slice{.step = -1}}]);
       }},
      {"x[0]", [&](auto& in) { return of(x(in)[0]); }},
      {"x[:, None, 2]",
       [&](auto& in) {
         return of(x(in)[{all, new_axis, 2}]);
       }},
      {"x % 2", [&](auto& in) { return of(x(in) % 2); }},
      {"ops.logaddexp(x, y)", [&](auto& in) { return of(ops::logaddexp(x(in), y(in))); }},
      {"ops.mod(x, q)", [&](auto& in) { return of(ops::mod(x(in), in.at("q"))); }},
      {"ops.dot(w, m)", [&](auto& in) { return of(ops::dot(in.at("w"), in.at("m"))); }},
      {"ops.outer(u, v)", [&](auto& in) { return of(ops::outer(in.at("u"), in.at("v"))); }},
      {"ops.tensordot(x, y, axes=3)",
       [&](auto& in) { return of(ops::tensordot(x(in), y(in), 3)); }},
      {"ops.tensordot(x, y, axes=[[0, 1], [0, 1]])",
       [&](auto& in) {
         return of(ops::tensordot(x(in), y(in), {0, 1}, {0, 1}));
       }},
      {"ops.logical_and(b, n)",
       [&](auto& in) { return of(ops::logical_and(in.at("b"), in.at("n"))); }},
      {"ops.logical_or(b, n)",
       [&](auto& in) { return of(ops::logical_or(in.at("b"), in.at("n"))); }},
      {"ops.logical_xor(b, n)",
       [&](auto& in) { return of(ops::logical_xor(in.at("b"), in.at("n"))); }},
      {"ops.logical_not(b)", [&](auto& in) { return of(ops::logical_not(in.at("b"))); }},
      {"ops.isnan(e)", [&](auto& in) { return of(ops::isnan(in.at("e"))); }},
      {"ops.isinf(e)", [&](auto& in) { return of(ops::isinf(in.at("e"))); }},
      {"ops.isfinite(e)", [&](auto& in) { return of(ops::isfinite(in.at("e"))); }},
      {"ops.std(x, axis=(1, 2))",
       [&](auto& in) {
         return of(ops::std(x(in), Dims{1, 2}));
       }},
      {"ops.argmin(x, axis=-1, keepdims=True)",
       [&](auto& in) { return of(ops::argmin(x(in), -1, true)); }},
      {"ops.count_nonzero(x, axis=1)", [&](auto& in) { return of(ops::count_nonzero(x(in), 1)); }},
      {"ops.average(x, axis=1)", [&](auto& in) { return of(ops::average(x(in), 1)); }},
      {"ops.average(x, axis=1, weights=p)",
       [&](auto& in) { return of(ops::average(x(in), 1, in.at("p"))); }},
      {"ops.norm(w)", [&](auto& in) { return of(ops::norm(in.at("w"))); }},
      {"ops.norm(x, ord=1, axis=(1, 2))",
       [&](auto& in) {
         return of(ops::norm(x(in), 1, Dims{1, 2}));
       }},
      {"ops.normalize(x, axis=1)", [&](auto& in) { return of(ops::normalize(x(in), 1)); }},
      {"ops.cumsum(x)", [&](auto& in) { return of(ops::cumsum(x(in))); }},
      {"ops.cumprod(x, axis=1)", [&](auto& in) { return of(ops::cumprod(x(in), 1)); }},
      {"ops.diff(x, n=2, axis=1)", [&](auto& in) { return of(ops::diff(x(in), 2, 1)); }},
      {"ops.sort(x, axis=1)", [&](auto& in) { return of(ops::sort(x(in), 1)); }},
      {"ops.argsort(x)", [&](auto& in) { return of(ops::argsort(x(in))); }},
      {"ops.top_k(x, 2)", [&](auto& in) { return ops::top_k(x(in), 2); }},
      {"ops.unstack(x, axis=1)", [&](auto& in) { return ops::unstack(x(in), {}, 1); }},
      {"ops.meshgrid(u, v, indexing='ij')",
       [&](auto& in) {
         return ops::meshgrid({in.at("u"), in.at("v")}, "ij");
       }},
      {"ops.broadcast_to(w, (3, 2, 4))",
       [&](auto& in) {
         return of(ops::broadcast_to(in.at("w"), {3, 2, 4}));
       }},
      {"ops.swapaxes(x, 1, 2)", [&](auto& in) { return of(ops::swapaxes(x(in), 1, 2)); }},
      {"ops.moveaxis(x, (0, 1), (2, 0))",
       [&](auto& in) {
         return of(ops::moveaxis(x(in), {0, 1}, {2, 0}));
       }},
      {"ops.roll(x, 1, axis=1)", [&](auto& in) { return of(ops::roll(x(in), 1, 1)); }},
      {"ops.pad(x, [[0, 0], [1, 2], [0, 1]], mode='reflect')",
       [&](auto& in) {
         return of(ops::pad(x(in), {{0, 0}, {1, 2}, {0, 1}}, "reflect"));
       }},
      {"ops.tril(x, k=1)", [&](auto& in) { return of(ops::tril(x(in), 1)); }},
      {"ops.triu(m)", [&](auto& in) { return of(ops::triu(in.at("m"))); }},
      {"ops.diagonal(x, offset=1, axis1=1, axis2=2)",
       [&](auto& in) { return of(ops::diagonal(x(in), 1, 1, 2)); }},
      {"ops.trace(m, axis1=1, axis2=2)",
       [&](auto& in) { return of(ops::trace(in.at("m"), 0, 1, 2)); }},
      {"ops.take_along_axis(x, i, axis=1)",
       [&](auto& in) { return of(ops::take_along_axis(x(in), in.at("i"), 1)); }},
      {"ops.slice(x, [0, 1, 1], (1, 2, 3))",
       [&](auto& in) {
         return of(ops::slice(x(in), {0, 1, 1}, {1, 2, 3}));
       }},
      {"ops.slice_update(x, [0, 1, 1], y[:, :2, 1:3])",
       [&](auto& in) {
         return of(ops::slice_update(x(in), {0, 1, 1}, y(in)[{all, Slice{.stop = 2}, pair}]));
       }},
  };
  std::map<std::string, Json> cases;
  const Json golden = testing::read_golden("operations.json");
  for (const Json& test : golden.as_array()) cases.emplace(test.at("name").as_string(), test);
  for (const Twin& twin : twins) {
    SCOPED_TRACE(twin.code);
    ASSERT_TRUE(cases.contains(twin.code));
    clear_session();
    const Json& theirs = cases.at(twin.code).at("config").at("config").at("layers");
    std::map<std::string, T> inputs;
    std::vector<T> ordered;
    for (const Json& layer : theirs.as_array()) {
      if (layer.at("class_name") != Json("InputLayer")) continue;
      const auto made = std::dynamic_pointer_cast<InputLayer>(layer_from_json(layer));
      ordered.push_back(made->output());
      inputs.emplace(made->name(), ordered.back());
    }
    const Model model({.inputs = ordered, .outputs = twin.make(inputs)});
    EXPECT_EQ(testing::without_null_arguments(model.get_config().at("layers")),
              testing::without_null_arguments(theirs));
  }
}

// A graph written in C++ has the names, order and configs that Keras gives to it.
TEST(Operation, OperatorsMakeTheNodesOfKeras) {
  clear_session();
  const auto x = Input({.shape = {4}, .name = "x"}), y = Input({.shape = {4}, .name = "y"});
  const SymbolicTensor dense = Dense({.units = 4}, "dense")(x + y);
  const auto mixed = 2.0 * dense - y / 3.0;
  const auto joined = ops::concatenate({mixed, -x, ops::abs(y)}, -1);
  const auto part = joined[{Slice{}, Slice{.start = 1, .stop = 5, .step = 2}}];
  const auto mean = ops::mean(joined, 1, true);
  const Model model({.inputs = {x, y}, .outputs = {joined, part, mean}, .name = "op_nodes"});
  const Json test = testing::read_golden("models/op_nodes.json");
  const Json &theirs = test.at("config").at("config"), ours = model.get_config();
  EXPECT_EQ(ours.at("output_layers"), theirs.at("output_layers"));
  ASSERT_EQ(ours.at("layers").size(), theirs.at("layers").size());
  for (size_t i = 0; i < ours.at("layers").size(); ++i)
    EXPECT_EQ(ours.at("layers")[i], theirs.at("layers")[i]);
}

// Makes a model of f, with one input, and predicts with it.
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

TEST(Operation, ComputesSmallExamples) {
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
  EXPECT_EQ(run(x, [](T t) { return t[1]; }), at({1}));
  EXPECT_EQ(run(x, [](T t) { return t[{Slice{}, 2}]; }), at({Slice{}, 2}));
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

TEST(Operation, RefusesUnknownClasses) {
  const auto make = [](const char* name, const char* module) {
    return layer_from_json(Json::Object{
        {"class_name", name}, {"module", module}, {"config", Json::Object{{"name", "n"}}}});
  };
  EXPECT_TRUE(is_operation(*make("Add", "keras.src.ops.numpy")));
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
