"""Models with layers that Keras 2 alone has."""

from maker.spec import F
from maker.zoo import model


def in_all_implementations(k, cls, x, padding, **options):
    """The implementations compute the same with kernels of other shapes; the first one does not pad."""
    return [
        getattr(k.layers, cls)(padding=padding, implementation=i, name=f"{padding}_{i}", **options)(x)
        for i in ((1, 2, 3) if padding == "valid" else (2, 3))
    ]


@model(F(2, 7, 2), keras3=False)
def locally_connected_1d(k):
    x = k.Input((7, 2), name="x")
    options = dict(filters=3, kernel_size=3, strides=2, activation="tanh")
    return x, [y for padding in ("valid", "same")
               for y in in_all_implementations(k, "LocallyConnected1D", x, padding, **options)]


@model(F(2, 2, 7), keras3=False)
def locally_connected_1d_first(k):
    x = k.Input((2, 7), name="x")
    options = dict(filters=3, kernel_size=2, data_format="channels_first")
    return x, [y for padding in ("valid", "same")
               for y in in_all_implementations(k, "LocallyConnected1D", x, padding, **options)]


@model(F(2, 4, 5, 2), keras3=False)
def locally_connected_2d(k):
    x = k.Input((4, 5, 2), name="x")
    options = dict(filters=2, kernel_size=(3, 2), strides=(1, 2), kernel_regularizer="l2")
    return x, [y for padding in ("valid", "same")
               for y in in_all_implementations(k, "LocallyConnected2D", x, padding, **options)]


@model(F(2, 2, 3, 4), keras3=False)
def locally_connected_2d_first(k):
    x = k.Input((2, 3, 4), name="x")
    options = dict(filters=3, kernel_size=2, data_format="channels_first", use_bias=False)
    h = in_all_implementations(k, "LocallyConnected2D", x, "valid", **options)
    options = dict(filters=3, kernel_size=2, data_format="channels_first")
    return x, h + in_all_implementations(k, "LocallyConnected2D", x, "same", **options)


@model(F(3, 4), keras3=False)
def thresholded_relu(k):
    x = k.Input((4,), name="x")
    h = k.layers.ThresholdedReLU(name="default")(x * 2.0)
    return x, [h, k.layers.ThresholdedReLU(theta=0.25, name="quarter")(x)]
