// Options and dtypes of operations that the golden graphs, made on TensorFlow, do not cover. The
// numbers are those of Keras 3.15 on JAX.
#include "keratin/base/text.h"
#include "keratin/graph/input.h"
#include "keratin/graph/operation.h"
#include "keratin/graph/symbolic_ops.h"
#include "keratin/layers/registry.h"
#include "keratin/model/model.h"
#include "keratin/tensor/shape_rules.h"
#include "keratin/testing/check_op.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_close;
using testing::expect_user_error;
using T = SymbolicTensor;
using enum DType;

// Makes a model of f, with one input of unknown batch size, and predicts with it.
template <class F>
Tensor predicted(const Tensor& x, const F& f) {
  const Dims shape(x.shape().begin() + 1, x.shape().end());
  const auto input = Input({.shape = Shape(shape), .dtype = x.dtype()});
  const T output = f(input);
  const Tensor y = Model({.inputs = input, .outputs = output}).predict(x).flat()[0];
  EXPECT_EQ(output.dtype(), y.dtype());
  EXPECT_TRUE(compatible(output.shape(), y.shape())) << output.shape() << y.shape();
  return y;
}

// Calls an operation by its class name with one input; with the input and its reverse.
auto operation(std::string_view name, Json options = Json::Object{}) {
  return [=](const T& x) { return call_operation(name, {{x}, {}}, options).leaf(); };
}
auto twice(std::string_view name) {
  return [=](const T& x) {
    return call_operation(name, {{x, ops::flip(x, 1)}, {}}, Json::Object{}).leaf();
  };
}

const Tensor sample = Tensor::of<double>(f32, {2, 3}, {3, -1, 2, 0.5, -2, 4});
const Tensor bools = Tensor::of<int>(boolean, {2, 2}, {1, 0, 1, 1});
Tensor row(const std::vector<double>& values) { return Tensor::of(f32, {2, 3}, values); }

TEST(OperationOptions, SoftmaxTakesAnyAxes) {
  const Tensor all =
      row({0.23847568, 0.0043678344, 0.0877303, 0.019575275, 0.0016068364, 0.6482441});
  for (const ops::Axes& axis : {ops::Axes(Dims{0, 1}), ops::Axes(Dims{-1, 0}), ops::Axes()})
    expect_close(predicted(sample, [&](T x) { return ops::softmax(x, axis); }), all, 1e-6, "all");
  expect_close(predicted(sample,
                         [](T x) {
                           return ops::log_softmax(x, Dims{0, 1});
                         }),
               row({-1.4334879, -5.433488, -2.433488, -3.933488, -6.433488, -0.43348795}), 1e-6,
               "log");
  EXPECT_EQ(predicted(sample, [](T x) { return ops::softmax(x, Dims{}); }),
            row({1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(predicted(sample, [](T x) { return ops::log_softmax(x, Dims{}); }),
            row({0, 0, 0, 0, 0, 0}));
}

TEST(OperationOptions, AveragesOverNoAxesAndSeveral) {
  EXPECT_EQ(predicted(sample, operation("Average", Json::Object{{"axis", Json::Array{}}})), sample);
  const auto weighted = [](const T& x, const Json& axis) {
    return call_operation("Average", {{x}, {{"weights", x}}}, Json::Object{{"axis", axis}}).leaf();
  };
  EXPECT_EQ(predicted(sample, [&](T x) { return weighted(x, Json::Array{}); }), sample);
  expect_close(predicted(sample, [&](T x) { return weighted(x, Json(-1)); }),
               Tensor::of<double>(f32, {2}, {3.5, 8.1}), 1e-6, "weights");
  expect_close(predicted(sample, operation("Average", Json::Object{{"axis", Json::Array{0, 1}}})),
               Tensor::scalar(f32, 1.0833334), 1e-6, "both");
}

TEST(OperationOptions, RollsAlongSeveralAxes) {
  EXPECT_EQ(predicted(sample,
                      [](T x) {
                        return ops::roll(x, Dims{1, 2}, Dims{0, 1});
                      }),
            row({-2, 4, 0.5, -1, 2, 3}));
  EXPECT_EQ(predicted(sample,
                      [](T x) {
                        return ops::roll(x, 1, Dims{0, 1});
                      }),
            row({4, 0.5, -2, 2, 3, -1}));
  EXPECT_EQ(predicted(sample,
                      [](T x) {
                        return ops::roll(x, Dims{1, 2});
                      }),
            row({0.5, -2, 4, 3, -1, 2}));
  EXPECT_EQ(predicted(sample, [](T x) { return ops::roll(x, 1, Dims{}); }), sample);
  expect_user_error(
      [] {
        ops::roll(Input({3}), Dims{1, 2, 3}, Dims{0, 1});
      },
      {"Roll", "as many shifts as axes", "3 and 2"});
}

TEST(OperationOptions, TakeAlongAxisBroadcastsAxesOfSize1) {
  const auto x = Input({1, 4}), i = Input({.shape = Shape({3, 1}), .dtype = i32});
  const Model model({.inputs = {x, i}, .outputs = ops::take_along_axis(x, i, 2)});
  EXPECT_EQ(model.outputs()[0].shape(), Shape({unknown, 3, 1}));
  const Tensor data = Tensor::of<double>(f32, {2, 1, 4}, {0, 1, 2, 3, 4, 5, 6, 7});
  const Tensor index = Tensor::of<int>(i32, {2, 3, 1}, {0, 3, -1, 2, 1, 0});
  EXPECT_EQ(model.predict({data, index}).flat()[0],
            Tensor::of<double>(f32, {2, 3, 1}, {0, 3, 3, 6, 5, 4}));
  expect_user_error([&] { ops::take_along_axis(x, Input({.shape = Shape(), .dtype = i32}), 1); },
                    {"TakeAlongAxis", "`indices` must have 3 dimensions"});
}

TEST(OperationOptions, ReadsInitialElementsInTheDtypeOfTheInput) {
  const Tensor whole = Tensor::of<int>(i32, {1, 3}, {3, -1, 7});
  EXPECT_EQ(predicted(whole, [](T x) { return ops::max(x, {}, false, 9.5); }),
            Tensor::scalar(i32, 9));
  EXPECT_EQ(predicted(whole, [](T x) { return ops::min(x, 1, true, -2); }),
            Tensor::of<int>(i32, {1, 1}, {-2}));
  EXPECT_EQ(predicted(sample, [](T x) { return ops::max(x, Dims{}, false, 1); }),
            row({3, 1, 2, 1, 1, 4}));
  EXPECT_EQ(predicted(Tensor(f32, {2, 0}), [](T x) { return ops::max(x, 1, false, -3); }),
            Tensor::of<double>(f32, {2}, {-3, -3}));
  expect_user_error(
      [&] {
        predicted(Tensor(f32, {2, 0}), [](T x) { return ops::max(x, 1); });
      },
      {"Max", "size 0"});
}

TEST(OperationOptions, OrdersNegativeZeroBelowZero) {
  const Tensor zeros = Tensor::of<double>(f16, {2, 2}, {0.0, -0.0, -0.0, 0.0});
  EXPECT_EQ(predicted(zeros, [](T x) { return ops::argmax(x, 1); }),
            Tensor::of<int>(i32, {2}, {0, 1}));
  EXPECT_EQ(predicted(zeros, [](T x) { return ops::argmin(x, 1); }),
            Tensor::of<int>(i32, {2}, {1, 0}));
  EXPECT_EQ(predicted(zeros, [](T x) { return ops::argmin(x, {}, true); }),
            Tensor::of<int>(i32, {1, 1}, {1}));
}

TEST(OperationOptions, ComputesBoolsAsBools) {
  const auto of = [](const std::vector<int>& values) {
    return Tensor::of(boolean, {2, 2}, values);
  };
  for (const char* name : {"Add", "Maximum", "Fmax"})
    EXPECT_EQ(predicted(bools, twice(name)), of({1, 1, 1, 1})) << name;
  for (const char* name : {"Multiply", "Minimum", "Fmin"})
    EXPECT_EQ(predicted(bools, twice(name)), of({0, 0, 1, 1})) << name;
  const auto numbered = [](const std::vector<int>& values) {
    return Tensor::of(i32, {2, 2}, values);
  };
  EXPECT_EQ(predicted(bools, twice("Power")), numbered({1, 0, 1, 1}));
  EXPECT_EQ(predicted(bools, operation("Relu")), numbered({1, 0, 1, 1}));
  expect_user_error([] { predicted(bools, twice("Subtract")); }, {"Subtract", "numbers"});
}

// The messages of what tests/operations sees refused.
TEST(OperationOptions, RefusesOptionsThatDoNotFitTheInput) {
  const auto call = [](std::string_view name, Json options) {
    return [=] { operation(name, options)(Input({3})); };
  };
  expect_user_error(call("Norm", Json::Object{{"ord", "fro"}, {"axis", 1}}),
                    {"Norm", "'fro'", "two axes"});
  expect_user_error(call("Rot90", Json::Object{{"axes", Json::Array{1, -1}}}),
                    {"Rot90", "two different axes", "[1,-1]"});
  expect_user_error(call("Dsplit", Json::Object{{"indices_or_sections", 1}}),
                    {"Dsplit", "at least 3 axes", "[?,3]"});
  expect_user_error(call("Repeat", Json::Object{{"repeats", Json::Array{1, 2}}, {"axis", 1}}),
                    {"Repeat", "3 counts along axis 1, got 2"});
  expect_user_error(call("Repeat", Json::Object{{"repeats", -1}, {"axis", 1}}),
                    {"Repeat", "not negative", "-1"});
  const T x = Input({3}), matrix = Input({3, 3});
  expect_user_error([&] { ops::average(matrix, 1, x); },
                    {"Average", "`weights`", "[?,3]", "[?,3,3]"});
  expect_user_error(
      [&] {
        call_operation("SearchSorted", {{x, x}, {}}, Json::Object{});
      },
      {"SearchSorted", "one axis", "[?,3]"});
}

// A list of tensors may have constants in it.
TEST(OperationOptions, ConcatenatesConstants) {
  const Json constant = Json::Object{
      {"class_name", "__numpy__"},
      {"config", Json::Object{{"value", Json::parse("[[7, 8, 9]]")}, {"dtype", "float32"}}}};
  const Json layers = Json::parse(R"([{"module": "keras.layers", "class_name": "InputLayer",
      "config": {"batch_shape": [2, 3], "dtype": "float32", "name": "x"}, "name": "x",
      "inbound_nodes": []}])");
  Json list = layers;
  const Json x = Json::parse(R"({"class_name": "__keras_tensor__",
      "config": {"shape": [2, 3], "dtype": "float32", "keras_history": ["x", 0, 0]}})");
  list.push_back(Json::Object{
      {"module", "keras.src.ops.numpy"},
      {"class_name", "Concatenate"},
      {"config", Json::Object{{"name", "both"}, {"axis", 0}}},
      {"name", "both"},
      {"inbound_nodes", Json::Array{Json::Object{{"args", Json::Array{Json::Array{x, constant}}},
                                                 {"kwargs", Json::object()}}}}});
  const Json config = Json::Object{{"name", "joined"},
                                   {"layers", list},
                                   {"input_layers", Json::parse(R"([["x", 0, 0]])")},
                                   {"output_layers", Json::parse(R"([["both", 0, 0]])")}};
  const Model model(layer_from_json(Json::Object{{"module", "keras.src.models.functional"},
                                                 {"class_name", "Functional"},
                                                 {"config", config},
                                                 {"registered_name", "Functional"}}));
  EXPECT_EQ(model.predict_on_batch(sample).flat()[0],
            Tensor::of<double>(f32, {3, 3}, {3, -1, 2, 0.5, -2, 4, 7, 8, 9}));
}

TEST(OperationOptions, NormalizesWithPositiveIntegerOrders) {
  expect_close(predicted(sample, [](T x) { return ops::normalize(x, 1, 3); }),
               row({0.90856028, -0.30285344, 0.60570687, 0.12011799, -0.48047197, 0.96094394}),
               1e-6, "order 3");
  for (const Json& order : {Json(0), Json(-1), Json(2.5)})
    expect_user_error(
        [&] {
          operation("Normalize", Json::Object{{"axis", -1}, {"order", order}})(Input({3}));
        },
        {"Normalize", "`order` must be an int >= 1", text(order)});
  expect_user_error(
      [] {
        ops::normalize(Input({3}), Dims{0, 1}, 3);
      },
      {"order 3", "not supported"});
  expect_user_error([] { ops::norm(Input({3}), {}, Dims{}); }, {"Norm", "one or two axes"});
  expect_user_error(
      [] {
        ops::norm(Input({3, 4}), {}, Dims{0, 1, 2});
      },
      {"Norm", "one or two axes", "[0, 1, 2]"});
}

TEST(OperationOptions, RefusesWhereWithAConditionAlone) {
  expect_user_error([] { operation("Where")(Input({3}) > 0.0); },
                    {"Where", "a condition and two tensors", "before it runs"});
}

TEST(OperationOptions, PadsAllAxesAlike) {
  const auto padded = [](const Json& widths) {
    const Json options = Json::Object{{"pad_width", widths}, {"mode", "constant"}};
    return predicted(Tensor::of<double>(f32, {1, 2}, {5, 6}), operation("Pad", options));
  };
  const Tensor wide = Tensor::of<double>(f32, {3, 4}, {0, 0, 0, 0, 0, 5, 6, 0, 0, 0, 0, 0});
  EXPECT_EQ(padded(1), wide);
  EXPECT_EQ(padded(Json::Array{1, 1}), wide);
  EXPECT_EQ(padded(Json::Array{Json::Array{1, 1}}), wide);
  EXPECT_EQ(padded(Json::Array{Json::Array{0, 0}, Json::Array{1, 0}}),
            Tensor::of<double>(f32, {1, 3}, {0, 5, 6}));
  expect_user_error(
      [&] {
        padded(Json::Array{1, 2, 3});
      },
      {"Pad", "a pair or 2 pairs", "[1, 2, 3]"});
  expect_user_error([&] { padded(Json::Array{Json::Array{1}}); }, {"Pad", "expected pairs"});
}

TEST(OperationOptions, SparsemaxWorksAlongTheBatch) {
  EXPECT_EQ(predicted(Tensor::of<double>(f32, {2, 2}, {3, 1, 0, 1}),
                      operation("Sparsemax", Json::Object{{"axis", 0}})),
            Tensor::of<double>(f32, {2, 2}, {1, 0.5, 0, 0.5}));
}

TEST(OperationOptions, InfersDiagonalsOfUnknownSizes) {
  const auto shape = [](const Dims& sizes) {
    return ops::diagonal(Input(Shape(sizes)), 1, 1, 2).shape();
  };
  EXPECT_EQ(shape({unknown, unknown}), Shape({unknown, unknown}));
  EXPECT_EQ(shape({3, unknown}), Shape({unknown, unknown}));
  EXPECT_EQ(shape({4, 3}), Shape({unknown, 2}));
  expect_user_error([] { ops::diagonal(Input({3}), 0, 1, -1); },
                    {"Diagonal", "`axis1` and `axis2` must be different"});
}

}  // namespace
}  // namespace keratin
