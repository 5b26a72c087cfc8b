"""Records activations, initializers, regularizers and constraints."""

import keras
import numpy as np
from keras import activations, constraints, initializers, regularizers

from maker import encode
from maker.cases_core import ACTIVATIONS

# Every activation is called with its defaults and with these arguments.
ARGUMENTS = {
    "celu": [dict(alpha=0.3)],
    "elu": [dict(alpha=0.3)],
    "gelu": [dict(approximate=True)],
    "glu": [dict(axis=0), dict(axis=-2)],
    "hard_shrink": [dict(threshold=1.0)],
    "leaky_relu": [dict(negative_slope=0.01)],
    "log_softmax": [dict(axis=0), dict(axis=-2)],
    "relu": [
        dict(negative_slope=0.1),
        dict(max_value=0.5),
        dict(threshold=0.5),
        dict(negative_slope=0.2, max_value=1.0, threshold=-0.5),
    ],
    "soft_shrink": [dict(threshold=1.0)],
    "softmax": [dict(axis=0), dict(axis=-2)],
    "sparsemax": [dict(axis=-2)],
    "squareplus": [dict(b=1)],
    "threshold": [dict(threshold=0.5, default_value=-2.0), dict(threshold=0.0, default_value=0.0)],
}
NO_DEFAULTS = ("threshold",)
# Where formulas change over or overflow.
EDGES = [-100, -30, -6, -3, -2.5, -1.5, -1, -0.5, -0.1, -0.0,
         0, 0.1, 0.5, 1, 1.5, 2.5, 3, 6, 30, 100]


def activation(name, x, args):
    function = getattr(activations, name)
    y = function(keras.ops.convert_to_tensor(x), **args)
    return {
        "name": name,
        "config": encode.config(activations.serialize(function)),
        "kwargs": args,
        "input": encode.tensor(x),
        "output": encode.tensor(y),
    }


def all_activations():
    edges = np.array(EDGES, "float32").reshape(4, 5, 1)
    for name in ACTIVATIONS:
        noise = encode.generator("activations", name).normal(0, 2, (4, 6)).astype("float32")
        # These compare features with each other: put the edges into rows of an even number.
        along = name in ("glu", "softmax", "log_softmax", "sparsemax")
        grid = edges.reshape(2, 10) if along else edges
        defaults = [] if name in NO_DEFAULTS else [{}]
        for args in defaults + ARGUMENTS.get(name, []):
            yield activation(name, noise, args)
            yield activation(name, grid, args)


FIXED = [  # deterministic initializers and the shapes to fill
    (initializers.Zeros(), (2, 3)),
    (initializers.Ones(), (4,)),
    (initializers.Constant(0.0), (2,)),
    (initializers.Constant(-2.5), (2, 2)),
    (initializers.Constant([1.0, 2.0, 3.0]), (3,)),
    (initializers.Identity(), (3, 3)),
    (initializers.Identity(gain=0.5), (2, 4)),
    (initializers.Identity(gain=2.0), (4, 2)),
    (initializers.STFT(), (8, 1, 5)),
    (initializers.STFT(side="imag"), (8, 1, 5)),
    (initializers.STFT("imag", "hamming", "spectrum", periodic=True), (6, 1, 5)),
    (initializers.STFT(window=None), (5, 1, 3)),
    (initializers.STFT(window="hann", scaling=None, periodic=True), (8, 1, 4)),
    (initializers.STFT(window=[1.0, 2.0, 3.0, 2.0], scaling="density"), (4, 2, 3)),
]
DENSE, CONVOLUTION, VECTOR = (120, 80), (3, 2, 24, 40), (3000,)
HEADS = dict(input_axes=[0], output_axes=[1, 2])
RANDOM = [
    (initializers.RandomNormal(seed=1), DENSE),
    (initializers.RandomNormal(mean=2.0, stddev=0.5, seed=1), DENSE),
    (initializers.TruncatedNormal(seed=1), DENSE),
    (initializers.TruncatedNormal(mean=1.0, stddev=2.0, seed=1), DENSE),
    (initializers.RandomUniform(seed=1), DENSE),
    (initializers.RandomUniform(minval=-1.0, maxval=3.0, seed=1), DENSE),
    *(
        (getattr(initializers, name)(seed=1), shape)
        for name in "GlorotNormal GlorotUniform HeNormal HeUniform LecunNormal LecunUniform".split()
        for shape in (DENSE, CONVOLUTION, VECTOR)
    ),
    (initializers.GlorotUniform(seed=1, **HEADS), (60, 8, 20)),
    (initializers.HeNormal(seed=1, input_axes=[0, 1], output_axes=[2]), (8, 20, 60)),
    *(
        (initializers.VarianceScaling(0.5, mode, distribution, seed=1), shape)
        for mode in ("fan_in", "fan_out", "fan_avg")
        for distribution in ("truncated_normal", "untruncated_normal", "uniform")
        for shape in (DENSE, CONVOLUTION)
    ),
    *(
        (initializers.Orthogonal(gain=gain, seed=1), shape)
        for gain in (1.0, 0.5)
        for shape in ((30, 30), (20, 40), (40, 20), (3, 2, 4, 20))
    ),
]


def facts(value, initializer):
    """Statistics of a draw: C++ draws other numbers from the same distribution."""
    result = {"mean": value.mean(), "std": value.std(), "min": value.min(), "max": value.max()}
    if isinstance(initializer, initializers.Orthogonal):
        matrix = value.reshape(-1, value.shape[-1]).astype("float64")
        wide = matrix.shape[0] < matrix.shape[1]
        gram = matrix @ matrix.T if wide else matrix.T @ matrix
        error = np.abs(gram - initializer.gain**2 * np.eye(len(gram))).max()
        result |= {"orthogonal": "rows" if wide else "columns", "error_below": 1e-5}
        assert error < 1e-5, error
    return {key: x if isinstance(x, str) else float(x) for key, x in result.items()}


def lost(initializer):
    """The gain of Identity: Keras leaves it out of the config."""
    forgets = isinstance(initializer, initializers.Identity)
    return {"lost": {"gain": initializer.gain}} if forgets else {}


def all_initializers():
    for initializer, shape in FIXED + RANDOM:
        value = np.asarray(keras.ops.convert_to_numpy(initializer(shape)))
        exact = any(initializer is fixed for fixed, _ in FIXED)
        result = {"value": encode.tensor(value)} if exact else {"facts": facts(value, initializer)}
        yield {
            "name": type(initializer).__name__,
            "config": encode.config(keras.saving.serialize_keras_object(initializer)),
            "shape": list(shape),
        } | lost(initializer) | result


def called(objects):
    """Objects that map one tensor to another."""
    for index, (x, shape) in enumerate(objects):
        name = type(x).__name__
        value = encode.generator(name, str(index)).normal(0, 1.5, shape).astype("float32")
        yield {
            "name": name,
            "config": encode.config(keras.saving.serialize_keras_object(x)),
            "input": encode.tensor(value),
            "output": encode.tensor(x(keras.ops.convert_to_tensor(value))),
        }


REGULARIZERS = [
    *((make(), (3, 4)) for make in (regularizers.L1, regularizers.L2, regularizers.L1L2)),
    (regularizers.L1(0.3), (5,)),
    (regularizers.L2(0.3), (2, 3, 2)),
    (regularizers.L1L2(l1=0.2), (3, 4)),
    (regularizers.L1L2(l2=0.2), (3, 4)),
    (regularizers.L1L2(l1=0.1, l2=0.2), (2, 3, 2)),
    (regularizers.OrthogonalRegularizer(), (3, 4)),
    (regularizers.OrthogonalRegularizer(factor=0.5, mode="columns"), (3, 4)),
    (regularizers.OrthogonalRegularizer(factor=0.5, mode="rows"), (4, 3)),
]
CONSTRAINTS = [
    (constraints.MaxNorm(), (4, 3)),
    (constraints.MaxNorm(max_value=1.0, axis=1), (4, 3)),
    (constraints.MaxNorm(max_value=1.0, axis=[0, 1, 2]), (2, 2, 3, 4)),
    (constraints.MinMaxNorm(), (4, 3)),
    (constraints.MinMaxNorm(min_value=2.0, max_value=3.0, axis=1), (4, 3)),
    (constraints.MinMaxNorm(min_value=0.5, max_value=1.0, rate=0.3), (4, 3)),
    (constraints.NonNeg(), (4, 3)),
    (constraints.NonNeg(), (7,)),
    (constraints.NonNeg(), (2, 2, 2)),
    (constraints.UnitNorm(), (4, 3)),
    (constraints.UnitNorm(axis=1), (4, 3)),
    (constraints.UnitNorm(axis=[0, 1, 2]), (2, 2, 3, 4)),
]

KINDS = {
    "activations": all_activations,
    "initializers": all_initializers,
    "regularizers": lambda: called(REGULARIZERS),
    "constraints": lambda: called(CONSTRAINTS),
}


def write(folder, only=None):
    for name, entries in KINDS.items():
        if only is None or name in only:
            encode.write(folder / f"{name}.json", list(entries()))
