#include "keratin/layers/wrappers.h"

#include "keratin/base/text.h"
#include "keratin/graph/input.h"
#include "keratin/graph/sequential.h"
#include "keratin/layers/dense.h"
#include "keratin/layers/lambda.h"
#include "keratin/layers/lstm.h"
#include "keratin/layers/rnn_testing.h"

namespace keratin {
namespace {

using testing::expect_close;
using testing::expect_user_error;
using testing::fill;
using testing::noise;
using testing::on;
using testing::outputs_of;
using testing::step_of;
using testing::with_mask;

// The wrapper's output at each step is the layer's output for that step.
void expect_step_by_step(const LayerPtr& layer, const Tensor& x) {
  const TimeDistributed wrapped({.layer = layer});
  wrapped->ensure_built({x.shape()});
  const Tensor y = outputs_of(*wrapped, on(x))[0];
  for (int64_t t = 0; t < x.shape()[1]; ++t)
    expect_close(step_of(y, t), outputs_of(*layer, on(step_of(x, t)))[0], 1e-6, text("step ", t));
}

TEST(TimeDistributed, AppliesTheLayerToEveryStep) {
  const Tensor x = noise({2, 4, 3});
  expect_step_by_step(Dense({.units = 2}), x);
  // The layer mixes samples, so the steps cannot be one batch.
  expect_step_by_step(Lambda([](Value v) { return v - ops::mean(v, {0}, true); }), x);
}

TEST(TimeDistributed, TakesModels) {
  const Tensor x = noise({2, 4, 3});
  const auto in = Input({3});
  const Dense first({.units = 5, .activation = "relu"}), second({.units = 2});
  expect_step_by_step(FunctionalLayer::make(in, second(first(in))), x);
  expect_step_by_step(std::make_shared<SequentialLayer>(
                          std::vector<LayerPtr>{Dense({.units = 5}), Lambda([](Value v) {
                                                  return v / ops::sum(v * v);  // over the batch
                                                })},
                          LayerOptions{}),
                      x);
  const auto pair = FunctionalLayer::make(in, {first(in), second(first(in))});
  const TimeDistributed two({.layer = pair});
  const auto out = outputs_of(*two, on(x));
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].shape(), Shape({2, 4, 5}));
  EXPECT_EQ(out[1].shape(), Shape({2, 4, 2}));
}

TEST(TimeDistributed, CarriesTheStateOfAStatefulLayer) {
  const LSTM inner({.units = 4, .stateful = true}), whole({.units = 4});
  const TimeDistributed wrapped({.layer = inner});
  wrapped->ensure_built({{2, 3, 2, 5}});
  fill(*wrapped, {2, 3, 2, 5});
  whole->ensure_built({{2, 6, 5}});
  whole->set_weights(wrapped->get_weights());
  const Tensor x = noise({2, 6, 5});
  const Tensor y = outputs_of(*wrapped, on(x.reshape({2, 3, 2, 5})))[0];
  expect_close(step_of(y, 2), outputs_of(*whole, on(x))[0], 1e-6, "three calls of two steps");
}

TEST(TimeDistributed, InfersShapesOfUnknownLengths) {
  const Symbols y = TimeDistributed({.layer = Dense({.units = 2})})(Input({unknown, 3}));
  EXPECT_EQ(y.leaf().shape(), Shape({unknown, unknown, 2}));
  const Symbols z = TimeDistributed({.layer = LSTM({.units = 2, .return_sequences = true})})(
      Input({unknown, unknown, 3}));
  EXPECT_EQ(z.leaf().shape(), Shape({unknown, unknown, unknown, 2}));
}

// Keras 3 passes on the input's mask, Keras 2 the inner layer's.
TEST(TimeDistributed, PassesMasksOnByDialect) {
  const Tensor x = noise({2, 3, 4, 5});
  auto inputs = on(x);
  inputs.positional[0] =
      MaskedTensor{x, testing::mask_of("110010110011 111100001000").reshape({2, 3, 4})};
  for (const bool all : {false, true}) {
    const TimeDistributed layer({.layer = LSTM({.units = 2, .return_sequences = all})});
    fill(*layer, x.shape());
    const RunResult keras3 = run_layer(*layer, inputs);
    const RunResult keras2 = run_layer(*layer, inputs, {.dialect = Dialect::keras2});
    EXPECT_EQ(keras3.outputs.leaf(), keras2.outputs.leaf());
    EXPECT_EQ(keras3.masks[0]->shape(), Shape({2, 3, 4}));
    if (all)
      EXPECT_EQ(*keras2.masks[0], *keras3.masks[0]);
    else
      EXPECT_EQ(*keras2.masks[0], testing::mask_of("111 101")) << "any step inside";
  }
}

TEST(TimeDistributed, NamesItsLayerAsKeras) {
  const TimeDistributed layer({.layer = Dense({.units = 2}, "d")}, "td");
  layer(Input({4, 3}));
  ASSERT_EQ(layer->sublayers().size(), 1u);
  EXPECT_EQ(layer->sublayers()[0].attribute, "layer");
  EXPECT_EQ(layer->weights()[0].path(), "td/d/kernel");
}

TEST(TimeDistributed, RefusesWhatKerasRefuses) {
  expect_user_error([] { TimeDistributed(TimeDistributedConfig{}); },
                    "Please initialize `TimeDistributed` layer");
  const TimeDistributed layer({.layer = Dense({.units = 2})});
  expect_user_error(
      [&] {
        outputs_of(*layer, on(noise({2, 3})));
      },
      "`TimeDistributed` Layer should be passed an `input_shape` with at least 3 "
      "dimensions");
  auto inputs = on(noise({2, 3, 4}));
  inputs.named["mask"] = MaskedTensor{testing::mask_of("11").reshape({2})};
  expect_user_error([&] { outputs_of(*layer, inputs); },
                    "The `mask` passed to the `TimeDistributed` layer must be at least 2D (e.g., "
                    "`(batch_size, timesteps)`), but it has 1 dimension(s) with shape (2,).");
  expect_user_error(
      [&] {
        outputs_of(*layer, with_mask(on(noise({2, 3, 4})), "11111 11111"));
      },
      "The `mask` passed to the `TimeDistributed` layer has a shape (2, 5) that is incompatible "
      "with the input shape (2, 3, 4). The first two dimensions of the mask (batch size and "
      "timesteps) must match the input's first two dimensions. Expected mask shape prefix: (2, "
      "3).");
}

}  // namespace
}  // namespace keratin
