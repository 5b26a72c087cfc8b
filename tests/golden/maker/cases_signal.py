"""Cases of the layers that make spectrograms of signals."""

from maker.spec import Case, F, Given, I

X = F(2, 40, 2)
SHORT = dict(frame_length=8, frame_step=3)
MEL = dict(fft_length=32, sequence_stride=10, sampling_rate=400, num_mel_bins=5)
# The windows that SciPy makes without parameters.
WINDOWS = (
    "barthann bartlett blackman blackmanharris bohman boxcar cosine exponential flattop hamming "
    "lanczos nuttall parzen taylor triang tukey"
).split()

STFT = [
    *(Case(mode, dict(mode=mode, **SHORT), X)
      for mode in ("log", "magnitude", "psd", "real", "imag", "angle", "stft")),
    Case("default step", dict(frame_length=10), X),
    Case("long transform, same", dict(fft_length=16, padding="same", **SHORT), X),
    Case("odd length", dict(fft_length=11, mode="psd", **SHORT), X),
    Case("expand_dims", dict(expand_dims=True, **SHORT), X),
    Case("expand_dims, stft, same", dict(expand_dims=True, mode="stft", padding="same", **SHORT), X),
    Case("channels_first", dict(data_format="channels_first", **SHORT), F(2, 3, 20)),
    Case("channels_first, expand_dims",
         dict(data_format="channels_first", expand_dims=True, mode="magnitude", **SHORT),
         F(2, 3, 20)),
    Case("frozen", dict(trainable=False, mode="magnitude", **SHORT), X),
    Case("float64", dict(mode="stft", dtype="float64", **SHORT), F(2, 20, 1, dtype="float64")),
    Case("mixed_float16", dict(mode="magnitude", dtype="mixed_float16", **SHORT), F(2, 20, 1)),
    Case("mask is lost", dict(mode="real", **SHORT), F(2, 10, 1, mask="1111111110 1111111111")),
    *(Case(f"as made, {window}{name}",
           dict(mode="real", window=window, periodic=periodic, scaling=scaling, **SHORT),
           F(1, 14, 1), noise=False)
      for window in (*WINDOWS, "hann", None)
      for name, periodic, scaling in ((", periodic", True, "density"), (", spectrum", False, "spectrum"))),
    Case("as made, no scaling", dict(mode="imag", scaling=None, **SHORT), F(1, 14, 1), noise=False),
    Case("as made, odd frame", dict(mode="stft", frame_length=7, window="parzen"), F(1, 14, 1),
         noise=False),
    Case("as made, values", dict(mode="real", frame_length=4, window=[0.5, 1.0, -0.5, 0.25]),
         F(1, 14, 1), noise=False),
]

MELS = [
    Case("plain", MEL, F(2, 90)),
    Case("one signal", MEL, F(90)),
    Case("channels", MEL, F(2, 3, 70)),
    Case("no decibels", dict(power_to_db=False, **MEL), F(2, 90)),
    Case("short sequences", dict(sequence_length=20, **MEL), F(2, 90)),
    Case("hamming", dict(window="hamming", **MEL), F(2, 90)),
    Case("no window", dict(window=None, **MEL), F(2, 90)),
    Case("values", dict(window=[0.5] * 16 + [1.0] * 16, **MEL), F(2, 90)),
    Case("magnitudes", dict(mag_exp=1.0, min_power=1e-4, ref_power=2.5, top_db=12.0, **MEL),
         F(2, 90)),
    Case("frequencies", dict(min_freq=40.0, max_freq=150.0, **MEL), F(2, 90)),
    # TensorFlow takes periodic windows of odd lengths for symmetric ones; the other backends do not.
    Case("odd length", MEL | dict(fft_length=15, sequence_length=14), F(2, 61)),
    Case("default lengths", dict(num_mel_bins=40), F(1, 3000)),
    # Keras on TensorFlow cannot compute decibels in float64.
    Case("float64", dict(power_to_db=False, dtype="float64", **MEL), F(2, 90, dtype="float64")),
    Case("mixed_float16", dict(dtype="mixed_float16", **MEL), F(2, 90)),
    Case("silence", MEL, Given([[0.0] * 40] * 2)),
    Case("whole numbers", MEL, I(2, 50, below=9)),
]

CASES = {"STFTSpectrogram": STFT, "MelSpectrogram": MELS}
