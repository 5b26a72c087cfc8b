"""The register of models, each a function of a Keras module: `keras` itself or `tf_keras`.

A function returns the inputs and outputs of a functional model, or a finished model.
"""

import dataclasses

from maker.spec import Given, function

ZOO = {}


@dataclasses.dataclass(frozen=True)
class Entry:
    name: str
    build: object
    data: object  # what to call the model with
    lambdas: dict  # layer name: names of its functions
    keras2: bool  # can be written with tf_keras
    keras3: bool  # can be written with Keras 3
    train: bool  # record a call with training=True, too


def model(data, lambdas=None, keras2=True, keras3=True, train=False):
    def add(build):
        name = build.__name__
        ZOO[name] = Entry(name, build, data, lambdas or {}, keras2, keras3, train)
        return build

    return add


PADDED = Given(  # 3 rows of 5 steps of 2 features; zeros are padding
    [
        [[1, 0.5], [0.3, -1], [0.7, 0.2], [0, 0], [0, 0]],
        [[0.4, 0.6], [0, 0], [-0.2, 0.9], [0.1, -0.3], [0, 0]],
        [[-1, 1], [0.5, 0.5], [0.25, -0.75], [1, 2], [-0.6, 0.1]],
    ]
)
WORDS = Given([[3, 1, 4, 0, 0], [1, 5, 0, 2, 0], [6, 5, 3, 5, 2]], "int32")
OTHER_WORDS = Given([[2, 0, 0, 1, 0], [0, 6, 2, 2, 2], [1, 0, 3, 0, 2]], "int32")


def words(k, name="words"):
    return k.Input((5,), dtype="int32", name=name)


def embedding(k, name="embedding", dim=3):
    return k.layers.Embedding(7, dim, mask_zero=True, name=name)


def named(k, layer_name, fn, mask=None, **args):
    """A Lambda that is known by its layer's name."""
    given = {"mask": function(mask)} if mask else {}
    return k.layers.Lambda(function(fn), name=layer_name, **given, **args)
