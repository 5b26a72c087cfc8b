"""Cases of the convolutional, pooling and normalisation layers."""

from keras import regularizers

from maker.spec import B, Case, F, Given, I

FIRST = dict(data_format="channels_first")
SPACE = {1: (7,), 2: (6, 5), 3: (5, 4, 4)}


def last(rank, channels=2, size=None):
    return F(2, *(size or SPACE[rank]), channels)


def first(rank, channels=2):
    return F(2, channels, *SPACE[rank])


def sizes(rank, *values):
    """The leading `rank` values, as the tuple that a layer of that rank takes."""
    return values[0] if rank == 1 else values[:rank]


def convolution(rank):
    kernel = sizes(rank, 3, 2, 2)
    causal = [
        Case("causal", dict(filters=3, kernel_size=3, padding="causal"), last(1)),
        Case("causal, strides", dict(filters=2, kernel_size=3, padding="causal", strides=2),
             last(1)),
        Case("causal, dilation", dict(filters=2, kernel_size=2, padding="causal", dilation_rate=3),
             last(1)),
        Case("causal, channels_first",
             dict(filters=2, kernel_size=3, padding="causal", **FIRST), first(1)),
        Case("mask is lost", dict(filters=2, kernel_size=2), F(2, 4, 3, mask="1110 1000")),
        Case("lora, causal", dict(filters=2, kernel_size=3, padding="causal", lora_rank=1),
             last(1)),
    ]
    return [
        Case("valid", dict(filters=3, kernel_size=kernel), last(rank)),
        Case("same", dict(filters=2, kernel_size=kernel, padding="same"), last(rank)),
        Case("strides", dict(filters=2, kernel_size=2, strides=sizes(rank, 2, 3, 2)), last(rank)),
        Case("strides, same", dict(filters=2, kernel_size=3, strides=2, padding="same"),
             last(rank)),
        Case("dilation", dict(filters=2, kernel_size=2, dilation_rate=sizes(rank, 3, 2, 1)),
             last(rank)),
        Case("dilation, same",
             dict(filters=2, kernel_size=3, dilation_rate=2, padding="same"), last(rank)),
        Case("groups", dict(filters=6, kernel_size=2, groups=2), last(rank, 4)),
        Case("no bias, relu", dict(filters=3, kernel_size=2, use_bias=False, activation="relu"),
             last(rank)),
        # Not as many filters as the last axis is long: Keras on TensorFlow adds the bias to that
        # axis then.
        Case("channels_first", dict(filters=7, kernel_size=kernel, **FIRST), first(rank)),
        Case("channels_first, same, strides",
             dict(filters=7, kernel_size=3, strides=2, padding="same", **FIRST), first(rank)),
        Case("one by one", dict(filters=2, kernel_size=1), last(rank, 3)),
        Case(
            "regularizers",
            dict(filters=2, kernel_size=2, kernel_regularizer=regularizers.L2(0.1),
                 activity_regularizer=regularizers.L1(0.01)),
            last(rank),
        ),
        Case("lora", dict(filters=3, kernel_size=kernel, lora_rank=2), last(rank)),
        Case("lora, alpha", dict(filters=3, kernel_size=kernel, lora_rank=2, lora_alpha=8),
             last(rank)),
        Case("lora, regularizer, no bias",
             dict(filters=3, kernel_size=2, lora_rank=1, use_bias=False,
                  kernel_regularizer=regularizers.L2(0.1)), last(rank)),
        Case("lora, mixed_float16",
             dict(filters=3, kernel_size=2, lora_rank=2, dtype="mixed_float16"), last(rank)),
        Case("lora, float64", dict(filters=3, kernel_size=2, lora_rank=2, dtype="float64"),
             F(2, *SPACE[rank], 2, dtype="float64")),
        Case("lora, frozen", dict(filters=3, kernel_size=2, lora_rank=2, trainable=False),
             last(rank)),
        Case("lora, groups", dict(filters=6, kernel_size=2, groups=2, lora_rank=3), last(rank, 4)),
        Case("lora, dilation, same",
             dict(filters=2, kernel_size=3, dilation_rate=2, padding="same", lora_rank=2),
             last(rank)),
        Case("lora, strides",
             dict(filters=2, kernel_size=2, strides=sizes(rank, 2, 3, 2), lora_rank=2), last(rank)),
        Case("lora, channels_first",
             dict(filters=7, kernel_size=kernel, lora_rank=2, lora_alpha=3, **FIRST), first(rank)),
    ] + (causal if rank == 1 else [])


def transposed(rank):
    small = {1: (4,), 2: (3, 4), 3: (2, 3, 2)}[rank]
    x, x_first = last(rank, 2, small), F(2, 2, *small)
    return [
        Case("valid", dict(filters=3, kernel_size=sizes(rank, 3, 2, 2)), x),
        Case("same", dict(filters=2, kernel_size=sizes(rank, 3, 2, 2), padding="same"), x),
        Case("strides", dict(filters=2, kernel_size=3, strides=2), x),
        Case("strides over the kernel", dict(filters=2, kernel_size=2, strides=3), x),
        Case("strides, same", dict(filters=2, kernel_size=3, strides=2, padding="same"), x),
        Case("uneven strides, same",
             dict(filters=2, kernel_size=3, strides=sizes(rank, 2, 3, 1), padding="same"), x),
        Case("output padding",
             dict(filters=2, kernel_size=3, strides=2, padding="same", output_padding=1), x),
        Case("output padding, valid",
             dict(filters=2, kernel_size=3, strides=2, output_padding=1), x),
        Case("no bias, relu", dict(filters=3, kernel_size=2, use_bias=False, activation="relu"), x),
        Case("channels_first", dict(filters=3, kernel_size=3, strides=2, **FIRST), x_first),
        Case("channels_first, same",
             dict(filters=3, kernel_size=3, strides=2, padding="same", **FIRST), x_first),
    ]


def depthwise(rank, **more):
    """Depthwise and separable layers; the separable ones also take the number of filters."""
    kernel = sizes(rank, 3, 2)
    return [
        Case("valid", dict(kernel_size=kernel, **more), last(rank)),
        Case("same", dict(kernel_size=3, padding="same", **more), last(rank)),
        Case("strides", dict(kernel_size=2, strides=2, **more), last(rank)),
        Case("strides, same", dict(kernel_size=3, strides=2, padding="same", **more), last(rank)),
        Case("dilation", dict(kernel_size=2, dilation_rate=2, **more), last(rank)),
        Case("multiplier", dict(kernel_size=2, depth_multiplier=3, **more), last(rank)),
        Case("no bias, tanh", dict(kernel_size=2, use_bias=False, activation="tanh", **more),
             last(rank)),
        Case("channels_first", dict(kernel_size=2, depth_multiplier=4, **FIRST, **more),
             first(rank)),
    ]


def pooling(rank):
    uneven = sizes(rank, 3, 2, 1)
    return [
        Case("plain", dict(pool_size=2), last(rank)),
        Case("uneven", dict(pool_size=uneven), last(rank)),
        Case("strides", dict(pool_size=3, strides=1), last(rank)),
        Case("uneven strides", dict(pool_size=2, strides=uneven), last(rank)),
        Case("same", dict(pool_size=2, padding="same"), last(rank)),
        Case("same, strides", dict(pool_size=3, strides=2, padding="same"), last(rank)),
        Case("channels_first", dict(pool_size=2, **FIRST), first(rank)),
        Case("channels_first, same", dict(pool_size=3, strides=2, padding="same", **FIRST),
             first(rank)),
    ]


def global_pooling(rank):
    return [
        Case("plain", {}, last(rank)),
        Case("keepdims", dict(keepdims=True), last(rank)),
        Case("channels_first", FIRST, first(rank)),
        Case("channels_first, keepdims", dict(keepdims=True, **FIRST), first(rank)),
    ]


TIMES = "1110 1000"
MASKED = F(2, 4, 3, mask=TIMES)
MASKED_GLOBAL = [
    Case("masked", {}, MASKED),
    Case("masked, keepdims", dict(keepdims=True), MASKED),
    Case("a row all masked", {}, F(2, 4, 3, mask="0000 1010")),
    Case("masked, channels_first", FIRST, F(2, 3, 4, mask=TIMES)),
]

CONVOLUTIONAL = (
    {f"Conv{n}D": convolution(n) for n in (1, 2, 3)}
    | {f"Conv{n}DTranspose": transposed(n) for n in (1, 2, 3)}
    | {f"DepthwiseConv{n}D": depthwise(n) for n in (1, 2)}
    | {f"SeparableConv{n}D": depthwise(n, filters=3) for n in (1, 2)}
)
POOLING = (
    {f"{kind}Pooling{n}D": pooling(n) for kind in ("Max", "Average") for n in (1, 2, 3)}
    | {f"Global{kind}Pooling{n}D": global_pooling(n) for kind in ("Max", "Average")
       for n in (1, 2, 3)}
)
POOLING["GlobalAveragePooling1D"] += MASKED_GLOBAL + [
    Case("mask by position", {}, F(2, 4, 3), more=(B("1010 0011"),)),
]
for n in (1, 2, 3):
    POOLING[f"GlobalMaxPooling{n}D"] += [Case("int", {}, I(*(2,) * (n + 1), 3, below=9))]
    POOLING[f"GlobalAveragePooling{n}D"] += [Case("int", {}, I(*(2,) * (n + 1), 3, below=9))]
POOLING["GlobalMaxPooling1D"] += [Case("mask is ignored", {}, MASKED)]

TRAIN = dict(training=True)
IMAGE = F(3, 4, 3, 2)

NORMALIZATION = {
    "BatchNormalization": [
        Case("not training", {}, F(4, 3)),
        Case("training", {}, F(4, 3), TRAIN),
        Case("momentum and epsilon", dict(momentum=0.8, epsilon=0.1), F(4, 3), TRAIN),
        Case("no scale", dict(scale=False), F(4, 3), TRAIN),
        Case("no center", dict(center=False), F(4, 3), TRAIN),
        Case("neither", dict(center=False, scale=False), F(4, 3)),
        Case("image", {}, IMAGE, TRAIN),
        Case("image, axis 1", dict(axis=1), IMAGE, TRAIN),
        Case("image, axis 1, not training", dict(axis=1), IMAGE),
        Case("masked", {}, MASKED, TRAIN),
        Case("masked, not training", {}, MASKED, dict(training=False)),
        Case("masked, axis 1", dict(axis=1), MASKED, TRAIN),
        Case("a mask for rows", {}, F(2, 2, 3, 4),
             TRAIN | dict(mask=Given([[[1], [0]], [[1], [1]]], "bool"))),
        Case("frozen", dict(trainable=False), F(4, 3), TRAIN),
        Case("two calls", {}, F(4, 3), TRAIN, again=F(4, 3)),
        Case("one row", {}, F(1, 3), TRAIN),
        Case("mixed_bfloat16", dict(dtype="mixed_bfloat16"), F(4, 3), TRAIN),
        Case("renorm", dict(renorm=True), F(4, 3), TRAIN),
        Case("renorm, clipped",
             dict(renorm=True, renorm_clipping=dict(rmin=0.8, rmax=1.2, dmax=0.1)), F(4, 3), TRAIN),
        Case("renorm, not training", dict(renorm=True), F(4, 3)),
        Case("regularizers", dict(beta_regularizer=regularizers.L1(0.1),
                                  gamma_regularizer=regularizers.L2(0.2)), F(4, 3)),
    ],
    "LayerNormalization": [
        Case("plain", {}, F(2, 5)),
        Case("three axes", {}, F(2, 4, 5)),
        Case("axis 1", dict(axis=1), F(2, 4, 5)),
        Case("two axes", dict(axis=[1, 2]), F(2, 4, 5)),
        Case("two axes, last and first", dict(axis=[-1, 1]), F(2, 4, 3, 5)),
        Case("no scale", dict(scale=False, epsilon=0.1), F(2, 5)),
        Case("no center", dict(center=False), F(2, 5)),
        Case("mask passes", {}, MASKED),
        Case("mixed_bfloat16", dict(dtype="mixed_bfloat16"), F(2, 5)),
    ],
    "GroupNormalization": [
        Case("two groups", dict(groups=2), F(2, 3, 4)),
        Case("one group", dict(groups=1), F(2, 4)),
        Case("one channel each", dict(groups=-1), F(2, 3, 2, 4)),
        Case("axis 1", dict(groups=2, axis=1), F(2, 4, 3, 2)),
        Case("no scale", dict(groups=3, scale=False, epsilon=0.1), F(2, 4, 6)),
        Case("neither", dict(groups=3, scale=False, center=False), F(2, 4, 6)),
        Case("mask passes", dict(groups=3), MASKED),
    ],
    "RMSNormalization": [
        Case("plain", {}, F(2, 5)),
        Case("epsilon", dict(epsilon=0.5), F(2, 4, 5)),
        Case("two axes", dict(axis=[1, 2]), F(2, 4, 5)),
        Case("masked", {}, MASKED),
    ],
    "UnitNormalization": [
        Case("plain", {}, F(2, 5)),
        Case("axis 1", dict(axis=1), F(2, 4, 5)),
        Case("two axes", dict(axis=[1, 2]), F(2, 4, 5)),
        Case("mask passes", {}, MASKED),
    ],
}

CASES = CONVOLUTIONAL | POOLING | NORMALIZATION
