"""Layers of our own that the models need, for Keras 3 and for Keras 2 alike."""

import functools
import types


@functools.cache
def layers(keras):
    """`keras` is the module of either generation."""
    serializable = keras.saving.register_keras_serializable("golden")

    @serializable
    class Swap(keras.layers.Layer):
        """Exchanges its two inputs."""

        def call(self, inputs):
            return [inputs[1], inputs[0]]

        def compute_output_shape(self, shapes):
            return [shapes[1], shapes[0]]

    @serializable
    class Fork(keras.layers.Layer):
        """Two outputs, masks supported, compute_mask not overridden."""

        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.supports_masking = True

        def call(self, x):
            return [x + 1.0, x * 2.0]

        def compute_output_shape(self, shape):
            return [shape, shape]

    @serializable
    class ForkMasks(Fork):
        """Two outputs; the second loses its mask."""

        def compute_mask(self, inputs, mask=None):
            return [mask, None]

    @serializable
    class MaskMaker(keras.layers.Layer):
        """Makes a mask without saying that it supports masks."""

        def call(self, x):
            return x * 1.0

        def compute_mask(self, x, mask=None):
            return x[..., 0] > 0

        def compute_output_shape(self, shape):
            return shape

    @serializable
    class AddIfThere(keras.layers.Layer):
        """x + y, or x where the optional y is missing."""

        def call(self, x, y=None):
            return x * 1.0 if y is None else x + y

        def compute_output_shape(self, x_shape, y_shape=None):
            return x_shape

    @serializable
    class Scaled(keras.layers.Layer):
        """x * by, where `by` is a tensor among the call arguments."""

        def call(self, x, by=None, shift=0.0):
            return x * by + shift

        def compute_output_shape(self, shape, **_):
            return shape

    made = dict(Swap=Swap, Fork=Fork, ForkMasks=ForkMasks, MaskMaker=MaskMaker,
                AddIfThere=AddIfThere, Scaled=Scaled)
    return types.SimpleNamespace(**made)
