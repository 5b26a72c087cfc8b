"""Cases of the core, activation, merging, reshaping, regularisation and preprocessing layers."""

from keras import constraints, initializers, regularizers

from maker.spec import B, Case, F, Given, I, function, layer

TIMES = "1110 1000"  # masks of 2 rows and 4 steps, if a case has no others
OTHER = "0110 0001"
ACTIVATIONS = (
    "celu elu exponential gelu glu hard_shrink hard_sigmoid hard_silu hard_tanh leaky_relu linear "
    "log_sigmoid log_softmax mish relu relu6 selu sigmoid silu soft_shrink softmax softplus "
    "softsign sparse_plus sparse_sigmoid sparsemax squareplus tanh tanh_shrink threshold"
).split()


def calls(name, args, x, *, mask=None, output_shape=None, arguments=None, **options):
    """A case of Lambda: the functions are known by name."""
    given = dict(function=function(args))
    given |= {"mask": function(mask)} if mask else {}
    given |= {"output_shape": output_shape} if output_shape else {}
    given |= {"arguments": arguments} if arguments else {}
    notes = {"lambda": args} | ({"mask_lambda": mask} if mask else {})
    return Case(name, given, x, options, notes=notes)


REVERSIBLE = dict(input_dim=5, output_dim=3)

CORE = {
    "Dense": [
        Case("plain", dict(units=3), F(2, 5)),
        Case("no bias, relu", dict(units=4, activation="relu", use_bias=False), F(3, 2)),
        Case("three axes, softmax", dict(units=3, activation="softmax"), F(2, 4, 5)),
        Case("mask passes", dict(units=2), F(2, 4, 3, mask=TIMES)),
        Case("four axes, mask of three", dict(units=2), F(2, 2, 2, 3, mask="11,10 01,00")),
        Case(
            "regularizers",
            dict(
                units=3,
                kernel_regularizer=regularizers.L1L2(0.1, 0.2),
                bias_regularizer=regularizers.L1(0.3),
                activity_regularizer=regularizers.L2(0.5),
                kernel_constraint=constraints.MaxNorm(2),
            ),
            F(2, 4),
        ),
        Case("frozen", dict(units=3, trainable=False), F(2, 4)),
        Case("mixed_bfloat16", dict(units=3, dtype="mixed_bfloat16"), F(2, 5)),
        Case("mixed_float16", dict(units=3, dtype="mixed_float16"), F(2, 5)),
        Case("float64", dict(units=3, dtype="float64"), F(2, 5, dtype="float64")),
        Case("int input", dict(units=3), I(2, 5, below=4)),
        Case("lora", dict(units=3, lora_rank=2), F(2, 5)),
        Case("lora, alpha is lost", dict(units=3, lora_rank=2, lora_alpha=8), F(2, 5)),
        Case("lora, regularizer, no bias",
             dict(units=3, lora_rank=1, use_bias=False, kernel_regularizer=regularizers.L2(0.1)),
             F(2, 5)),
        Case("lora, mixed_float16", dict(units=3, lora_rank=2, dtype="mixed_float16"), F(2, 5)),
        Case("lora, float64", dict(units=3, lora_rank=2, dtype="float64"),
             F(2, 5, dtype="float64")),
        Case("lora, frozen", dict(units=3, lora_rank=2, trainable=False), F(2, 5)),
        *(
            Case(f"{cls} with options", dict(units=3, activation=layer(cls, **options)), F(2, 4, 3))
            for cls, options in (
                ("ELU", dict(alpha=0.5)),
                ("LeakyReLU", dict(negative_slope=0.1)),
                ("ReLU", dict(max_value=0.5, threshold=0.1)),
                ("Softmax", dict(axis=1)),
                ("PReLU", dict(shared_axes=[1])),
                ("UnitNormalization", {}),
            )
        ),
    ],
    "EinsumDense": [
        Case("matrix", dict(equation="ab,bc->ac", output_shape=4, bias_axes="c"), F(2, 3)),
        Case(
            "time, no bias",
            dict(equation="abc,cd->abd", output_shape=(None, 5), activation="tanh"),
            F(2, 4, 3),
        ),
        Case(
            "heads, bias on both",
            dict(equation="abc,cde->abde", output_shape=(4, 2, 3), bias_axes="de"),
            F(2, 4, 3),
        ),
        Case(
            "bias of an inner axis",
            dict(equation="abc,cde->abde", output_shape=(4, 2, 3), bias_axes="d"),
            F(2, 4, 3),
        ),
        Case(
            "bias over time",
            dict(equation="abc,cd->abd", output_shape=(4, 5), bias_axes="bd"),
            F(2, 4, 3),
        ),
        Case(
            "ellipsis in front",
            dict(equation="...x,xy->...y", output_shape=4, bias_axes="y"),
            F(2, 2, 3, 5),
        ),
        Case(
            "ellipsis behind",
            dict(equation="ab...,bc->ac...", output_shape=(3, None), bias_axes="c"),
            F(2, 4, 5),
        ),
        Case(
            "joins heads",
            dict(equation="abcd,cde->abe", output_shape=(None, 5), bias_axes="e"),
            F(2, 4, 2, 3),
        ),
        Case(
            "mask is lost",
            dict(equation="abc,cd->abd", output_shape=(None, 5)),
            F(2, 4, 3, mask=TIMES),
        ),
        Case(
            "lora",
            dict(equation="abc,cde->abde", output_shape=(None, 2, 3), lora_rank=2, lora_alpha=5),
            F(2, 4, 3),
        ),
        Case(
            "lora, bias",
            dict(equation="ab,bc->ac", output_shape=4, bias_axes="c", lora_rank=1),
            F(2, 3),
        ),
    ],
    "Embedding": [
        Case("plain", dict(input_dim=7, output_dim=3), I(2, 4, below=7)),
        Case("mask_zero", dict(input_dim=5, output_dim=3, mask_zero=True), I(3, 5, below=3)),
        Case("one id a row", dict(input_dim=5, output_dim=2, mask_zero=True), I(3, below=3)),
        Case("three axes", dict(input_dim=6, output_dim=2, mask_zero=True), I(2, 3, 2, below=3)),
        Case("float ids", dict(input_dim=5, output_dim=3), Given([[1, 2, 4], [0, 3, 3]])),
        Case(
            "regularizer",
            dict(input_dim=5, output_dim=2, embeddings_regularizer=regularizers.L2(0.1)),
            I(2, 3, below=5),
        ),
        Case("mixed_bfloat16", dict(input_dim=5, output_dim=2, dtype="mixed_bfloat16"),
             I(2, 3, below=5)),
        Case("lora", dict(input_dim=5, output_dim=3, lora_rank=2), I(2, 3, below=5)),
        Case("lora, mixed_bfloat16",
             dict(input_dim=5, output_dim=2, lora_rank=2, dtype="mixed_bfloat16"),
             I(2, 3, below=5)),
    ],
    "ReversibleEmbedding": [
        Case("plain", REVERSIBLE, I(2, 4, below=5)),
        Case("mask_zero", dict(mask_zero=True, **REVERSIBLE), I(3, 4, below=3)),
        Case("reverse", REVERSIBLE, F(2, 4, 3), dict(reverse=True)),
        Case("reverse, vectors", REVERSIBLE, F(2, 3), dict(reverse=True)),
        Case("reverse, mask is lost", REVERSIBLE, F(2, 4, 3, mask=TIMES), dict(reverse=True)),
        Case("reverse, mask_zero", dict(mask_zero=True, **REVERSIBLE), F(2, 4, 3, mask=TIMES),
             dict(reverse=True)),
        Case("two kernels", dict(tie_weights=False, **REVERSIBLE), I(2, 4, below=5)),
        Case("two kernels, reverse", dict(tie_weights=False, **REVERSIBLE), F(2, 4, 3),
             dict(reverse=True)),
        Case("soft cap", dict(logit_soft_cap=0.75, **REVERSIBLE), F(2, 4, 3), dict(reverse=True)),
        Case("reverse_dtype", dict(reverse_dtype="float32", dtype="mixed_float16", **REVERSIBLE),
             F(2, 4, 3), dict(reverse=True)),
        Case("lower reverse_dtype", dict(reverse_dtype="bfloat16", **REVERSIBLE),
             F(2, 4, 3), dict(reverse=True)),
        Case("mixed_float16", dict(dtype="mixed_float16", **REVERSIBLE), I(2, 4, below=5)),
        Case("mixed_float16, reverse", dict(dtype="mixed_float16", **REVERSIBLE),
             F(2, 4, 3, dtype="float16"), dict(reverse=True)),
        Case("float64, reverse", dict(dtype="float64", **REVERSIBLE),
             F(2, 4, 3, dtype="float64"), dict(reverse=True)),
        Case("lora, reverse", dict(lora_rank=2, **REVERSIBLE), F(2, 4, 3), dict(reverse=True)),
        Case(
            "regularizers",
            dict(tie_weights=False, embeddings_regularizer=regularizers.L2(0.1),
                 embeddings_constraint=constraints.NonNeg(), **REVERSIBLE),
            I(2, 3, below=5),
        ),
    ],
    "Identity": [
        Case("plain", {}, F(2, 3)),
        Case("mask passes", {}, F(2, 4, 3, mask=TIMES)),
        Case("a list", {}, [F(2, 3), F(2, 4)]),
        Case("a dict", {}, {"b": F(2, 3), "a": F(2, 4, 3, mask=TIMES)}),
        Case("int", {}, I(2, 5, below=9)),
    ],
    "InputLayer": [
        Case("shape", dict(shape=(3,), name="x")),
        Case("batch size", dict(shape=(4, 2), batch_size=5, name="x")),
        Case("batch shape, int", dict(batch_shape=(2, None), dtype="int32", name="ids")),
        Case("optional", dict(shape=(3,), optional=True, name="maybe")),
        Case("scalars", dict(shape=(), name="s")),
    ],
    "Lambda": [
        calls("one output", "square", F(2, 3)),
        calls("two outputs", "twice", F(2, 3)),
        calls("two changed outputs", "plus_one_and_same", F(2, 4)),
        calls("two inputs", "sum_and_product", [F(2, 3), F(2, 3)]),
        calls("changes the shape", "first_half", F(2, 6, 3)),
        calls("output_shape given", "first_half", F(2, 6, 3), output_shape=(3, 3)),
        calls("arguments", "scale", F(2, 3), arguments={"by": 2.5}),
        calls("training", "add_in_training", F(2, 3), training=True),
        calls("not training", "add_in_training", F(2, 3), training=False),
        calls("takes the mask", "zero_masked", F(2, 4, 3, mask=TIMES)),
        calls("the mask is lost", "square", F(2, 4, 3, mask=TIMES)),
        calls("mask passed on", "square", F(2, 4, 3, mask=TIMES), mask="mask_as_it_is"),
        calls("mask changed", "square", F(2, 4, 3, mask=TIMES), mask="mask_reversed"),
        calls("mask made", "square", F(2, 4, 3), mask="mask_positive"),
        calls("one mask, two outputs", "plus_and_minus", F(2, 4, 3, mask=TIMES),
              mask="mask_as_it_is"),
        calls("two masks", "plus_and_minus", F(2, 4, 3, mask=TIMES), mask="masks_for_both"),
        calls("masks of a list", "sum_and_product",
              [F(2, 4, 3, mask=TIMES), F(2, 4, 3, mask=OTHER)], mask="mask_of_first"),
    ],
    "LayerScale": [
        Case("vectors", dict(init_values=0.5, projection_dim=3), F(2, 3)),
        Case("images", dict(init_values=1e-6, projection_dim=2), F(2, 3, 4, 2)),
        Case("as made", dict(init_values=0.25, projection_dim=3), F(2, 3), noise=False),
        Case("mask is lost", dict(init_values=1.0, projection_dim=3), F(2, 4, 3, mask=TIMES)),
        Case("mixed_bfloat16", dict(init_values=1.0, projection_dim=3, dtype="mixed_bfloat16"),
             F(2, 3)),
    ],
    "Masking": [
        Case("zeros", {}, Given([[[1, 2], [0, 0], [0, 3]], [[0, 0], [4, 0], [0, 0]]])),
        Case("another value", dict(mask_value=-1.0),
             Given([[[1, -1], [-1, -1], [0, 0]], [[-1, -1], [-1, 4], [2, -1]]])),
        Case("four axes", dict(mask_value=1.0), I(2, 3, 2, 2, below=2)),
        Case("on top of a mask", {},
             Given([[[1, 2], [0, 0], [0, 3]], [[0, 0], [4, 0], [0, 0]]], mask="101 111")),
        Case("two axes", {}, Given([[0, 0], [0, 1], [2, 3]])),
    ],
    "Wrapper": [
        Case("dense", dict(layer=layer("Dense", units=3)), F(2, 4)),
        Case("lstm", dict(layer=layer("LSTM", units=2)), F(2, 4, 3)),
        Case("nested", dict(layer=layer("Wrapper", layer=layer("Dense", units=3))), F(2, 4)),
    ],
}

ACTIVATION = {
    "Activation": [
        Case(name, dict(activation=name), F(3, 6))
        for name in ACTIVATIONS
        if name != "threshold"  # it has no default arguments
    ]
    + [
        Case("softmax over time", dict(activation="softmax"), F(2, 4, 3)),
        Case("layer", dict(activation=layer("ReLU", negative_slope=0.2)), F(2, 4, mask="11 10")),
        Case("mask passes", dict(activation="relu"), F(2, 4, 3, mask=TIMES)),
        Case("regularizer", dict(activation="relu", activity_regularizer=regularizers.L1(0.1)),
             F(2, 3)),
    ],
    "ELU": [
        Case("plain", {}, F(2, 5)),
        Case("alpha", dict(alpha=0.3), F(2, 5)),
        Case("mask passes", dict(alpha=2.0), F(2, 4, 3, mask=TIMES)),
    ],
    "LeakyReLU": [
        Case("plain", {}, F(2, 5)),
        Case("slope", dict(negative_slope=0.05), F(2, 5)),
        Case("mask passes", {}, F(2, 4, 3, mask=TIMES)),
        Case("int", {}, I(2, 5, below=9)),
    ],
    "PReLU": [
        Case("plain", {}, F(2, 5)),
        Case("shared over time", dict(shared_axes=[1]), F(2, 4, 3)),
        Case("shared over an image", dict(shared_axes=[1, 2]), F(2, 3, 4, 2)),
        Case("regularizer", dict(alpha_regularizer=regularizers.L2(0.1)), F(2, 5)),
        Case("mask passes", {}, F(2, 4, 3, mask=TIMES)),
    ],
    "ReLU": [
        Case("plain", {}, F(2, 5)),
        Case("capped", dict(max_value=0.5), F(3, 6)),
        Case("slope and threshold", dict(negative_slope=0.2, threshold=0.3), F(3, 6)),
        Case("all", dict(max_value=0.8, negative_slope=0.1, threshold=0.5), F(3, 6)),
        Case("mask passes", {}, F(2, 4, 3, mask=TIMES)),
        Case("int", {}, I(2, 5, below=9)),
        Case("int, max_value", dict(max_value=3), I(2, 5, below=9)),
    ],
    "Softmax": [
        Case("plain", {}, F(2, 5)),
        Case("axis 1", dict(axis=1), F(2, 4, 3)),
        Case("two axes", dict(axis=[1, 2]), F(2, 4, 3)),
        Case("mask given", {}, F(2, 4), dict(mask=B("1101 1000"))),
        Case("mask given, two axes", dict(axis=[-1, -2]), F(2, 3, 2),
             dict(mask=B("11,10,00 10,00,01"))),
        Case("mask attached", {}, F(2, 4, mask="1101 0011")),
        Case("all masked", {}, F(2, 4), dict(mask=B("0000 1000"))),
        Case("mask by position", {}, F(2, 4), more=(B("1110 1010"),)),
    ],
}

THREE_MASKS = [F(2, 4, 3, mask=TIMES), F(2, 4, 3, mask=OTHER), F(2, 4, 3, mask="1001 0001")]


def merges(count=3):
    """What all merging layers have in common; Subtract takes two inputs only."""
    return [
        Case("two", {}, [F(2, 3), F(2, 3)]),
        *([Case("three", {}, [F(2, 3)] * 3)] if count > 2 else []),
        Case("broadcast", {}, [F(2, 4, 3), F(2, 1, 3)]),
        Case("lower rank", {}, [F(2, 4, 3), F(2, 3)]),
        Case("lower rank first", {}, [F(2, 3), F(2, 4, 3)]),
        Case("lower rank, masked", {}, [F(2, 3, 4, 3), F(2, 4, 3, mask=TIMES)]),
        Case("both masked", {}, THREE_MASKS[:2]),
        *([Case("three masked", {}, THREE_MASKS)] if count > 2 else []),
        Case("one masked", {}, [F(2, 4, 3, mask=TIMES), F(2, 4, 3)]),
        Case("broadcast and masked", {}, [F(2, 4, 3, mask=TIMES), F(2, 1, 3, mask="1 0")]),
        Case("int", {}, [I(2, 3, below=9), I(2, 3, below=5)]),
        Case("int and float", {}, [I(2, 3, below=9), F(2, 3)]),
    ]


MERGING = {
    name: merges() for name in ("Add", "Average", "Maximum", "Minimum", "Multiply")
} | {
    "Subtract": merges(2),
    "Concatenate": [
        Case("features", {}, [F(2, 3), F(2, 2)]),
        Case("time", dict(axis=1), [F(2, 3, 2), F(2, 1, 2), F(2, 2, 2)]),
        Case("negative axis", dict(axis=-2), [F(2, 3, 2), F(2, 1, 2)]),
        Case("features, both masked", {}, [F(2, 4, 3, mask=TIMES), F(2, 4, 2, mask=OTHER)]),
        Case("features, one masked", {}, [F(2, 4, 3, mask=TIMES), F(2, 4, 2)]),
        Case("time, both masked", dict(axis=1), [F(2, 4, 3, mask=TIMES), F(2, 2, 3, mask="10 01")]),
        Case("time, one masked", dict(axis=1), [F(2, 4, 3), F(2, 2, 3, mask="10 01")]),
        Case("two axes masked", dict(axis=-1), [F(2, 3, mask="101 011"), F(2, 2, mask="11 00")]),
        Case("batch", dict(axis=0), [F(2, 3), F(1, 3)]),
        Case("int", {}, [I(2, 3, below=9), I(2, 2, below=9)]),
    ],
    "Dot": [
        Case("vectors", dict(axes=1), [F(2, 5), F(2, 5)]),
        Case("normalized", dict(axes=1, normalize=True), [F(2, 5), F(2, 5)]),
        Case("matrices", dict(axes=(2, 1)), [F(2, 3, 4), F(2, 4, 5)]),
        Case("last axes", dict(axes=-1), [F(2, 3, 4), F(2, 5, 4)]),
        Case("first axes, normalized", dict(axes=1, normalize=True), [F(2, 4, 3), F(2, 4, 2)]),
        Case("matrix and vector", dict(axes=(2, 1)), [F(2, 3, 4), F(2, 4)]),
        Case("masked", dict(axes=2), [F(2, 4, 3, mask=TIMES), F(2, 4, 3, mask=OTHER)]),
        Case("four axes", dict(axes=(3, 1)), [F(2, 3, 2, 4), F(2, 4, 3)]),
    ],
}

BYTES = [[[[0], [255]], [[7], [100]]]]
SEQUENCE, IMAGE, VOLUME = F(2, 6, 3), F(2, 6, 5, 3), F(2, 4, 5, 4, 2)
FIRST = dict(data_format="channels_first")
MASKED = F(2, 4, 3, mask=TIMES)

RESHAPING = {
    "Flatten": [
        Case("plain", {}, F(2, 4, 3)),
        Case("channels_first", FIRST, F(2, 4, 3, 2)),
        Case("already flat", {}, F(2, 4)),
        Case("scalars", {}, F(3)),
        Case("mask is lost", {}, MASKED),
        Case("int", {}, I(2, 4, 2, below=9)),
    ],
    "Permute": [
        Case("two", dict(dims=(2, 1)), F(2, 4, 3)),
        Case("three", dict(dims=(3, 1, 2)), F(2, 4, 3, 2)),
        Case("same", dict(dims=(1, 2)), F(2, 4, 3)),
        Case("mask is lost", dict(dims=(2, 1)), MASKED),
        Case("int", dict(dims=(2, 1)), I(2, 4, 2, below=9)),
    ],
    "RepeatVector": [
        Case("plain", dict(n=3), F(2, 4)),
        Case("once", dict(n=1), F(2, 4)),
        Case("many", dict(n=6), F(3, 2)),
        Case("int", dict(n=2), I(2, 3, below=9)),
    ],
    "Reshape": [
        Case("plain", dict(target_shape=(3, 4)), F(2, 12)),
        Case("inferred", dict(target_shape=(-1, 3)), F(2, 4, 6)),
        Case("flat", dict(target_shape=(-1,)), F(2, 4, 3)),
        Case("to scalars", dict(target_shape=()), F(3, 1)),
        Case("mask is lost", dict(target_shape=(3, 4)), MASKED),
        Case("int", dict(target_shape=(8,)), I(2, 4, 2, below=9)),
    ],
    "Cropping1D": [
        Case("plain", {}, SEQUENCE),
        Case("number", dict(cropping=2), SEQUENCE),
        Case("uneven", dict(cropping=(0, 3)), SEQUENCE),
        Case("mask is lost", dict(cropping=(1, 0)), MASKED),
        Case("int", {}, I(2, 4, 2, below=9)),
    ],
    "Cropping2D": [
        Case("plain", {}, IMAGE),
        Case("number", dict(cropping=1), IMAGE),
        Case("two numbers", dict(cropping=(2, 1)), IMAGE),
        Case("uneven", dict(cropping=((0, 3), (1, 0))), IMAGE),
        Case("channels_first", dict(cropping=((1, 2), (0, 1)), **FIRST), F(2, 3, 6, 5)),
    ],
    "Cropping3D": [
        Case("plain", {}, VOLUME),
        Case("number", dict(cropping=1), VOLUME),
        Case("uneven", dict(cropping=((0, 2), (1, 0), (2, 1))), VOLUME),
        Case("channels_first", dict(cropping=((1, 2), (0, 1), (0, 0)), **FIRST), F(2, 2, 4, 5, 4)),
    ],
    "UpSampling1D": [
        Case("plain", {}, SEQUENCE),
        Case("three", dict(size=3), SEQUENCE),
        Case("mask is lost", dict(size=2), MASKED),
        Case("int", {}, I(2, 3, 2, below=9)),
    ],
    "UpSampling2D": [
        Case("plain", {}, F(2, 3, 2, 3)),
        Case("uneven", dict(size=(3, 2)), F(2, 3, 2, 3)),
        Case("channels_first", dict(size=(1, 3), **FIRST), F(2, 3, 2, 3)),
        Case("bilinear", dict(size=(2, 3), interpolation="bilinear"), F(2, 3, 4, 2)),
        Case("bilinear, channels_first", dict(interpolation="bilinear", **FIRST), F(2, 2, 3, 4)),
        Case("bicubic", dict(size=2, interpolation="bicubic"), F(2, 4, 3, 2)),
        Case("lanczos3", dict(size=2, interpolation="lanczos3"), F(2, 4, 3, 2)),
        Case("lanczos5", dict(size=2, interpolation="lanczos5"), F(2, 4, 3, 2)),
        *(
            Case(f"int, {how}", dict(interpolation=how), I(1, 3, 4, 2, below=9))
            for how in ("nearest", "bilinear", "bicubic", "lanczos3", "lanczos5")
        ),
        Case("uint8", dict(interpolation="bilinear"), Given(BYTES, "uint8")),
    ],
    "UpSampling3D": [
        Case("plain", {}, F(2, 2, 3, 2, 2)),
        Case("uneven", dict(size=(1, 2, 3)), F(2, 2, 3, 2, 2)),
        Case("channels_first", dict(size=(2, 1, 2), **FIRST), F(2, 2, 2, 3, 2)),
        Case("int", {}, I(1, 2, 2, 2, 2, below=9)),
    ],
    "ZeroPadding1D": [
        Case("plain", {}, SEQUENCE),
        Case("uneven", dict(padding=(0, 2)), SEQUENCE),
        Case("channels_first", dict(padding=(1, 2), **FIRST), F(2, 3, 6)),
        Case("mask is lost", {}, MASKED),
        Case("int", {}, I(2, 3, 2, below=9)),
    ],
    "ZeroPadding2D": [
        Case("plain", {}, IMAGE),
        Case("two numbers", dict(padding=(0, 2)), IMAGE),
        Case("uneven", dict(padding=((1, 0), (0, 2))), IMAGE),
        Case("channels_first", dict(padding=((1, 0), (0, 2)), **FIRST), F(2, 3, 6, 5)),
        Case("int", {}, I(1, 3, 3, 2, below=9)),
    ],
    "ZeroPadding3D": [
        Case("plain", {}, F(1, 2, 3, 2, 2)),
        Case("number", dict(padding=2), F(1, 2, 3, 2, 2)),
        Case("uneven", dict(padding=((1, 0), (0, 2), (1, 1))), F(1, 2, 3, 2, 2)),
        Case("channels_first", dict(padding=((1, 0), (0, 2), (0, 0)), **FIRST), F(1, 2, 2, 3, 2)),
    ],
}


def drops(args, x, **more):
    """A random layer does nothing outside training, nor in training at rate 0."""
    nothing = {key: 0.0 for key in args}
    return [
        Case("not training", args | more, x, dict(training=False)),
        Case("by default", args | more, x),
        Case("rate 0, training", nothing | more, x, dict(training=True)),
        Case("seeded", args | more | dict(seed=7), x, dict(training=False)),
    ] + ([Case("mask passes", args, MASKED)] if len(x.shape) == 3 else [])


REGULARIZATION = {
    "ActivityRegularization": [
        Case("l1", dict(l1=0.1), F(2, 3)),
        Case("l2", dict(l2=0.2), F(4, 3)),
        Case("both", dict(l1=0.1, l2=0.2), F(2, 4, 3, mask=TIMES)),
        Case("none", {}, F(2, 3)),
    ],
    "Dropout": drops(dict(rate=0.5), MASKED)
    + [Case("noise shape", dict(rate=0.5, noise_shape=(None, 1, 3)), F(2, 4, 3))],
    "AlphaDropout": drops(dict(rate=0.3), MASKED)
    + [Case("noise shape", dict(rate=0.5, noise_shape=(None, 1, 3)), F(2, 4, 3))],
    "GaussianDropout": drops(dict(rate=0.3), MASKED),
    "GaussianNoise": drops(dict(stddev=0.5), MASKED),
    "SpatialDropout1D": drops(dict(rate=0.5), MASKED),
    "SpatialDropout2D": drops(dict(rate=0.5), F(2, 3, 4, 2))
    + [Case("channels_first", dict(rate=0.5, **FIRST), F(2, 3, 4, 2))],
    "SpatialDropout3D": drops(dict(rate=0.5), F(2, 3, 2, 2, 2))
    + [Case("channels_first", dict(rate=0.5, **FIRST), F(2, 3, 2, 2, 2))],
}

PREPROCESSING = {
    "Rescaling": [
        Case("plain", dict(scale=1 / 255), I(2, 3, below=256)),
        Case("offset", dict(scale=1 / 127.5, offset=-1), F(2, 3)),
        Case("by channel", dict(scale=[0.1, 0.2, 0.3], offset=[1.0, 2.0, 3.0]), F(2, 2, 2, 3)),
        Case("mask", dict(scale=2.0), MASKED),
        Case("int", dict(scale=2, offset=1), I(2, 5, below=9)),
    ],
    "Normalization": [
        Case("given", dict(mean=3.0, variance=2.0), F(2, 3)),
        Case("given by feature", dict(mean=[1.0, 2.0, 3.0], variance=[1.0, 4.0, 9.0]), F(2, 3)),
        Case("inverted", dict(mean=[1.0, 2.0], variance=[0.5, 4.0], invert=True), F(3, 2)),
        Case("axis 1", dict(axis=1, mean=[1.0, 2.0], variance=[0.5, 4.0]), F(3, 2, 4)),
        Case("no axis", dict(axis=None, mean=1.5, variance=0.25), F(2, 3, 2)),
        Case("adapted", {}, F(2, 3), adapt=F(20, 3), noise=False),
        Case("adapted, no axis", dict(axis=None), F(2, 3), adapt=F(20, 3), noise=False),
        Case("adapted, two axes", dict(axis=(1, 2)), F(2, 3, 2), adapt=F(9, 3, 2), noise=False),
        Case("adapted, inverted", dict(invert=True), F(2, 3), adapt=F(20, 3), noise=False),
        Case("tiny variance", dict(mean=0.0, variance=0.0), F(2, 3)),
    ],
}

CASES = CORE | ACTIVATION | MERGING | RESHAPING | REGULARIZATION | PREPROCESSING
