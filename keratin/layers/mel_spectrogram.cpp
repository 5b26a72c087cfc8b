#include <cmath>

#include "keratin/base/text.h"
#include "keratin/graph/json_tensor.h"
#include "keratin/graph/signal_windows.h"
#include "keratin/layers/fourier.h"
#include "keratin/layers/spectrograms.h"
#include "keratin/ops/composites.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"

namespace keratin {
namespace {

constexpr int64_t max_fft_length = int64_t{1} << 20;
constexpr int64_t max_mel_bins = int64_t{1} << 16;
constexpr int64_t max_weights = int64_t{1} << 25;

// Keras computes the bands in float32; so does this, because narrow bands depend on the rounding.
float mel(float hertz) { return 1127.0F * std::log(1.0F + hertz / 700.0F); }

// Element i of count from first to last.
float evenly(float first, float last, int64_t i, int64_t count) {
  if (i == count - 1) return last;
  return first + (last - first) / static_cast<float>(count - 1) * static_cast<float>(i);
}

}  // namespace

MelSpectrogramLayer::MelSpectrogramLayer(MelSpectrogramConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  if (cfg.sequence_length.value_or(0) == 0) cfg.sequence_length = cfg.fft_length;
  const int64_t half_rate = cfg.sampling_rate / 2;
  if (cfg.max_freq.value_or(0) == 0) cfg.max_freq = static_cast<double>(half_rate);
  require(cfg.fft_length >= *cfg.sequence_length,
          "`fft_length` must be greater than or equal to   `sequence_length`. Received: "
          "`sequence_length`=",
          *cfg.sequence_length, ", `fft_length`=", cfg.fft_length, ".");
  require(*cfg.sequence_length > 0 && cfg.fft_length > 1 && cfg.fft_length <= max_fft_length,
          "MelSpectrogram: expected lengths of frames up to ", max_fft_length,
          ", got sequence_length=", *cfg.sequence_length, " and fft_length=", cfg.fft_length);
  require(cfg.sequence_stride > 0, "MelSpectrogram: expected a positive sequence_stride, got ",
          cfg.sequence_stride);
  require(cfg.num_mel_bins > 0 && cfg.num_mel_bins <= max_mel_bins,
          "MelSpectrogram: expected 1 to ", max_mel_bins, " mel bins, got ", cfg.num_mel_bins);
  require(cfg.fft_length <= max_weights / cfg.num_mel_bins, "MelSpectrogram: expected at most ",
          max_weights, " weights of bands, got fft_length=", cfg.fft_length,
          " and num_mel_bins=", cfg.num_mel_bins);
  require(cfg.sampling_rate > 0, "MelSpectrogram: expected a positive sampling_rate, got ",
          cfg.sampling_rate);
  if (cfg.window.is_string()) {
    const std::string& window = cfg.window.as_string();
    require(window == "hann" || window == "hamming",
            "If a string is passed to `window`, it must be one of `\"hann\"`, `\"hamming\"`. "
            "Received: window=",
            window);
  }
  set_built();
}

// |STFT|^mag_exp: […, frames, frequencies]
Value MelSpectrogramLayer::magnitudes(Value signal) const {
  const int64_t length = *cfg.sequence_length;
  std::vector<double> window(static_cast<size_t>(length), 1.0);
  if (cfg.window.is_string()) {
    window = signal_window(cfg.window.as_string(), length, /*periodic=*/true);
  } else if (!cfg.window.is_null()) {
    const Tensor given = tensor_from_json(cfg.window, DType::f64);
    require(given.shape() == Shape({length}),
            "The shape of `window` must be equal to [sequence_length]. Received: window shape=",
            keras_shape(given.shape()));
    window = given.to_vector();
  }
  const auto [real, imag] = fourier::stft(signal, window, cfg.sequence_stride, cfg.fft_length);
  const Value magnitude = ops::sqrt(ops::square(real) + ops::square(imag));
  return ops::power(magnitude, ops::scalar_like(magnitude, cfg.mag_exp));
}

// Triangles with a peak of 1. Their edges are equally far apart in mel; the lowest frequency, 0, is
// left out.
Tensor MelSpectrogramLayer::bands(DType dtype) const {
  const int64_t frequencies = cfg.fft_length / 2 + 1;
  const float low = mel(static_cast<float>(cfg.min_freq));
  const float high = mel(static_cast<float>(*cfg.max_freq));
  const float nyquist = static_cast<float>(cfg.sampling_rate) / 2.0F;
  const auto edge = [&](int64_t i) { return evenly(low, high, i, cfg.num_mel_bins + 2); };
  std::vector<double> weights(static_cast<size_t>(Shape({frequencies, cfg.num_mel_bins}).count()));
  size_t at = static_cast<size_t>(cfg.num_mel_bins);  // behind those of the lowest frequency
  for (int64_t f = 1; f < frequencies; ++f) {
    const float here = mel(evenly(0, nyquist, f, frequencies));
    for (int64_t band = 0; band < cfg.num_mel_bins; ++band) {
      const float up = (here - edge(band)) / (edge(band + 1) - edge(band));
      const float down = (edge(band + 2) - here) / (edge(band + 2) - edge(band + 1));
      weights[at++] = std::fmax(0.0F, std::fmin(up, down));
    }
  }
  return Tensor::of(dtype, {frequencies, cfg.num_mel_bins}, weights);
}

// 10 · log10(power / reference), at most top_db below the largest one.
Value MelSpectrogramLayer::in_decibels(Value power) const {
  const double reference = std::fmax(std::fabs(cfg.ref_power), cfg.min_power);
  const Value level = ops::log10(ops::maximum(power, ops::scalar_like(power, cfg.min_power))) * 10 -
                      10 * std::log10(reference);
  return ops::maximum(level, ops::max(level) - cfg.top_db);
}

Results MelSpectrogramLayer::call(const Call& c) const {
  const DType dtype = compute_dtype() == DType::f64 ? DType::f64 : DType::f32;
  const Value signal = ops::cast(c.input(), dtype);
  require(signal.rank() >= 1, "MelSpectrogram '", name(), "': expected signals, got a scalar");
  Value y = magnitudes(signal);
  y = ops::matmul(y, ops::constant(c.block(), bands(dtype)));
  if (cfg.power_to_db) y = in_decibels(y);
  return ops::cast(ops::swapaxes(y, -1, -2), compute_dtype());
}

}  // namespace keratin
