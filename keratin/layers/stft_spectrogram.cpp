#include <algorithm>
#include <array>
#include <bit>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/graph/signal_windows.h"
#include "keratin/layers/spectrograms.h"
#include "keratin/layers/windows.h"
#include "keratin/ops/conv.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/slicing.h"

namespace keratin {
namespace {

constexpr std::array stft_modes = {"log", "magnitude", "psd", "real", "imag", "angle", "stft"};
constexpr double stft_epsilon = 1e-7;  // Keras's epsilon
constexpr int64_t max_length = int64_t{1} << 30;

Initializer stft_kernel(const STFTSpectrogramConfig& config, const char* side) {
  const Json scaling = config.scaling ? Json(*config.scaling) : Json();
  return Initializer(Json(Json::Object{{"class_name", "STFT"},
                                       {"config", Json::Object{{"side", side},
                                                               {"window", config.window},
                                                               {"periodic", config.periodic},
                                                               {"scaling", scaling}}}}));
}

// Each frequency but the lowest and the highest stands for a negative one, too.
Value doubled(Value power) {
  const int64_t bins = power.shape().back();
  const Value middle = ops::slice_axis(power, -1, 1, std::max<int64_t>(bins - 1, 1));
  return power + ops::pad(middle, {.lo = {0, 0, 0, 1}, .hi = {0, 0, 0, 1}});
}

}  // namespace

STFTSpectrogramLayer::STFTSpectrogramLayer(STFTSpectrogramConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  check_lengths();
  require(std::find(stft_modes.begin(), stft_modes.end(), cfg.mode) != stft_modes.end(),
          "Output mode is invalid, it must be one of log, magnitude, psd, real, imag, angle, stft. "
          "Received: mode=",
          cfg.mode);
  require(!cfg.scaling || *cfg.scaling == "density" || *cfg.scaling == "spectrum",
          "Scaling is invalid, it must be `None`, 'density' or 'spectrum'. Received scaling=",
          cfg.scaling.value_or(""));
  require(cfg.padding == "valid" || cfg.padding == "same",
          "Padding is invalid, it should be 'valid', 'same'. Received: padding=", cfg.padding);
  if (cfg.window.is_string())
    require(is_signal_window(cfg.window.as_string()), "Invalid window name '",
            cfg.window.as_string(), "' in parameter window='", cfg.window.as_string(), "'!");
  cfg.data_format = windows::data_format(cfg.data_format);
  set_input_spec({{.ndim = 3}});
}

void STFTSpectrogramLayer::check_lengths() const {
  const int64_t frame = cfg.frame_length;
  require(frame > 0 && frame <= max_length, "`frame_length` should be a positive integer up to ",
          max_length, ". Received frame_length=", frame);
  require(!cfg.frame_step || (*cfg.frame_step >= 1 && *cfg.frame_step <= frame),
          "`frame_step` should be a positive integer not greater than `frame_length`. Received "
          "frame_step=",
          cfg.frame_step.value_or(0), ", frame_length=", frame);
  require(step() >= 1, "`frame_step` must be given for frame_length=", frame);
  if (!cfg.fft_length) return;
  const int64_t length = *cfg.fft_length;
  require(length >= frame && length <= max_length,
          "`fft_length` should be not less than `frame_length`. Received fft_length=", length,
          ", frame_length=", frame);
  if (!std::has_single_bit(static_cast<uint64_t>(length)))
    detail::warn_about(
        text("STFTSpectrogram '", name(), "'"),
        text(": `fft_length` is recommended to be a power of two. Received fft_length=", length));
}

int64_t STFTSpectrogramLayer::bins() const {
  const auto frame = static_cast<uint64_t>(cfg.frame_length);
  return cfg.fft_length.value_or(static_cast<int64_t>(std::bit_ceil(frame))) / 2 + 1;
}

void STFTSpectrogramLayer::build(const Shapes&) {
  const Shape shape = {cfg.frame_length, 1, bins()};
  if (cfg.mode != "imag") real_kernel_ = add_weight("real_kernel", shape, stft_kernel(cfg, "real"));
  if (cfg.mode != "real") imag_kernel_ = add_weight("imag_kernel", shape, stft_kernel(cfg, "imag"));
}

// [batch, channels, time, 1] to [batch, channels, frames, frequencies]
Value STFTSpectrogramLayer::transform(const Call& c, Value signal, const Variable& kernel) const {
  return ops::conv(signal, ops::expand_dims(c.read(kernel), 0),
                   {.strides = {1, step()}, .padding = cfg.padding});
}

Value STFTSpectrogramLayer::spectrum(const Call& c, Value signal) const {
  if (cfg.mode == "real") return transform(c, signal, real_kernel_);
  const Value imag = transform(c, signal, imag_kernel_);
  if (cfg.mode == "imag") return imag;
  const Value real = transform(c, signal, real_kernel_);
  if (cfg.mode == "angle") return ops::arctan2(imag, real);
  if (cfg.mode == "stft") return ops::concatenate({real, imag}, 3);
  const Value power = ops::square(real) + ops::square(imag);
  if (cfg.mode == "psd") return doubled(power);
  const auto at_least_epsilon = [](Value x) {
    return ops::maximum(x, ops::scalar_like(x, stft_epsilon));
  };
  const Value magnitude = ops::sqrt(at_least_epsilon(power));
  return cfg.mode == "magnitude" ? magnitude : ops::log(at_least_epsilon(magnitude));
}

// [batch, channels, frames, frequencies] in the order of the axes that the config asks for.
Value STFTSpectrogramLayer::arranged(Value spectrum) const {
  const bool last = cfg.data_format == "channels_last";
  if (cfg.expand_dims) return last ? ops::transpose(spectrum, {0, 2, 3, 1}) : spectrum;
  const Value together = ops::reshape(ops::transpose(spectrum, {0, 2, 1, 3}),
                                      {ops::keep_size, ops::keep_size, ops::infer_size});
  return last ? together : ops::transpose(together, {0, 2, 1});
}

Results STFTSpectrogramLayer::call(const Call& c) const {
  const Value x = c.input();
  require(is_float(x.dtype()) && x.dtype() != DType::bf16,
          "Invalid input type. Expected `float16`, `float32` or `float64`. Received: input type=",
          keras_name(x.dtype()));
  const bool last = cfg.data_format == "channels_last";
  const Sizes frame = Dims{cfg.frame_length}, strides = Dims{step()};
  windows::check_fits(x.shape(),
                      {"frame_length", frame, strides, {}, cfg.padding, cfg.data_format});
  const Value signal = ops::expand_dims(last ? ops::transpose(x, {0, 2, 1}) : x, 3);
  return arranged(spectrum(c, signal));
}

}  // namespace keratin
