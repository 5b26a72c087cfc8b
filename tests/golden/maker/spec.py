"""The words in which cases are written: values to draw, layers to make, Lambdas to compile."""

import dataclasses

import keras
import numpy as np


@dataclasses.dataclass(frozen=True)
class Draw:
    """A tensor to draw. `below` makes it integer; `mask` is attached to it."""

    shape: tuple
    below: int | None = None
    dtype: str = "float32"
    mask: str | None = None

    def __call__(self, rng):
        if self.below is not None:
            return rng.integers(0, self.below, self.shape, dtype="int32")
        return rng.normal(0, 1, self.shape).astype(self.dtype)


def F(*shape, **options):
    return Draw(shape, **options)


def I(*shape, below, **options):
    return Draw(shape, below=below, **options)


@dataclasses.dataclass(frozen=True)
class Given:
    """A tensor with known values."""

    values: object
    dtype: str = "float32"
    mask: str | None = None

    def __call__(self, rng):
        return np.array(self.values, self.dtype)


def S(values):
    """A tensor of strings."""
    return Given(values, "object")


def bits(rows):
    """A boolean tensor: "110 100" has two rows; rows with a comma are split once more."""
    parse = lambda row: [bit == "1" for bit in row]
    return np.array([[parse(r) for r in row.split(",")] if "," in row else parse(row)
                     for row in rows.split()])


def B(rows):
    return Given(bits(rows), "bool")


SAME = "the inputs again"  # as a call argument


@dataclasses.dataclass(frozen=True)
class L:
    """A layer to make: its class and arguments, which may hold other layers."""

    cls: str
    args: dict

    def __call__(self):
        return getattr(keras.layers, self.cls)(**make(self.args))


def layer(cls, **args):
    return L(cls, args)


def make(args):
    """Arguments with every L replaced by a new layer."""
    if isinstance(args, L):
        return args()
    if isinstance(args, dict):
        return {key: make(value) for key, value in args.items()}
    if isinstance(args, list):
        return [make(value) for value in args]
    return args


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    args: dict = dataclasses.field(default_factory=dict)
    inputs: object = None
    kwargs: dict = dataclasses.field(default_factory=dict)
    again: object = None  # inputs of a second call
    noise: bool = True  # replace the weights by noise
    adapt: object = None  # data for adapt()
    notes: dict = dataclasses.field(default_factory=dict)  # written beside the case
    more: tuple = ()  # positional arguments behind the inputs


# Lambdas by name. They are compiled from text so that no path gets into their bytecode.
LAMBDAS = {
    "square": "lambda x: x * x",
    "twice": "lambda x: [x, x]",
    "plus_one_and_same": "lambda x: [x + 1, x]",
    "plus_and_minus": "lambda x: [x + 1, x - 1]",
    "sum_and_product": "lambda xs: [xs[0] + xs[1], xs[0] * xs[1]]",
    "first_half": "lambda x: x[:, : x.shape[1] // 2]",
    "scale": "lambda x, by: x * by",
    "add_in_training": "lambda x, training=False: x + 1.0 if training else x",
    "zero_masked": "lambda x, mask=None: x * ops.cast(mask, x.dtype)[..., None]",
    "same": "lambda x: x",
    "mask_as_it_is": "lambda x, mask=None: mask",
    "mask_reversed": "lambda x, mask=None: mask[:, ::-1]",
    "mask_positive": "lambda x, mask=None: x[..., 0] > 0",
    "masks_for_both": "lambda x, mask=None: [mask, ops.logical_not(mask)]",
    "mask_of_first": "lambda xs, mask=None: mask[0]",
}


def function(name):
    return eval(compile(LAMBDAS[name], name, "eval"), {"ops": keras.ops})
