"""The rows of the GPU benchmark: what is measured, its targets, and the lower bound of its time."""

from dataclasses import dataclass, field

MODELS = {"mlp": "MLP 784-512-512-10, batch 128", "convnet": "MNIST convnet, batch 128",
          "lstm": "masked LSTM 20000 × 128, 128 units, batch 64", "bert": "BERT-base, 32 × 128",
          "resnet50": "ResNet-50, batch 128"}
# The host reads the lengths of packed sequences: PyTorch cannot record a graph.
UNCAPTURABLE = {"lstm"}


@dataclass
class Work:
    flops: float
    bytes: float  # through the GPU's memory
    batch: float  # bytes copied from the host


# Targets of Keratin's time: a limit in milliseconds ("ms"), or a factor over a mode of PyTorch.
@dataclass
class Row:
    model: str
    bf16: bool = False
    predict: int = 0  # samples of a prediction; 0: a step of training
    compiled: bool = True  # torch.compile is measured too
    targets: dict = field(default_factory=dict)

    @property
    def name(self):
        what = f"predict{self.predict}" if self.predict else "train"
        return f"{self.model}_{what}" + ("_bf16" if self.bf16 else "")

    @property
    def title(self):
        title = MODELS[self.model]
        if self.predict:
            title = f"{title.split(',')[0]}, prediction of {self.predict}"
        return title + (", bf16" if self.bf16 else "")

    @property
    def words(self):
        """Arguments of keratin_gpu_steps and torch_steps.py."""
        return [self.model, *["--bf16"] * self.bf16, *["--predict"] * (self.predict > 0),
                *["--batch"] * (self.predict > 1)]

    @property
    def modes(self):
        """The modes of PyTorch that are measured."""
        return ["eager", *["compile"] * self.compiled, *["graph"] * (self.model not in UNCAPTURABLE)]

    def work(self):
        return WORK[self.model](2 if self.bf16 else 4, self.predict)


ROWS = [
    Row("mlp", targets={"eager": 10, "graph": 1, "ms": 0.07}),
    Row("convnet", targets={"eager": 10, "graph": 1, "ms": 0.20}),
    Row("lstm", compiled=False, targets={"eager": 3}),
    Row("bert", targets={"graph": 1, "ms": 18}),
    Row("bert", bf16=True, compiled=False, targets={"graph": 1, "ms": 9.5}),
    Row("resnet50", targets={"graph": 1, "ms": 42}),
    Row("resnet50", bf16=True, targets={"graph": 1, "ms": 29}),
    Row("resnet50", predict=1, targets={"compile": 1, "graph": 1}),
    Row("resnet50", predict=128, targets={"compile": 1, "graph": 1}),
    Row("bert", predict=1, targets={"compile": 1, "graph": 1}),
]

# Bytes per parameter in a step of training: the gradient is written and read; Adam reads and writes
# the weight and two moments. All of it f32.
ADAM = 8 * 4


def mlp(size, _):
    batch, layers = 128, [784 * 512, 512 * 512, 512 * 10]
    # Forward, filters' gradients, and inputs' gradients but for the first.
    flops = 2 * batch * (3 * sum(layers) - layers[0])
    return Work(flops, ADAM * (sum(layers) + 512 + 512 + 10), batch * 784 * 4)


def convnet(size, _):
    batch, layers = 128, [26**2 * 32 * 9, 11**2 * 64 * 9 * 32, 1600 * 10]
    flops = 2 * batch * (3 * sum(layers) - layers[0])
    # Results of convolutions and poolings are written and read, and so are the gradients.
    given = 26**2 * 32 + 13**2 * 32 + 11**2 * 64 + 5**2 * 64
    return Work(flops, 4 * batch * given * size + ADAM * 34826, batch * 28**2 * 4)


def lstm(size, _):
    batch, steps, units = 64, 200, 128
    words = sum(50 + row * 37 % 151 for row in range(batch))
    weights = 4 * units * (units + units)
    # Per word, forward and backward: its vector, four gates, the state and the output.
    bytes = 2 * 2 * words * 7 * units * size
    return Work(6 * words * weights, bytes + ADAM * (20000 * 128 + weights + 4 * units + 129),
                batch * steps * 4)


def bert(size, predict):
    layers, width, hidden, steps = 12, 768, 3072, 128
    words = (predict or 32) * steps
    weights = layers * (4 * width**2 + 2 * width * hidden)
    others = layers * (9 * width + hidden) + width**2 + 5 * width + 2  # biases, norms, the head
    # Scores, and weights times values; both cost as much as a matmul with steps² weights.
    attention = layers * 2 * words * steps * width
    macs = words * weights + attention
    if predict:  # the intermediate values of one sample stay in the cache
        return Work(2 * macs, 4 * (weights + others), words * 4)
    # A layer's forward pass in units of words × width, written and read: queries, keys and values
    # 1 + 3, attention 3 + 1, its matmul 1 + 1, two normalised sums 2 · 3, the wide matmul 1 + 4,
    # gelu 4 + 4, the narrow matmul 4 + 1. The backward pass has twice the matmuls, and reads as much
    # again as it writes.
    passes = 3 * (4 + 4 + 2 + 6 + 5 + 8 + 5)
    return Work(6 * macs, layers * passes * words * width * size +
                ADAM * (weights + others + (30522 + 512) * width), words * 4)


def resnet50(size, predict):
    batch, weights = predict or 128, 25583592
    macs, given, read = 3.856e9, 10.59e6, 8.0e6  # of the 53 convolutions, per image
    image = 224**2 * 3 * 4
    if predict:  # normalisations and relus are part of convolutions; one sample stays in the cache
        passes = given + read if predict > 1 else 0
        return Work(2 * batch * macs, batch * passes * size + weights * 4, batch * image)
    # The result of a convolution is written, read for its moments, read to be normalised, and written
    # again. In the backward pass the gradient, the output and the input of the normalisation are read
    # for sums, the masked gradient is written, two are read and one written, and that is read twice.
    # The input of the convolution is read again, and gets a gradient.
    passes = 13 * given + 3 * read
    return Work(6 * batch * macs, batch * passes * size + ADAM * weights, batch * image)


WORK = {"mlp": mlp, "convnet": convnet, "lstm": lstm, "bert": bert, "resnet50": resnet50}


def floors(row, ceilings):
    """The milliseconds that each of the row's needs takes at the GPU's measured rates."""
    work, rate = row.work(), ceilings["bf16_tflops" if row.bf16 else "tf32_tflops"]
    return {"FLOPs": work.flops / rate / 1e9, "memory": work.bytes / ceilings["copy_gbs"] / 1e6,
            "batch": work.batch / ceilings["host_gbs"] / 1e6}
