#include "keratin/ops/activations.h"

#include "keratin/autodiff/gradients.h"
#include "keratin/base/text.h"
#include "keratin/ops/values_testing.h"
#include "keratin/testing/expect_error.h"

namespace keratin::ops {
namespace {

using testing::check_op;
using testing::expect_user_error;
using testing::expect_values;

using enum DType;

TEST(Activations, BehaveAsOps) {
  for (const std::string_view name : activation_names()) {
    const auto build = [name](const Values& in) { return Values{activation(name, in[0])}; };
    // glu halves a size and sparsemax counts along it: these must be known.
    const bool along_axis = name == "glu" || name == "sparsemax";
    check_op({.name = std::string(name),
              .inputs = {{f32, {4, 10}}},
              .build = build,
              .low = -7,
              .high = 7,
              .unknown_sizes = !along_axis});
    for (DType dtype : {f64, f16, bf16})
      check_op({.name = text(name, ' ', dtype),
                .inputs = {{dtype, {3, 4}}},
                .build = build,
                .low = -7,
                .high = 7,
                .unknown_sizes = !along_axis,
                .gradient = false});
  }
}

const std::vector<double> points = {-7,   -3.5, -3, -1.5, -1, -0.5, -0.25, 0,
                                    0.25, 0.5,  1,  1.5,  3,  3.5,  7,     30};

// The numbers below are those of Keras 3.15 on JAX.
TEST(Activations, GiveKerasNumbers) {
  const std::pair<const char*, std::vector<double>> cases[] = {
      {"celu",
       {-0.9990881, -0.9698026, -0.950213, -0.7768698, -0.6321205, -0.3934693, -0.2211992, 0, 0.25,
        0.5, 1, 1.5, 3, 3.5, 7, 30}},
      {"elu",
       {-0.9990881, -0.9698026, -0.950213, -0.7768698, -0.6321205, -0.3934693, -0.2211992, 0, 0.25,
        0.5, 1, 1.5, 3, 3.5, 7, 30}},
      {"exponential",
       {0.000911882, 0.03019738, 0.04978707, 0.2231302, 0.3678795, 0.6065307, 0.7788008, 1,
        1.284025, 1.648721, 2.718282, 4.481689, 20.08554, 33.11545, 1096.633, 1.068647e+13}},
      {"gelu",
       {-8.958688e-12, -0.0008142018, -0.004049696, -0.1002108, -0.1586553, -0.1542688, -0.1003234,
        0, 0.1496766, 0.3457312, 0.8413447, 1.399789, 2.99595, 3.499186, 7, 30}},
      {"hard_shrink", {-7, -3.5, -3, -1.5, -1, 0, 0, 0, 0, 0, 1, 1.5, 3, 3.5, 7, 30}},
      {"hard_sigmoid",
       {0, 0, 0, 0.25, 0.3333333, 0.4166667, 0.4583333, 0.5, 0.5416667, 0.5833334, 0.6666667, 0.75,
        1, 1, 1, 1}},
      {"hard_silu",
       {0, 0, 0, -0.375, -0.3333333, -0.2083333, -0.1145833, 0, 0.1354167, 0.2916667, 0.6666667,
        1.125, 3, 3.5, 7, 30}},
      {"hard_tanh", {-1, -1, -1, -1, -1, -0.5, -0.25, 0, 0.25, 0.5, 1, 1, 1, 1, 1, 1}},
      {"leaky_relu",
       {-1.4, -0.7, -0.6, -0.3, -0.2, -0.1, -0.05, 0, 0.25, 0.5, 1, 1.5, 3, 3.5, 7, 30}},
      {"linear", {-7, -3.5, -3, -1.5, -1, -0.5, -0.25, 0, 0.25, 0.5, 1, 1.5, 3, 3.5, 7, 30}},
      {"log_sigmoid",
       {-7.000911, -3.52975, -3.048587, -1.701413, -1.313262, -0.974077, -0.8259394, -0.6931472,
        -0.5759394, -0.474077, -0.3132617, -0.2014133, -0.04858735, -0.02975042, -0.0009114665,
        -9.357623e-14}},
      {"mish",
       {-0.006380263, -0.1040957, -0.1456475, -0.2980997, -0.3034014, -0.2207438, -0.129927, 0,
        0.1695724, 0.3752452, 0.8650985, 1.403378, 2.986536, 3.493991, 6.999989, 30}},
      {"relu", {0, 0, 0, 0, 0, 0, 0, 0, 0.25, 0.5, 1, 1.5, 3, 3.5, 7, 30}},
      {"relu6", {0, 0, 0, 0, 0, 0, 0, 0, 0.25, 0.5, 1, 1.5, 3, 3.5, 6, 6}},
      {"selu",
       {-1.756496, -1.705009, -1.670569, -1.365814, -1.111331, -0.6917582, -0.3888902, 0, 0.2626753,
        0.5253505, 1.050701, 1.576051, 3.152103, 3.677454, 7.354907, 31.52103}},
      {"sigmoid",
       {0.0009110512, 0.02931223, 0.04742587, 0.1824255, 0.2689414, 0.3775407, 0.4378235, 0.5,
        0.5621765, 0.6224594, 0.7310586, 0.8175744, 0.9525741, 0.9706877, 0.999089, 1}},
      {"silu",
       {-0.006377358, -0.1025928, -0.1422776, -0.2736383, -0.2689414, -0.1887703, -0.1094559, 0,
        0.1405441, 0.3112297, 0.7310586, 1.226362, 2.857722, 3.397407, 6.993623, 30}},
      {"soft_shrink", {-6.5, -3, -2.5, -1, -0.5, 0, 0, 0, 0, 0, 0.5, 1, 2.5, 3, 6.5, 29.5}},
      {"softplus",
       {0.0009114665, 0.02975042, 0.04858735, 0.2014133, 0.3132617, 0.474077, 0.5759394, 0.6931472,
        0.8259394, 0.974077, 1.313262, 1.701413, 3.048587, 3.52975, 7.000911, 30}},
      {"softsign",
       {-0.875, -0.7777778, -0.75, -0.6, -0.5, -0.3333333, -0.2, 0, 0.2, 0.3333333, 0.5, 0.6, 0.75,
        0.7777778, 0.875, 0.9677419}},
      {"sparse_plus",
       {0, 0, 0, 0, 0, 0.0625, 0.140625, 0.25, 0.390625, 0.5625, 1, 1.5, 3, 3.5, 7, 30}},
      {"sparse_sigmoid", {0, 0, 0, 0, 0, 0.25, 0.375, 0.5, 0.625, 0.75, 1, 1, 1, 1, 1, 1}},
      {"squareplus",
       {0.1400549, 0.2655644, 0.3027756, 0.5, 0.618034, 0.7807764, 0.8827822, 1, 1.132782, 1.280776,
        1.618034, 2, 3.302776, 3.765564, 7.140055, 30.0333}},
      {"tanh",
       {-0.9999983, -0.9981779, -0.9950547, -0.9051482, -0.7615942, -0.4621172, -0.2449187, 0,
        0.2449187, 0.4621172, 0.7615942, 0.9051482, 0.9950547, 0.9981779, 0.9999983, 1}},
      {"tanh_shrink",
       {-6.000002, -2.501822, -2.004945, -0.5948518, -0.2384058, -0.03788283, -0.005081341, 0,
        0.005081341, 0.03788283, 0.2384058, 0.5948518, 2.004945, 2.501822, 6.000002, 29}},
  };
  for (const auto& [name, expected] : cases) {
    SCOPED_TRACE(name);
    expect_values(
        {Tensor::of(f32, {16}, points)},
        [name = name](const Values& in) { return activation(name, in[0]); }, {16}, expected, 2e-6);
  }
}

TEST(Activations, GiveKerasNumbersWithOptions) {
  struct Case {
    const char* name;
    std::function<Value(Value)> apply;
    std::vector<double> expected;
  };
  const Case cases[] = {
      {"gelu(x, true)",
       [](Value x) { return gelu(x, true); },
       {0, -0.0006161481, -0.003637344, -0.1004284, -0.158808, -0.154286, -0.1003246, 0, 0.1496754,
        0.345714, 0.841192, 1.399572, 2.996363, 3.499384, 7, 30}},
      {"celu(x, 0.5)",
       [](Value x) { return celu(x, 0.5); },
       {-0.4999996, -0.4995441, -0.4987606, -0.4751065, -0.4323324, -0.3160603, -0.1967347, 0, 0.25,
        0.5, 1, 1.5, 3, 3.5, 7, 30}},
      {"elu(x, 2)",
       [](Value x) { return elu(x, 2); },
       {-1.998176, -1.939605, -1.900426, -1.55374, -1.264241, -0.7869387, -0.4423984, 0, 0.25, 0.5,
        1, 1.5, 3, 3.5, 7, 30}},
      {"relu(x, 0.1, 3, 1)",
       [](Value x) { return relu(x, 0.1, 3, 1); },
       {-0.8, -0.45, -0.4, -0.25, -0.2, -0.15, -0.125, -0.1, -0.075, -0.05, 0, 1.5, 3, 3, 3, 3}},
      {"relu(x, 0.1, std::nullopt, 1)",
       [](Value x) { return relu(x, 0.1, std::nullopt, 1); },
       {-0.8, -0.45, -0.4, -0.25, -0.2, -0.15, -0.125, -0.1, -0.075, -0.05, 0, 1.5, 3, 3.5, 7, 30}},
      {"relu(x, 0, 3)",
       [](Value x) { return relu(x, 0, 3); },
       {0, 0, 0, 0, 0, 0, 0, 0, 0.25, 0.5, 1, 1.5, 3, 3, 3, 3}},
      {"relu(x, 0.5, 3)",
       [](Value x) { return relu(x, 0.5, 3); },
       {-3.5, -1.75, -1.5, -0.75, -0.5, -0.25, -0.125, 0, 0.25, 0.5, 1, 1.5, 3, 3, 3, 3}},
      {"relu(x, 0.25, std::nullopt, -1)",
       [](Value x) { return relu(x, 0.25, std::nullopt, -1); },
       {-1.5, -0.625, -0.5, -0.125, 0, -0.5, -0.25, 0, 0.25, 0.5, 1, 1.5, 3, 3.5, 7, 30}},
      {"threshold(x, 1, 9)",
       [](Value x) { return threshold(x, 1, 9); },
       {9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 1.5, 3, 3.5, 7, 30}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    expect_values(
        {Tensor::of(f32, {16}, points)}, [&](const Values& in) { return c.apply(in[0]); }, {16},
        c.expected, 2e-6);
    check_op({.name = c.name,
              .inputs = {{f32, {3, 7}}},
              .build = [&](const Values& in) { return Values{c.apply(in[0])}; },
              .low = -7,
              .high = 7});
  }
}

TEST(Activations, GluGivesKerasNumbers) {
  expect_values(
      {Tensor::of(f32, {16}, points)}, [](const Values& in) { return glu(in[0]); }, {8},
      {-3.935236, -2.178608, -2.193176, -1.226362, -0.9525741, -0.4853439, -0.2497723, 0}, 2e-6);
}

// Points of the simplex, worked out by hand.
TEST(Activations, SparsemaxProjectsOnTheSimplex) {
  const Tensor x = Tensor::of<double>(f32, {4, 3}, {1, 0.9, 0, -1, 0, 1, 5, 5, 5, 1e4, 1e4, 0});
  expect_values({x}, [](const Values& in) { return sparsemax(in[0]); }, {4, 3},
                {0.55, 0.45, 0, 0, 0, 1, 1.0 / 3, 1.0 / 3, 1.0 / 3, 0.5, 0.5, 0});
  check_op({.name = "sparsemax along the first axis",
            .inputs = {{f32, {5, 3}}},
            .build = [](const Values& in) { return Values{sparsemax(in[0], 0)}; },
            .low = -1,
            .high = 1,
            .unknown_sizes = false});
}

TEST(Activations, StayFiniteFarAway) {
  const Tensor far = Tensor::of<double>(f32, {4}, {-1e4, -200, 200, 1e4});
  const auto expect = [&](Value (*op)(Value), const std::vector<double>& y,
                          const std::vector<double>& slope) {
    expect_values(
        {far}, [op](const Values& in) { return op(in[0]); }, {4}, y);
    expect_values(
        {far}, [op](const Values& in) { return gradients(op(in[0]), {in[0]})[0]; }, {4}, slope);
  };
  const std::vector<double> step = {0, 0, 1, 1};
  expect(softplus, {0, 0, 200, 1e4}, step);
  expect(silu, {0, 0, 200, 1e4}, step);
  expect(mish, {0, 0, 200, 1e4}, step);
  expect([](Value x) { return elu(x); }, {-1, -1, 200, 1e4}, step);
  expect([](Value x) { return celu(x); }, {-1, -1, 200, 1e4}, step);
  expect([](Value x) { return gelu(x, false); }, {0, 0, 200, 1e4}, step);
  expect([](Value x) { return gelu(x, true); }, {0, 0, 200, 1e4}, step);
  expect([](Value x) { return squareplus(x); }, {1e-4, 0.004999875, 200.005, 1e4 + 1e-4},
         {2.5e-9, 2.499813e-5, 0.99997500, 1});
  expect(log_sigmoid, {-1e4, -200, 0, 0}, {1, 1, 0, 0});
}

TEST(Activations, HaveKerasSlopesAtZero) {
  const std::pair<const char*, double> cases[] = {
      {"softplus", 0.5}, {"squareplus", 0.5}, {"log_sigmoid", 0.5}, {"elu", 1},
      {"celu", 1},       {"relu", 0},         {"leaky_relu", 1}};
  for (const auto& [name, slope] : cases)
    expect_values(
        {Tensor::zeros(f32, {1})},
        [name = name](const Values& in) { return gradients(activation(name, in[0]), {in[0]})[0]; },
        {1}, {slope});
}

TEST(Activations, RefuseUnknownNames) {
  Module m;
  const Value x = m.input({f32, {3}});
  expect_user_error([&] { activation("Relu", x); }, {"activation", "'Relu'"});
  expect_user_error([&] { activation("threshold", x); }, {"activation", "'threshold'"});
  expect_user_error([&] { glu(x); }, {"split", "3"});
  expect_user_error([&] { sparsemax(m.input({f32, {2, 0}})); }, {"sparsemax", "[2,0]"});
  expect_user_error([&] { sparsemax(m.input({DType::i32, {2}})); }, {"sparsemax", "floats"});
  expect_user_error([&] { squareplus(x, -1); }, {"squareplus", "-1"});
  EXPECT_EQ(activation_names().size(), 31U);
}

}  // namespace
}  // namespace keratin::ops
