#include "keratin/layers/spectrograms.h"

#include <cmath>

#include "keratin/graph/input.h"
#include "keratin/testing/check_layer.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/warnings.h"

namespace keratin {
namespace {

using testing::expect_user_error;

TEST(STFTSpectrogram, HasTheDefaultsOfKeras) {
  const STFTSpectrogram layer;
  const SymbolicTensor y = layer(Input({1000, 2}));
  EXPECT_EQ(y.shape(), Shape({unknown, 6, 258}));
  EXPECT_EQ(layer->weights()[0].shape(), Shape({256, 1, 129}));
  EXPECT_TRUE(layer->get_config().at("frame_step").is_null());
  EXPECT_TRUE(layer->get_config().at("fft_length").is_null());
}

TEST(STFTSpectrogram, TakesSignalsOfUnknownLength) {
  const STFTSpectrogram layer({.frame_length = 8, .frame_step = 4, .expand_dims = true});
  EXPECT_EQ(layer(Input({unknown, 3})).leaf().shape(), Shape({unknown, unknown, 5, 3}));
}

TEST(STFTSpectrogram, RefusesBadArguments) {
  expect_user_error([] { STFTSpectrogram({.frame_step = 300}); },
                    {"`frame_step` should be a positive integer not greater than `frame_length`",
                     "frame_step=300", "frame_length=256"});
  expect_user_error([] { STFTSpectrogram({.frame_step = 0}); }, "frame_step=0");
  expect_user_error([] { STFTSpectrogram({.frame_length = 0}); }, "frame_length=0");
  expect_user_error([] { STFTSpectrogram({.fft_length = 128}); },
                    {"`fft_length` should be not less than `frame_length`", "fft_length=128"});
  expect_user_error([] { STFTSpectrogram({.mode = "spectrogram"}); }, "mode=spectrogram");
  expect_user_error([] { STFTSpectrogram({.scaling = "l2"}); }, "scaling=l2");
  expect_user_error([] { STFTSpectrogram({.padding = "causal"}); }, "padding=causal");
  expect_user_error([] { STFTSpectrogram({.window = "unknowable"}); },
                    "Invalid window name 'unknowable'");
}

TEST(STFTSpectrogram, RefusesOtherDtypesAndShortSignals) {
  expect_user_error(
      [] {
        STFTSpectrogram()(Input({.shape = {300, 1}, .dtype = DType::i32}));
      },
      {"Invalid input type", "int32"});
  expect_user_error(
      [] {
        STFTSpectrogram({}, LayerOptions{.dtype = "mixed_bfloat16"})(Input({300, 1}));
      },
      {"Invalid input type", "bfloat16"});
  expect_user_error([] { STFTSpectrogram()(Input({100, 1})); }, "zero or negative");
  expect_user_error([] { STFTSpectrogram()(Input({100})); }, {"expected ndim=3", "found ndim=2"});
  expect_user_error(
      [] {
        const STFTSpectrogram layer({.frame_length = 4, .window = Json::parse("[1, 2, 3]")});
        layer(Input({10, 1}));
        layer->weights()[0].value();
      },
      {"The shape of `window` must be equal to [frame_length]", "[3]"});
}

TEST(STFTSpectrogram, WarnsOfLengthsThatAreSlow) {
  const testing::Warnings warnings;
  const STFTSpectrogram slow({.fft_length = 300}, "s");
  ASSERT_EQ(warnings.messages.size(), 1U);
  EXPECT_EQ(warnings.messages[0],
            "STFTSpectrogram 's': `fft_length` is recommended to be a power of two. Received "
            "fft_length=300");
}

// The root has no gradient at 0. The case of one signal has no batch whose size could be unknown.
TEST(MelSpectrogram, BehavesAsInKeras) {
  testing::check_layer("MelSpectrogram", {.no_gradient = {"silence"}, .skip = {"one signal"}});
}

TEST(MelSpectrogram, TakesOneSignal) {
  const MelSpectrogram layer({.fft_length = 16, .sequence_stride = 5, .num_mel_bins = 3});
  Tensor signal = Tensor::zeros(DType::f32, {40});
  for (int64_t i = 0; i < 40; ++i) signal.set(i, std::sin(0.1 * static_cast<double>(i * i)));
  const Tensor alone = run_layer(*layer, {{MaskedTensor{signal}}, {}}).outputs;
  const Tensor batch = run_layer(*layer, {{MaskedTensor{signal.reshape({1, 40})}}, {}}).outputs;
  EXPECT_EQ(alone.shape(), Shape({3, 9}));
  EXPECT_EQ(alone.reshape({1, 3, 9}), batch);
}

TEST(MelSpectrogram, FillsInDefaultsAsKerasDoes) {
  const MelSpectrogram layer;
  EXPECT_EQ(layer->config().sequence_length, 2048);
  EXPECT_EQ(layer->config().max_freq, 8000);
  EXPECT_EQ(layer(Input({16000})).leaf().shape(), Shape({unknown, 128, 32}));
  EXPECT_EQ(layer(Input({unknown})).leaf().shape(), Shape({unknown, 128, unknown}));
}

TEST(MelSpectrogram, RefusesBadArgumentsAndShortSignals) {
  expect_user_error([] { MelSpectrogram({.fft_length = 256, .sequence_length = 512}); },
                    {"`fft_length` must be greater than or equal to", "`sequence_length`=512",
                     "`fft_length`=256"});
  expect_user_error([] { MelSpectrogram({.window = "blackman"}); },
                    {"it must be one of `\"hann\"`, `\"hamming\"`", "window=blackman"});
  expect_user_error([] { MelSpectrogram({.fft_length = int64_t{1} << 40}); }, "1099511627776");
  expect_user_error([] { MelSpectrogram({.sequence_stride = 0}); }, "sequence_stride");
  expect_user_error([] { MelSpectrogram({.num_mel_bins = 0}); }, "mel bins");
  expect_user_error([] { MelSpectrogram()(Input({500})); }, "500");
}

}  // namespace
}  // namespace keratin
