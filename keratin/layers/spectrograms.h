#pragma once

#include "keratin/base/export.h"
#include "keratin/graph/config.h"

// Layers that show which frequencies a signal has over time.
namespace keratin {

struct KERATIN_API STFTSpectrogramConfig {
  std::string mode = "log";  // or magnitude, psd, real, imag, angle, stft
  int64_t frame_length = 256;
  std::optional<int64_t> frame_step = {};  // default: half the frame
  std::optional<int64_t> fft_length = {};  // default: the next power of two
  Json window = "hann";                    // a name that SciPy knows, the values, or null for none
  bool periodic = false;
  std::optional<std::string> scaling = "density";  // or spectrum, or none
  std::string padding = "valid";                   // or same
  bool expand_dims = false;                        // keep channels and frequencies apart
  std::string data_format = "channels_last";

  static constexpr std::string_view keras_name = "STFTSpectrogram";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields =
      field_list(field("mode", &STFTSpectrogramConfig::mode),
                 field("frame_length", &STFTSpectrogramConfig::frame_length),
                 field("frame_step", &STFTSpectrogramConfig::frame_step),
                 field("fft_length", &STFTSpectrogramConfig::fft_length),
                 field("window", &STFTSpectrogramConfig::window),
                 field("periodic", &STFTSpectrogramConfig::periodic),
                 field("scaling", &STFTSpectrogramConfig::scaling),
                 field("padding", &STFTSpectrogramConfig::padding),
                 field("data_format", &STFTSpectrogramConfig::data_format),
                 field("expand_dims", &STFTSpectrogramConfig::expand_dims));
};

// The short-time Fourier transform of each channel of [batch, time, channels], as convolutions with
// kernels that can be trained.
class KERATIN_API STFTSpectrogramLayer final
    : public LayerOf<STFTSpectrogramLayer, STFTSpectrogramConfig> {
 public:
  STFTSpectrogramLayer(STFTSpectrogramConfig config, LayerOptions options);

  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;

 private:
  void check_lengths() const;
  int64_t step() const { return cfg.frame_step.value_or(cfg.frame_length / 2); }
  int64_t bins() const;
  Value transform(const Call& c, Value signal, const Variable& kernel) const;
  Value spectrum(const Call& c, Value signal) const;
  Value arranged(Value spectrum) const;

  Variable real_kernel_, imag_kernel_;
};

using STFTSpectrogram = Shared<STFTSpectrogramLayer>;

struct KERATIN_API MelSpectrogramConfig {
  int64_t fft_length = 2048;
  int64_t sequence_stride = 512;
  std::optional<int64_t> sequence_length = {};  // default: fft_length
  Json window = "hann";                         // or hamming, the values, or null for none
  int64_t sampling_rate = 16000;
  int64_t num_mel_bins = 128;
  double min_freq = 20;
  std::optional<double> max_freq = {};  // default: half the sampling rate
  bool power_to_db = true;
  double top_db = 80;  // smaller values are cut off, in dB below the largest one
  double mag_exp = 2;
  double min_power = 1e-10;
  double ref_power = 1;

  static constexpr std::string_view keras_name = "MelSpectrogram";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields =
      field_list(field("fft_length", &MelSpectrogramConfig::fft_length),
                 field("sequence_stride", &MelSpectrogramConfig::sequence_stride),
                 field("sequence_length", &MelSpectrogramConfig::sequence_length),
                 field("window", &MelSpectrogramConfig::window),
                 field("sampling_rate", &MelSpectrogramConfig::sampling_rate),
                 field("num_mel_bins", &MelSpectrogramConfig::num_mel_bins),
                 field("min_freq", &MelSpectrogramConfig::min_freq),
                 field("max_freq", &MelSpectrogramConfig::max_freq),
                 field("power_to_db", &MelSpectrogramConfig::power_to_db),
                 field("top_db", &MelSpectrogramConfig::top_db),
                 field("mag_exp", &MelSpectrogramConfig::mag_exp),
                 field("min_power", &MelSpectrogramConfig::min_power),
                 field("ref_power", &MelSpectrogramConfig::ref_power));
};

// From signals […, time] to […, mel bins, frames]: the magnitudes of the short-time Fourier
// transform, summed over bands that are equally wide on the mel scale.
class KERATIN_API MelSpectrogramLayer final
    : public LayerOf<MelSpectrogramLayer, MelSpectrogramConfig> {
 public:
  MelSpectrogramLayer(MelSpectrogramConfig config, LayerOptions options);

  Results call(const Call& c) const override;

 private:
  Value magnitudes(Value signal) const;
  Tensor bands(DType dtype) const;  // [frequencies, mel bins]
  Value in_decibels(Value power) const;
};

using MelSpectrogram = Shared<MelSpectrogramLayer>;

}  // namespace keratin
