#include "keratin/ops/lstm.h"

#include <gtest/gtest.h>

#include "keratin/base/text.h"
#include "keratin/ops/recurrent_testing.h"
#include "keratin/testing/expect_error.h"

namespace keratin::ops {
namespace {

using testing::check_op;
using testing::expect_user_error;
using testing::expect_values;

using enum DType;

Values run_lstm(const Values& in, RecurrentOptions options = {}) {
  const LstmOutputs out = lstm({.x = in[0],
                                .h = in[1],
                                .c = in[2],
                                .kernel = in[3],
                                .recurrent = in[4],
                                .bias = in[5],
                                .mask = in.size() > 6 ? in[6] : Value()},
                               options);
  return {out.ys, out.h, out.c};
}

Types lstm_types(DType dtype, int64_t batch, int64_t time, int64_t features, int64_t units,
                 bool masked) {
  Types types{{dtype, {batch, time, features}}, {dtype, {batch, units}},
              {dtype, {batch, units}},          {dtype, {features, 4 * units}},
              {dtype, {units, 4 * units}},      {dtype, {4 * units}}};
  if (masked) types.push_back({boolean, {batch, time}});
  return types;
}

TEST(Lstm, IsAnOp) {
  for (bool masked : {false, true})
    for (bool reverse : {false, true})
      check_op({.name = text("masked ", masked, ", reverse ", reverse),
                .inputs = lstm_types(f32, 3, 4, 2, 3, masked),
                .build = [=](const Values& in) { return run_lstm(in, {.reverse = reverse}); },
                .low = -1,
                .high = 1});
  check_op({.name = "zeros where masked",
            .inputs = lstm_types(f32, 2, 4, 2, 3, true),
            .build = [](const Values& in) { return run_lstm(in, {.zero_output_for_mask = true}); },
            .low = -1,
            .high = 1});
  for (DType dtype : {f64, bf16, f16})
    for (bool reverse : {false, true})
      check_op({.name = text(dtype, ", reverse ", reverse),
                .inputs = lstm_types(dtype, 2, 3, 2, 3, true),
                .build = [=](const Values& in) { return run_lstm(in, {.reverse = reverse}); },
                .low = -1,
                .high = 1});
  for (const auto& [batch, time] : std::vector<std::pair<int64_t, int64_t>>{{2, 0}, {2, 1}, {0, 3}})
    check_op({.name = text("batch ", batch, ", time ", time),
              .inputs = lstm_types(f32, batch, time, 2, 3, true),
              .build = [](const Values& in) { return run_lstm(in); }});
  check_op({.name = "larger than any tile",
            .inputs = lstm_types(f32, 37, 9, 19, 33, true),
            .build = [](const Values& in) { return run_lstm(in); },
            .low = -0.5,
            .high = 0.5,
            .gradient = false});
}

TEST(Lstm, HasASecondGradient) {
  for (bool masked : {false, true})
    check_op({.name = text("masked ", masked),
              .inputs = lstm_types(f32, 2, 3, 2, 2, masked),
              .build = [=](const Values& in) { return run_lstm(in, {.reverse = masked}); },
              .low = -1,
              .high = 1,
              .second_order = true});
}

// The gradient of the sequence is not used, so the kernel gets no memory for it.
TEST(Lstm, GivesTheGradientOfTheStatesAlone) {
  for (bool masked : {false, true})
    check_op({.name = text("masked ", masked),
              .inputs = lstm_types(f32, 5, 4, 3, 7, masked),
              .build =
                  [](const Values& in) {
                    const Values out = run_lstm(in);
                    return gradients(sum(out[0]) + sum(square(out[2])), {in[1], in[2]});
                  },
              .low = -1,
              .high = 1,
              .unknown_sizes = false,
              .gradient = false});
}

void check_lstm_size(DType dtype, int64_t batch, int64_t units, bool masked) {
  check_op({.name = text(dtype, ", batch ", batch, ", units ", units, ", masked ", masked),
            .inputs = lstm_types(dtype, batch, 4, 3, units, masked),
            .build =
                [masked](const Values& in) {
                  Values out = run_lstm(in, {.reverse = masked});
                  const Values slopes = gradients(sum(square(out[0])) + sum(out[1] * out[2]),
                                                  {in[0], in[1], in[2], in[3], in[4], in[5]});
                  out.insert(out.end(), slopes.begin(), slopes.end());
                  return out;
                },
            .low = -0.2,
            .high = 0.2,
            .unknown_sizes = false,
            .gradient = false});
}

// Sizes at which kernels keep their weights in other memory, or take samples two by two.
TEST(Lstm, ComputesTheSameAtAnySize) {
  for (DType dtype : {f32, bf16, f16})
    for (const auto& [batch, units] :
         std::vector<std::pair<int64_t, int64_t>>{{3, 128}, {2, 150}, {2, 250}, {135, 6}})
      for (bool masked : {false, true}) check_lstm_size(dtype, batch, units, masked);
}

TEST(Lstm, StatesAndBiasAreOptional) {
  const auto build = [](const Values& in) -> Values {
    const LstmOutputs a = lstm({.x = in[0], .kernel = in[1], .recurrent = in[2]});
    const Value zero = full(in[0].block(), f64, {2, 2}, 0), bias = full(in[0].block(), f64, {8}, 0);
    const LstmOutputs b = lstm({in[0], zero, zero, in[1], in[2], bias, {}});
    return {a.ys - b.ys, a.h - b.h, a.c - b.c};
  };
  expect_values(
      build, {wave(1, {2, 4, 3}), wave(4, {3, 8}), wave(5, {2, 8})},
      {Tensor::zeros(f64, {2, 4, 2}), Tensor::zeros(f64, {2, 2}), Tensor::zeros(f64, {2, 2})});
}

// Keras 3.15's LSTM on JAX in float64, unrolled, with initial states.
const std::vector<Tensor> keras_lstm_inputs = {wave(1, {2, 4, 3}), wave(2, {2, 2}), wave(3, {2, 2}),
                                               wave(4, {3, 8}),    wave(5, {2, 8}), wave(6, {8})};

std::vector<Tensor> with_mask() {
  std::vector<Tensor> inputs = keras_lstm_inputs;
  inputs.push_back(Tensor::of(boolean, {2, 4}, keep_some));
  return inputs;
}

TEST(Lstm, GivesKerasNumbers) {
  expect_values([](const Values& in) { return run_lstm(in); }, keras_lstm_inputs,
                {numbers({2, 4, 2}, {-0.07400886512, -0.03666722819, -0.04358641618, 0.128607207,
                                     0.06418036332, 0.1607092248, 0.1103508651, 0.2276967021,
                                     0.122290035, 0.1947632361, 0.03877434562, 0.1285382284,
                                     -0.03920137016, 0.1393754793, 0.0519965065, 0.1485793559}),
                 numbers({2, 2}, {0.1103508651, 0.2276967021, 0.0519965065, 0.1485793559}),
                 numbers({2, 2}, {0.5426631927, 0.8006029786, 0.199815833, 0.8867704703})},
                keras_tolerance);
}

TEST(Lstm, MasksAsInKeras) {
  expect_values(
      [](const Values& in) { return run_lstm(in); }, with_mask(),
      {numbers({2, 4, 2}, {0, 0, -0.02727120646, 0.08113236774, 0.06826740458, 0.1603637918,
                           0.06826740458, 0.1603637918, 0.122290035, 0.1947632361, 0.122290035,
                           0.1947632361, 0.07186723304, 0.1342662052, 0.07158803058, 0.1407460546}),
       numbers({2, 2}, {0.06826740458, 0.1603637918, 0.07158803058, 0.1407460546}),
       numbers({2, 2}, {0.3179605767, 0.8549074603, 0.2689543553, 0.899916458})},
      keras_tolerance);
  expect_values(
      [](const Values& in) -> Values { return {run_lstm(in, {.zero_output_for_mask = true})[0]}; },
      with_mask(),
      {numbers({2, 4, 2},
               {0, 0, -0.02727120646, 0.08113236774, 0.06826740458, 0.1603637918, 0, 0, 0.122290035,
                0.1947632361, 0, 0, 0.07186723304, 0.1342662052, 0.07158803058, 0.1407460546})},
      keras_tolerance);
}

// Keras returns the outputs of go_backwards in the order of its steps.
TEST(Lstm, RunsBackwardsAsInKeras) {
  expect_values(
      [](const Values& in) -> Values {
        Values out = run_lstm(in, {.reverse = true});
        out[0] = flip(out[0], {1});
        return out;
      },
      with_mask(),
      {numbers({2, 4, 2}, {0, 0, 0.05633751888, 0.1109005494, 0.02895037026, 0.1430342915,
                           0.02895037026, 0.1430342915, 0.07862646234, 0.1694177245, 0.09184574702,
                           0.155757687, 0.09184574702, 0.155757687, 0.06834332911, 0.2045925274}),
       numbers({2, 2}, {0.02895037026, 0.1430342915, 0.06834332911, 0.2045925274}),
       numbers({2, 2}, {0.06438075772, 0.8114207791, 0.1529588332, 0.4856987052})},
      keras_tolerance);
}

TEST(Lstm, GivesKerasGradients) {
  expect_values(
      [](const Values& in) { return wave_gradients(run_lstm(in), in); }, with_mask(),
      {numbers({2, 4, 3}, {0,
                           0,
                           0,
                           0.04950687582,
                           -0.01907978868,
                           -0.06903328391,
                           -0.0856063204,
                           -0.1958962814,
                           -0.1148754982,
                           0,
                           0,
                           0,
                           -0.04606418877,
                           -0.01855852648,
                           0.02707124459,
                           0,
                           0,
                           0,
                           0.01387454222,
                           0.05957286426,
                           0.04709280274,
                           0.02579358293,
                           0.04763776689,
                           0.02295928808}),
       numbers({2, 2}, {-0.01674948339, -0.06835851526, -0.01997910015, 0.02578754345}),
       numbers({2, 2}, {-0.2129428941, -0.0423444035, 0.04707185287, 0.05085442562}),
       numbers({3, 8},
               {-0.02825780936,  0.003445084288, 0.01813191895,   -0.009838633772, 0.03129950062,
                0.05577820923,   0.01692875192,  -0.07777048201,  -0.002826882888, 0.008713737734,
                -0.007861210424, 0.03551259939,  -0.08955326985,  -0.04143568278,  -0.003788726423,
                -0.02121767897,  0.02898626596,  -0.005690518552, -0.01610617159,  0.0006874279534,
                -0.00822260909,  -0.04510069004, -0.01595243884,  0.08323804425}),
       numbers({2, 8}, {0.003401987866, -0.01500618852, -0.006131291756, 0.01247990603,
                        -0.07669942642, -0.05250581403, -0.001546802104, -0.03475139684,
                        -0.005123565118, 0.02392559508, 0.004221912856, 0.009207397489,
                        0.04976262133, 0.05972120825, 0.0005922890272, 0.03162341851}),
       numbers({8}, {0.06554386383, -0.002912069446, -0.01296240018, 0.0838275193, 0.02678395063,
                     0.03990014922, 0.0194589972, 0.05616759191})},
      keras_tolerance);
}

TEST(Lstm, RefusesWhatDoesNotFit) {
  Module m;
  const Value x = m.input({f32, {2, 5, 3}}), h = m.input({f32, {2, 4}}),
              kernel = m.input({f32, {3, 16}}), recurrent = m.input({f32, {4, 16}}),
              bias = m.input({f32, {16}}), mask = m.input({boolean, {2, 5}}),
              open = m.input({f32, {unknown, 5, 3}});
  const LstmInputs good{x, h, h, kernel, recurrent, bias, mask};
  const auto with = [&](auto change) {
    LstmInputs inputs = good;
    change(inputs);
    return [inputs] { lstm(inputs); };
  };
  expect_user_error(with([&](auto& in) { in.x = h; }), {"lstm", "x must have rank 3", "f32[2,4]"});
  expect_user_error(with([&](auto& in) { in.x = Value(); }), {"lstm", "must be given"});
  expect_user_error(with([&](auto& in) { in.x = mask; }), {"lstm", "rank 3", "bool[2,5]"});
  expect_user_error(with([&](auto& in) {
                      in.h = m.input({f32, {3, 4}});
                    }),
                    {"lstm", "h must be f32[2,4]", "f32[3,4]"});
  expect_user_error(with([&](auto& in) {
                      in.c = m.input({f64, {2, 4}});
                    }),
                    {"lstm", "c must be f32[2,4]", "f64[2,4]"});
  expect_user_error(with([&](auto& in) {
                      in.kernel = m.input({f32, {2, 16}});
                    }),
                    {"lstm", "the kernel must be f32[3,16]", "f32[2,16]"});
  expect_user_error(with([&](auto& in) {
                      in.kernel = m.input({f32, {3, 12}}), in.bias = {};
                    }),
                    {"lstm", "the sequence must be f32[2,5,16]", "f32[2,5,12]"});
  expect_user_error(with([&](auto& in) {
                      in.recurrent = m.input({f32, {4, 12}});
                    }),
                    {"lstm", "the recurrent kernel must be f32[4,16]", "f32[4,12]"});
  expect_user_error(with([&](auto& in) { in.bias = h; }),
                    {"lstm", "the bias must be f32[16]", "f32[2,4]"});
  expect_user_error(with([&](auto& in) {
                      in.mask = m.input({boolean, {2, 4}});
                    }),
                    {"lstm", "the mask must be bool[2,5]", "bool[2,4]"});
  expect_user_error(with([&](auto& in) {
                      in.mask = m.input({f32, {2, 5}});
                    }),
                    {"lstm", "the mask must be bool[2,5]", "f32[2,5]"});
  expect_user_error([&] { lstm({.x = open, .kernel = kernel, .recurrent = recurrent}); },
                    {"lstm", "without a state", "f32[?,5,3]"});
}

}  // namespace
}  // namespace keratin::ops
