#pragma once

#include "keratin/ir/value.h"

// Fourier transforms, written in ops.
namespace keratin::fourier {

struct Complex {
  Value real, imag;
};

// The frequencies 0 … length / 2 of the last axis: X[k] = Σ_n x[n] · exp(-2πi · n · k / length),
// where `length` is the size of that axis.
Complex rfft(Value x);

// The short-time Fourier transform of […, time]: [… , frames, fft_length / 2 + 1]. The signal is
// mirrored at both ends, so that frames are centred; the window stands in the middle of each.
Complex stft(Value signal, const std::vector<double>& window, int64_t stride, int64_t fft_length);

}  // namespace keratin::fourier
