"""Defines every workload of the peer benchmark: tensors, FLOPs and bytes.

Plain Python, no dependency: the driver, the Python workers and `run.py --spec` all read this.
FLOPs count a multiply-add as two and an elementary function as one. Bytes are what must be read:
each input and parameter once, in an Adam step p, m and v. Writes have lanes of their own beside
reads, and a perfect plan keeps activations and gradients in cache: they count nothing, so that the
floor stays a floor.
"""

from dataclasses import dataclass, field
from math import inf, prod, sqrt

F32 = 4
ADAM_BYTES = 12  # per parameter: p, m and v


@dataclass(frozen=True)
class Tensor:
    """A float32 tensor filled by fill(): uniform in [-scale, scale), a function of seed and index."""

    shape: tuple
    seed: int
    scale: float = 1.0

    @property
    def count(self):
        return prod(self.shape)

    def spec(self):
        return dict(shape=self.shape, seed=self.seed, scale=self.scale)


@dataclass(frozen=True)
class Workload:
    name: str
    kind: str  # which builder of a worker makes it: matmul, conv, conv_grad, lstm, ...
    about: str
    tensors: dict  # name -> Tensor, in the canonical layout (channels last, kernels HWIO)
    flops: float
    bytes: float
    attrs: dict = field(default_factory=dict)
    # Allowed relative distance of each of a worker's check values from the peers'.
    tolerance: float = 1e-3

    def spec(self):
        """The workload as JSON, for a worker in another language."""
        return dict(kind=self.kind, about=self.about, flops=self.flops, bytes=self.bytes,
                    attrs=self.attrs, tolerance=self.tolerance,
                    tensors={k: t.spec() for k, t in self.tensors.items()}, order=list(self.tensors))


def _bytes(tensors):
    return F32 * sum(t.count for t in tensors.values())


def matmul(label, m, n, k):
    tensors = {"x": Tensor((m, k), 1), "w": Tensor((k, n), 2, 1 / sqrt(k))}
    return Workload(
        name=f"matmul_{label}", kind="matmul", tensors=tensors,
        about=f"y[{m},{n}] = x[{m},{k}] w[{k},{n}]; w is constant and may be packed in prepare",
        flops=2.0 * m * n * k, bytes=_bytes(tensors))


def conv(label, batch, size, cin, cout, kernel, stride=1, padding="same", depthwise=False,
         grad=False, tolerance=1e-3):
    out = -(-size // stride) if padding == "same" else (size - kernel) // stride + 1
    taps = kernel * kernel * (1 if depthwise else cin)
    # A depthwise kernel has shape [kh, kw, channels, 1].
    kshape = (kernel, kernel, cin, 1 if depthwise else cout)
    tensors = {"x": Tensor((batch, size, size, cin), 1),
               "w": Tensor(kshape, 2, 1 / sqrt(taps))}
    yshape = (batch, out, out, cout)
    flops = 2.0 * prod(yshape) * taps
    about = (f"{'depthwise ' if depthwise else ''}{kernel}x{kernel}/{stride} {padding}, "
             f"{batch}x{size}x{size}x{cin} -> {out}x{out}x{cout}, no bias, layout free")
    if grad:
        tensors["dy"] = Tensor(yshape, 3)
        flops *= 3
        about += "; y, then dx and dw from dy"
    return Workload(
        name=f"conv_{label}" + ("_fwdbwd" if grad else ""), kind="conv_grad" if grad else "conv",
        tensors=tensors, about=about, flops=flops, bytes=_bytes(tensors), tolerance=tolerance,
        attrs=dict(stride=stride, padding=padding, kernel=kernel, depthwise=depthwise, out=out))


def lstm(steps, batch, inputs, hidden, grad):
    gate = 1 / sqrt(hidden)
    tensors = {"x": Tensor((batch, steps, inputs), 1), "w": Tensor((inputs, 4 * hidden), 2, gate),
               "u": Tensor((hidden, 4 * hidden), 3, gate), "b": Tensor((4 * hidden,), 4, gate)}
    flops = 2.0 * steps * batch * (inputs + hidden) * 4 * hidden
    about = (f"T={steps}, batch {batch}, in {inputs}, hidden {hidden}, gates i f g o, "
             "all outputs, zero initial state")
    if grad:
        tensors["dy"] = Tensor((batch, steps, hidden), 5)
        flops *= 3
        about += "; y, then dx, dw, du, db from dy"
    return Workload(name="lstm_fwdbwd" if grad else "lstm_infer",
                    kind="lstm_grad" if grad else "lstm", tensors=tensors, about=about,
                    flops=flops, bytes=_bytes(tensors), attrs=dict(hidden=hidden))


def pointwise(n):
    tensors = {name: Tensor((n,), seed) for name, seed in (("x", 1), ("w", 2), ("b", 3), ("mask", 4))}
    return Workload(name="pointwise_gelu_4m", kind="pointwise", tensors=tensors,
                    about=f"y = gelu_tanh(x * w + b) * mask, five arrays of {n} floats",
                    flops=12.0 * n, bytes=_bytes(tensors))


def adam(n):
    return Workload(name="adam_10m", kind="adam", tensors={"g": Tensor((n,), 1)},
                    about=f"one Adam step of one {n}-float parameter (p, m, v start at 0), fixed g",
                    flops=14.0 * n, bytes=(ADAM_BYTES + F32) * n,
                    attrs=dict(lr=1e-3, beta1=0.9, beta2=0.999, epsilon=1e-7))


def softmax(rows, cols):
    tensors = {"x": Tensor((rows, cols), 1, 4.0)}
    return Workload(name="softmax_32768x128", kind="softmax", tensors=tensors,
                    about=f"softmax over the last axis of [{rows},{cols}]",
                    flops=4.0 * rows * cols, bytes=_bytes(tensors))


def layernorm(rows, cols, grad):
    tensors = {"x": Tensor((rows, cols), 1), "gamma": Tensor((cols,), 2),
               "beta": Tensor((cols,), 3)}
    n = rows * cols
    flops = 7.0 * n
    about = f"layer norm over the last axis of [{rows},{cols}], epsilon 1e-5, scale and offset"
    if grad:
        tensors["dy"] = Tensor((rows, cols), 4)
        flops = 19.0 * n
        about += "; y, then dx, dgamma, dbeta from dy"
    return Workload(name="layernorm_fwdbwd" if grad else "layernorm_fwd",
                    kind="layernorm_grad" if grad else "layernorm", tensors=tensors, about=about,
                    flops=flops, bytes=_bytes(tensors))


def _dense(tensors, label, fan_in, units, seed):
    tensors[f"{label}_w"] = Tensor((fan_in, units), seed, sqrt(6 / (fan_in + units)))
    tensors[f"{label}_b"] = Tensor((units,), seed + 1, 0.05)


# A training step is timed with this learning rate: the arithmetic is the same, but the fixed
# batch is not memorised, so no gradient vanishes and no moment decays into denormals.
TIMED_LEARNING_RATE = 1e-6
TRAIN = dict(lr=1e-3, beta1=0.9, beta2=0.999, epsilon=1e-7, check_steps=5, classes=10)


def mlp_train(batch=128, sizes=(784, 512, 512, 10)):
    tensors = {"x": Tensor((batch, sizes[0]), 1)}
    flops = 0.0
    for i, (a, b) in enumerate(zip(sizes, sizes[1:])):
        _dense(tensors, f"d{i + 1}", a, b, 10 + 2 * i)
        flops += 2.0 * batch * a * b * (2 if i == 0 else 3)  # no gradient of the input
    params = sum(t.count for n, t in tensors.items() if n != "x")
    return Workload(name="mlp_train", kind="mlp_train", tensors=tensors,
                    about="784-512-512-10, relu, softmax cross-entropy, Adam, batch 128: "
                          "forward, loss, backward, update",
                    flops=flops + 14.0 * params, bytes=ADAM_BYTES * params + F32 * batch * sizes[0],
                    attrs=dict(TRAIN, sizes=sizes),
                    tolerance=0.02)  # libraries place Adam's epsilon differently


def convnet_train(batch=128):
    tensors = {"x": Tensor((batch, 28, 28, 1), 1),
               "c1_w": Tensor((3, 3, 1, 32), 10, sqrt(6 / (9 + 288))), "c1_b": Tensor((32,), 11, 0.05),
               "c2_w": Tensor((3, 3, 32, 64), 12, sqrt(6 / (288 + 576))), "c2_b": Tensor((64,), 13, 0.05)}
    _dense(tensors, "d1", 1600, 10, 14)
    c1 = 2.0 * batch * 26 * 26 * 32 * 9
    c2 = 2.0 * batch * 11 * 11 * 64 * 288
    dense = 2.0 * batch * 1600 * 10
    params = sum(t.count for n, t in tensors.items() if n != "x")
    return Workload(name="convnet_train", kind="convnet_train", tensors=tensors,
                    about="Keras MNIST convnet (Conv 32 3x3 relu, MaxPool 2, Conv 64 3x3 relu, MaxPool 2, "
                          "Flatten, Dropout 0.5, Dense 10), softmax cross-entropy, Adam, batch 128",
                    flops=2 * c1 + 3 * c2 + 3 * dense + 14.0 * params,
                    bytes=ADAM_BYTES * params + F32 * batch * 784, attrs=dict(TRAIN, dropout=0.5),
                    tolerance=0.15)  # dropout draws differ between workers


def tiny_mlp(units=16, layers=3):
    tensors = {"x": Tensor((1, units), 1)}
    for i in range(layers):
        _dense(tensors, f"d{i + 1}", units, units, 10 + 2 * i)
    return Workload(name="tiny_mlp_infer", kind="tiny_mlp", tensors=tensors,
                    about="batch-1 inference of 16 -> Dense 16 relu, three times",
                    flops=2.0 * layers * units * units, bytes=_bytes(tensors),
                    attrs=dict(layers=layers))

@dataclass(frozen=True)
class Tokens:
    """Whole numbers in [1, vocabulary), padded on the right with zeros from a length of their own on
    when `shortest` is less than the last axis; a function of seed and index like Tensor."""

    shape: tuple
    seed: int
    vocabulary: int
    shortest: int

    def spec(self):
        return dict(shape=self.shape, seed=self.seed, vocabulary=self.vocabulary, shortest=self.shortest)


def fit(model, data, weights, batches, step_flops, about, **attrs):
    """A whole epoch of `fit` over all samples, shuffled, with the batches gathered from memory."""
    params = sum(t.count for t in weights.values())
    return Workload(name=f"fit_{model}", kind="fit", tensors={"x": data, **weights}, about=about,
                    flops=batches * (step_flops + 14.0 * params), bytes=batches * ADAM_BYTES * params,
                    attrs={**TRAIN, "model": model, "batch": data.shape[0] // batches, **attrs},
                    tolerance=0.15 if "dropout" in attrs else 0.02)


def of_training(step, model, batches, **attrs):
    """An epoch of the steps of a training workload."""
    x = step.tensors["x"]
    samples = Tensor((batches * x.shape[0], *x.shape[1:]), x.seed)
    weights = {name: t for name, t in step.tensors.items() if name != "x"}
    params = sum(t.count for t in weights.values())
    return fit(model, samples, weights, batches, step.flops - 14.0 * params,
               f"one epoch of fit, {batches} batches: {step.about}", **attrs)


def fit_lstm(batches=30, batch=32, steps=80, vocabulary=20000, width=128):
    gate = 1 / sqrt(width)
    weights = {"embedding": Tensor((vocabulary, width), 10, 0.05),
               "kernel": Tensor((width, 4 * width), 11, gate),
               "recurrent": Tensor((width, 4 * width), 12, gate), "bias": Tensor((4 * width,), 13, gate)}
    _dense(weights, "d1", width, 1, 14)
    data = Tokens((batches * batch, steps), 1, vocabulary, shortest=20)
    # Steps that a mask skips need no work: the mean length counts.
    mean = (data.shortest + steps) / 2
    return fit("lstm", data, weights, batches, 3 * 2.0 * mean * batch * 2 * width * 4 * width,
               f"one epoch of fit, {batches} batches of {batch}: Embedding {vocabulary}x{width} with mask_zero, "
               f"LSTM {width}, Dense 1, sigmoid, binary cross-entropy, Adam, sequences of 20 to {steps}",
               classes=2)


def fit_transformer(batches=6, batch=16, steps=128, vocabulary=20000, width=256, layers=4, heads=4):
    weights = {"embedding": Tensor((vocabulary, width), 10, 0.05),
               "positions": Tensor((steps, width), 11, 0.05)}
    head, hidden, seed = width // heads, 4 * width, 20
    for i in range(layers):
        for role in "qkv":
            weights[f"l{i}_{role}_w"] = Tensor((width, heads, head), seed, sqrt(3 / width))
            weights[f"l{i}_{role}_b"] = Tensor((heads, head), seed + 1, 0.05)
            seed += 2
        weights[f"l{i}_o_w"] = Tensor((heads, head, width), seed, sqrt(3 / width))
        weights[f"l{i}_o_b"] = Tensor((width,), seed + 1, 0.05)
        for norm in "12":
            weights[f"l{i}_n{norm}_g"] = Tensor((width,), seed + 2, 1.0)
            weights[f"l{i}_n{norm}_b"] = Tensor((width,), seed + 3, 0.05)
            if norm == "1":
                _dense(weights, f"l{i}_f1", width, hidden, seed + 4)
                _dense(weights, f"l{i}_f2", hidden, width, seed + 6)
        seed += 10
    _dense(weights, "d1", width, TRAIN["classes"], seed)
    rows = batch * steps
    forward = layers * (2.0 * rows * (4 * width * width + 2 * width * hidden) + 4.0 * rows * steps * width)
    return fit("transformer", Tokens((batches * batch, steps), 1, vocabulary, shortest=steps), weights, batches,
               3 * forward,
               f"one epoch of fit, {batches} batches of {batch}x{steps}: token and position embedding, {layers} "
               f"encoder blocks (width {width}, {heads} heads, hidden {hidden}, relu, normalised after each "
               "sum), mean over time, Dense 10, softmax cross-entropy, Adam",
               heads=heads, layers=layers)


def predict_one(units=16, layers=3):
    tiny = tiny_mlp(units, layers)
    return Workload(name="predict_one", kind="predict_one", tensors=tiny.tensors, flops=tiny.flops, bytes=tiny.bytes,
                    about="`predict` of one sample by 16 -> Dense 16 relu, three times: from memory of the "
                          "caller's to memory of the caller's", attrs=tiny.attrs)


WORKLOADS = {w.name: w for w in [
    mlp_train(), convnet_train(), tiny_mlp(),
    matmul("d1", 128, 512, 784), matmul("d2", 128, 512, 512), matmul("1024", 1024, 1024, 1024),
    matmul("tf", 4096, 3072, 768), matmul("batch1", 1, 512, 512),
    conv("3x3_56_64", 8, 56, 64, 64, 3), conv("1x1_56_256_64", 8, 56, 256, 64, 1),
    conv("3x3_14_256", 8, 14, 256, 256, 3),
    # Libraries split the odd padding of the strided stem differently, hence the wider tolerance.
    conv("stem_7x7s2", 8, 224, 3, 64, 7, stride=2, tolerance=0.01),
    conv("dw3x3_56_128", 8, 56, 128, 128, 3, depthwise=True),
    conv("mnist_c1", 128, 28, 1, 32, 3, padding="valid"),
    conv("mnist_c2", 128, 13, 32, 64, 3, padding="valid"),
    conv("3x3_56_64", 8, 56, 64, 64, 3, grad=True), conv("3x3_14_256", 8, 14, 256, 256, 3, grad=True),
    lstm(80, 32, 128, 128, grad=False), lstm(80, 32, 128, 128, grad=True),
    pointwise(4 << 20), adam(10_000_000), softmax(32768, 128),
    layernorm(4096, 768, grad=False), layernorm(4096, 768, grad=True),
    of_training(mlp_train(), "mlp", 100), of_training(convnet_train(), "convnet", 30, dropout=0.5),
    fit_lstm(), fit_transformer(), predict_one(),
]}


def read_ms(count, levels):
    """The time to read a number of bytes. `levels` are (bytes, GB/s), from the fastest cache to the
    memory; each level holds as many bytes as fit."""
    seconds = 0.0
    for size, rate in levels:
        here = min(count, size)
        seconds += here / (rate * 1e9)
        count -= here
    return 1e3 * seconds


def floor_ms(workload, peak, caches):
    """The longer of two times: of the FLOPs at the measured peak, and of reading the bytes from the
    fastest level that holds them. `caches` are the sizes of L2 and L3."""
    levels = [(caches[0], peak["l2_gbs"]), (caches[1], peak["l3_gbs"]), (inf, peak["dram_gbs"])]
    return max(1e3 * workload.flops / (peak["gflops"] * 1e9), read_ms(workload.bytes, levels))
