#include "keratin/ops/gru.h"

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

GruOptions options(bool reset_after, bool reverse = false, bool zero = false) {
  return {.reverse = reverse, .zero_output_for_mask = zero, .reset_after = reset_after};
}

Values run_gru(const Values& in, const GruOptions& how) {
  const GruOutputs out = gru({.x = in[0],
                              .h = in[1],
                              .kernel = in[2],
                              .recurrent = in[3],
                              .bias = in[4],
                              .mask = in.size() > 5 ? in[5] : Value()},
                             how);
  return {out.ys, out.h};
}

Types gru_types(DType dtype, int64_t batch, int64_t time, int64_t features, int64_t units,
                bool reset_after, bool masked) {
  Types types{{dtype, {batch, time, features}},
              {dtype, {batch, units}},
              {dtype, {features, 3 * units}},
              {dtype, {units, 3 * units}},
              {dtype, reset_after ? Shape{2, 3 * units} : Shape{3 * units}}};
  if (masked) types.push_back({boolean, {batch, time}});
  return types;
}

TEST(Gru, IsAnOp) {
  for (bool reset_after : {false, true}) {
    for (bool masked : {false, true})
      for (bool reverse : {false, true})
        check_op(
            {.name = text("reset_after ", reset_after, ", masked ", masked, ", reverse ", reverse),
             .inputs = gru_types(f32, 3, 4, 2, 3, reset_after, masked),
             .build = [=](const Values& in) { return run_gru(in, options(reset_after, reverse)); },
             .low = -1,
             .high = 1});
    check_op(
        {.name = "zeros where masked",
         .inputs = gru_types(f32, 2, 4, 2, 3, reset_after, true),
         .build = [=](const Values& in) { return run_gru(in, options(reset_after, false, true)); },
         .low = -1,
         .high = 1});
    for (DType dtype : {f64, bf16, f16})
      for (bool reverse : {false, true})
        check_op(
            {.name = text(dtype, ", reverse ", reverse),
             .inputs = gru_types(dtype, 2, 3, 2, 3, reset_after, true),
             .build = [=](const Values& in) { return run_gru(in, options(reset_after, reverse)); },
             .low = -1,
             .high = 1});
    for (const auto& [batch, time] :
         std::vector<std::pair<int64_t, int64_t>>{{2, 0}, {2, 1}, {0, 3}})
      check_op({.name = text("batch ", batch, ", time ", time),
                .inputs = gru_types(f32, batch, time, 2, 3, reset_after, true),
                .build = [=](const Values& in) { return run_gru(in, options(reset_after)); }});
    check_op({.name = "larger than any tile",
              .inputs = gru_types(f32, 37, 9, 19, 33, reset_after, true),
              .build = [=](const Values& in) { return run_gru(in, options(reset_after)); },
              .low = -0.5,
              .high = 0.5,
              .gradient = false});
  }
}

void check_gru_size(DType dtype, int64_t batch, int64_t units, bool masked) {
  check_op({.name = text(dtype, ", batch ", batch, ", units ", units, ", masked ", masked),
            .inputs = gru_types(dtype, batch, 4, 3, units, true, masked),
            .build =
                [masked](const Values& in) {
                  Values out = run_gru(in, options(true, masked));
                  const Values slopes = gradients(sum(square(out[0])) + sum(out[1]),
                                                  {in[0], in[1], in[2], in[3], in[4]});
                  out.insert(out.end(), slopes.begin(), slopes.end());
                  return out;
                },
            .low = -0.2,
            .high = 0.2,
            .unknown_sizes = false,
            .gradient = false});
}

// Sizes at which kernels keep their weights in other memory, or take samples two by two.
TEST(Gru, ComputesTheSameAtAnySize) {
  for (DType dtype : {f32, bf16, f16})
    for (const auto& [batch, units] :
         std::vector<std::pair<int64_t, int64_t>>{{3, 128}, {2, 250}, {135, 6}})
      for (bool masked : {false, true}) check_gru_size(dtype, batch, units, masked);
}

TEST(Gru, HasASecondGradient) {
  for (bool reset_after : {false, true})
    for (bool masked : {false, true})
      check_op(
          {.name = text("reset_after ", reset_after, ", masked ", masked),
           .inputs = gru_types(f32, 2, 3, 2, 2, reset_after, masked),
           .build = [=](const Values& in) { return run_gru(in, options(reset_after, masked)); },
           .low = -1,
           .high = 1,
           .second_order = true});
}

// The gradient of the sequence is not used, so the kernel gets no memory for it.
TEST(Gru, GivesTheGradientOfTheStateAlone) {
  for (bool reset_after : {false, true})
    check_op({.name = text("reset_after ", reset_after),
              .inputs = gru_types(f32, 5, 4, 3, 7, reset_after, true),
              .build =
                  [=](const Values& in) {
                    const Values out = run_gru(in, options(reset_after));
                    return gradients(sum(out[0]) + sum(square(out[1])), {in[1]});
                  },
              .low = -1,
              .high = 1,
              .unknown_sizes = false,
              .gradient = false});
}

TEST(Gru, StateAndBiasAreOptional) {
  for (bool reset_after : {false, true}) {
    const auto build = [=](const Values& in) -> Values {
      const GruOutputs a =
          gru({.x = in[0], .kernel = in[1], .recurrent = in[2]}, options(reset_after));
      const Value zero = full(in[0].block(), f64, {2, 2}, 0);
      const Value bias = full(in[0].block(), f64, reset_after ? Shape{2, 6} : Shape{6}, 0);
      const GruOutputs b = gru({in[0], zero, in[1], in[2], bias, {}}, options(reset_after));
      return {a.ys - b.ys, a.h - b.h};
    };
    expect_values(build, {wave(1, {2, 4, 3}), wave(4, {3, 6}), wave(5, {2, 6})},
                  {Tensor::zeros(f64, {2, 4, 2}), Tensor::zeros(f64, {2, 2})});
  }
}

// Keras 3.15's GRU on JAX in float64, unrolled, with an initial state.
std::vector<Tensor> keras_gru_inputs(bool reset_after, bool masked) {
  std::vector<Tensor> inputs{wave(1, {2, 4, 3}), wave(2, {2, 2}), wave(4, {3, 6}), wave(5, {2, 6}),
                             wave(6, reset_after ? Shape{2, 6} : Shape{6})};
  if (masked) inputs.push_back(Tensor::of(boolean, {2, 4}, keep_some));
  return inputs;
}

struct KerasCase {
  bool reset_after;
  std::vector<double> ys, h, masked_ys, masked_h, zero_ys, back_ys, back_h;
  std::vector<double> dx, dh, dkernel, drecurrent, dbias;
};

const KerasCase keras_cases[] = {
    {.reset_after = true,
     .ys = {-0.2999103842, -0.1161695809, 0.05758977564, -0.02598328548, 0.285547146, 0.2083527664,
            -0.3531118143, 0.4289502759, -0.6592178598, 0.2757577331, -0.5337935138, -0.3903125442,
            -0.1308756359, -0.2528352437, 0.24532583, 0.0323571313},
     .h = {-0.3531118143, 0.4289502759, 0.24532583, 0.0323571313},
     .masked_ys = {0, 0, 0.3868420479, -0.123735256, 0.3415722614, 0.1112381722, 0.3415722614,
                   0.1112381722, -0.6592178598, 0.2757577331, -0.6592178598, 0.2757577331,
                   -0.2847194592, -0.2687330281, 0.1624788303, 0.0241860282},
     .masked_h = {0.3415722614, 0.1112381722, 0.1624788303, 0.0241860282},
     .zero_ys = {0, 0, 0.3868420479, -0.123735256, 0.3415722614, 0.1112381722, 0, 0, -0.6592178598,
                 0.2757577331, 0, 0, -0.2847194592, -0.2687330281, 0.1624788303, 0.0241860282},
     .back_ys = {0, 0, 0.298583944, -0.1830016285, 0.3461231193, 0.01868759053, 0.3461231193,
                 0.01868759053, -0.163238354, 0.452350491, 0.04680852448, -0.1315743951,
                 0.04680852448, -0.1315743951, -0.6484355933, 0.2691234201},
     .back_h = {0.3461231193, 0.01868759053, -0.6484355933, 0.2691234201},
     .dx = {0,
            0,
            0,
            0.3902653348,
            -0.3526537446,
            0.1135115789,
            -0.4231504869,
            0.3774675844,
            -0.1160737736,
            0,
            0,
            0,
            -0.04544051444,
            -0.03773082216,
            0.09934017502,
            0,
            0,
            0,
            -0.04449522344,
            -0.1195662154,
            0.215299305,
            0.2319194468,
            -0.1152339777,
            -0.06730410234},
     .dh = {0.0339083349, -0.3039085275, 0.07490068063, -0.03317980392},
     .dkernel = {-0.1768871306, 0.157940316, 0.02932560082, -0.008054939314, -0.04260028795,
                 -0.03423652691, 0.10523589, -0.01740210492, 0.08041536822, -0.02487293475,
                 -0.4182502596, 0.08310977964, 0.1497690005, -0.1534559852, -0.05004775572,
                 0.01446442071, 0.1503787743, 0.01282005185},
     .drecurrent = {-0.1502188667, 0.05769587276, 0.02199144996, 0.03767829415, -0.02882947551,
                    -0.1641899155, -0.03318849517, 0.06037715574, -0.0428359281, -0.01857087059,
                    0.1164798728, 0.07042440067},
     .dbias = {0.2404034979, -0.07025041635, 0.04830079334, -0.08788228262, -0.293620076,
               0.3582906792, 0.2404034979, -0.07025041635, 0.04830079334, -0.08788228262,
               -0.1146646158, 0.2136155031}},
    {.reset_after = false,
     .ys = {0.09067478277, -0.1385137564, 0.3252098292, 0.005961172689, 0.500995784, 0.1423183781,
            0.01188929841, 0.2845932338, -0.4897837654, 0.4896985684, -0.3409550299, -0.05173112543,
            -0.03208643699, -0.02046091181, 0.2960780803, 0.133018889},
     .h = {0.01188929841, 0.2845932338, 0.2960780803, 0.133018889},
     .masked_ys = {0, 0, 0.6447241705, -0.2108751956, 0.6090770822, -0.07089190727, 0.6090770822,
                   -0.07089190727, -0.4897837654, 0.4896985684, -0.4897837654, 0.4896985684,
                   -0.2036466624, 0.0992748586, 0.1604500192, 0.2377074589},
     .masked_h = {0.6090770822, -0.07089190727, 0.1604500192, 0.2377074589},
     .zero_ys = {0, 0, 0.6447241705, -0.2108751956, 0.6090770822, -0.07089190727, 0, 0,
                 -0.4897837654, 0.4896985684, 0, 0, -0.2036466624, 0.0992748586, 0.1604500192,
                 0.2377074589},
     .back_ys = {0, 0, 0.6212289501, -0.2810744828, 0.6102046905, -0.0908355577, 0.6102046905,
                 -0.0908355577, -0.2445218073, 0.5837343273, -0.002441402225, 0.1440744345,
                 -0.002441402225, 0.1440744345, -0.3782513276, 0.3600827768},
     .back_h = {0.6102046905, -0.0908355577, -0.3782513276, 0.3600827768},
     .dx = {0,
            0,
            0,
            0.1355604936,
            -0.1230130217,
            0.04016745871,
            -0.2659307687,
            0.233070181,
            -0.06701728093,
            0,
            0,
            0,
            0.02866264699,
            -0.09186933369,
            0.1025755721,
            0,
            0,
            0,
            -0.06423425275,
            -0.103035597,
            0.2114238285,
            0.02386314898,
            0.04795074573,
            -0.09236229031},
     .dh = {-0.1503545924, -0.3268161399, -0.01849138884, 0.06120080719},
     .dkernel = {-0.1737257546, 0.08681670173, 0.01529744794, -0.00667176761, -0.1272288169,
                 0.003648990149, 0.1741420023, 0.04004852515, -0.002939035443, -0.01085114153,
                 -0.1470453924, 0.1114647649, 0.1288512781, -0.09713676567, -0.01454009087,
                 0.009467987297, 0.1651207953, -0.03237223268},
     .drecurrent = {-0.1017307263, 0.02289562292, 0.01063459317, 0.01545484436, 0.08291131953,
                    -0.09367571272, 0.07185119288, 0.007964994715, -0.01766366829, -0.01589164149,
                    -0.03395347415, 0.1055572011},
     .dbias = {0.3416543009, 0.03296975893, -0.0575139541, -0.03824979976, -0.1929109991,
               0.3953038489}},
};

TEST(Gru, GivesKerasNumbers) {
  for (const KerasCase& c : keras_cases)
    expect_values([&](const Values& in) { return run_gru(in, options(c.reset_after)); },
                  keras_gru_inputs(c.reset_after, false),
                  {numbers({2, 4, 2}, c.ys), numbers({2, 2}, c.h)}, keras_tolerance);
}

TEST(Gru, MasksAsInKeras) {
  for (const KerasCase& c : keras_cases) {
    const auto inputs = keras_gru_inputs(c.reset_after, true);
    expect_values([&](const Values& in) { return run_gru(in, options(c.reset_after)); }, inputs,
                  {numbers({2, 4, 2}, c.masked_ys), numbers({2, 2}, c.masked_h)}, keras_tolerance);
    expect_values(
        [&](const Values& in) -> Values {
          return {run_gru(in, options(c.reset_after, false, true))[0]};
        },
        inputs, {numbers({2, 4, 2}, c.zero_ys)}, keras_tolerance);
  }
}

// Keras returns the outputs of go_backwards in the order of its steps.
TEST(Gru, RunsBackwardsAsInKeras) {
  for (const KerasCase& c : keras_cases)
    expect_values(
        [&](const Values& in) -> Values {
          Values out = run_gru(in, options(c.reset_after, true));
          out[0] = flip(out[0], {1});
          return out;
        },
        keras_gru_inputs(c.reset_after, true),
        {numbers({2, 4, 2}, c.back_ys), numbers({2, 2}, c.back_h)}, keras_tolerance);
}

TEST(Gru, GivesKerasGradients) {
  for (const KerasCase& c : keras_cases)
    expect_values(
        [&](const Values& in) { return wave_gradients(run_gru(in, options(c.reset_after)), in); },
        keras_gru_inputs(c.reset_after, true),
        {numbers({2, 4, 3}, c.dx), numbers({2, 2}, c.dh), numbers({3, 6}, c.dkernel),
         numbers({2, 6}, c.drecurrent), numbers(c.reset_after ? Shape{2, 6} : Shape{6}, c.dbias)},
        keras_tolerance);
}

TEST(Gru, RefusesWhatDoesNotFit) {
  Module m;
  const Value x = m.input({f32, {2, 5, 3}}), h = m.input({f32, {2, 4}}),
              kernel = m.input({f32, {3, 12}}), recurrent = m.input({f32, {4, 12}}),
              bias = m.input({f32, {2, 12}}), mask = m.input({boolean, {2, 5}});
  const GruInputs good{x, h, kernel, recurrent, bias, mask};
  const auto with = [&](auto change) {
    GruInputs inputs = good;
    change(inputs);
    return [inputs] { gru(inputs); };
  };
  expect_user_error(with([&](auto& in) { in.x = h; }), {"gru", "x must have rank 3", "f32[2,4]"});
  expect_user_error(with([&](auto& in) { in.kernel = Value(); }), {"gru", "must be given"});
  expect_user_error(with([&](auto& in) {
                      in.h = m.input({f32, {3, 4}});
                    }),
                    {"gru", "h must be f32[2,4]", "f32[3,4]"});
  expect_user_error(with([&](auto& in) {
                      in.kernel = m.input({f32, {4, 12}});
                    }),
                    {"gru", "the kernel must be f32[3,12]", "f32[4,12]"});
  expect_user_error(with([&](auto& in) {
                      in.recurrent = m.input({f32, {4, 9}});
                    }),
                    {"gru", "the recurrent kernel must be f32[4,12]", "f32[4,9]"});
  expect_user_error(with([&](auto& in) {
                      in.mask = m.input({boolean, {5, 2}});
                    }),
                    {"gru", "the mask must be bool[2,5]", "bool[5,2]"});
  expect_user_error(with([&](auto& in) {
                      in.bias = m.input({f32, {12}});
                    }),
                    {"gru", "two rows", "f32[12]"});
  expect_user_error([&] { gru(good, options(false)); },
                    {"gru", "the bias must be f32[12]", "f32[2,12]"});
}

}  // namespace
}  // namespace keratin::ops
