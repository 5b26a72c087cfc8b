"""Records one file per layer class: what Keras makes of each case."""

import inspect
import warnings

import keras
import numpy as np
from keras.src.applications import convnext

from maker import (cases_conv_lstm, cases_core, cases_geometry, cases_image, cases_image_color,
                   cases_pooling, cases_preprocessing, cases_sequence, cases_signal, encode)
from maker.spec import SAME, Draw, Given, bits, make

CASES = (
    cases_core.CASES
    | cases_geometry.CASES
    | cases_image.CASES
    | cases_image_color.CASES
    | cases_pooling.CASES
    | cases_preprocessing.CASES
    | cases_sequence.CASES
    | cases_signal.CASES
    | cases_conv_lstm.CONV_LSTM
)
for cls, cases in cases_conv_lstm.WRAPPED.items():
    CASES[cls] = CASES[cls] + cases


def leaves(function, x):
    """Applies a function to each Draw or Given in a structure."""
    if isinstance(x, (Draw, Given)):
        return function(x)
    if isinstance(x, dict):
        return {key: leaves(function, value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [leaves(function, value) for value in x]
    return x


class Call:
    """The drawn arguments of one call, and the masks attached to them."""

    def __init__(self, inputs, kwargs, rng, more=()):
        kwargs = {key: inputs if value is SAME else value for key, value in kwargs.items()}
        self.same = [key for key, value in kwargs.items() if value is inputs]
        spec = {"inputs": inputs, "kwargs": kwargs} | ({"more": list(more)} if more else {})
        self.values = leaves(lambda draw: draw(rng), spec)
        for key in self.same:
            self.values["kwargs"][key] = self.values["inputs"]
        self.masks = leaves(lambda draw: None if draw.mask is None else bits(draw.mask), spec)

    def tensors(self, key):
        return self._join(self.values[key], self.masks[key])

    def _join(self, value, mask):
        if isinstance(value, dict):
            return {key: self._join(value[key], mask[key]) for key in value}
        if isinstance(value, list):
            return [self._join(v, m) for v, m in zip(value, mask)]
        return encode.with_mask(value, mask) if isinstance(value, np.ndarray) else value

    def __call__(self, layer):
        more = self.tensors("more") if "more" in self.values else []
        run = lambda: layer(self.tensors("inputs"), *more, **self.tensors("kwargs"))
        if keras.backend.backend() == "tensorflow" and is_convolution_of_channels_first(layer):
            import tensorflow

            return tensorflow.function(run, jit_compile=True, autograph=False)()
        return run()

    def record(self):
        masks = {k: v for k, v in self.masks["kwargs"].items() if has_mask(v)}
        return {
            "inputs": encode.structure(self.values["inputs"]),
            "kwargs": encode.structure(self.values["kwargs"]),
            "input_masks": encode.structure(self.masks["inputs"])
            if has_mask(self.masks["inputs"]) else None,
        } | ({"kwarg_masks": encode.structure(masks)} if masks else {}) | (
            {"more": encode.structure(self.values["more"])} if "more" in self.values else {})


def is_convolution_of_channels_first(layer):
    """TensorFlow runs these on a CPU only when XLA compiles them."""
    layer = getattr(layer, "forward_layer", layer)
    has_kernel = hasattr(layer, "kernel_size") or hasattr(layer, "frame_length")
    return has_kernel and layer.data_format == "channels_first"


def has_mask(x):
    if isinstance(x, (dict, list)):
        return any(has_mask(v) for v in (x.values() if isinstance(x, dict) else x))
    return isinstance(x, np.ndarray)


def add_noise(layer, rng):
    """Weights far from their initial values: a bias of zero hides mistakes."""
    for w in layer.weights:
        value = rng.normal(0, 0.5, w.shape)
        if "variance" in w.name or "stddev" in w.name:
            value = np.abs(value) + 0.5
        elif w.name in ("gamma", "scale"):
            value += 1
        w.assign(value.astype("float32"))


def states(layer):
    """What stateful layers keep from call to call; it is not among their weights."""
    kept = layer.states if getattr(layer, "stateful", False) else []
    return [encode.tensor(x) for x in keras.tree.flatten(kept)]


def outcome(call, layer, before):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outputs = call(layer)
    after = encode.weights(layer)
    losses = [encode.tensor(loss) for loss in layer.losses]
    mine = [str(w.message) for w in caught if "mask" in str(w.message)]
    return (
        {"outputs": encode.structure(outputs), "output_masks": encode.masks(outputs)}
        | ({"weights_after": after} if after != before else {})
        | ({"states_after": states(layer)} if states(layer) else {})
        | ({"losses": losses} if losses else {})
        | ({"warnings": mine} if mine else {})
    ), after


def class_of(name):
    """A layer of Keras, or the one that an application has for itself."""
    return getattr(convnext if name == "LayerScale" else keras.layers, name)


def record(cls, case):
    keras.utils.clear_session()
    rng = encode.generator(cls, case.name)
    layer = class_of(cls)(**make(case.args))
    result = {"name": case.name, "config": None} | case.notes
    if cls == "InputLayer":
        spec = layer.output
        result |= {"output_spec": {"shape": list(spec.shape), "dtype": spec.dtype}}
        return result | {"config": encode.config(keras.saving.serialize_keras_object(layer))}
    call = Call(case.inputs, case.kwargs, rng, case.more)
    if case.adapt is not None:
        data = case.adapt(rng)
        layer.adapt(data)
        result |= {"adapt": encode.tensor(data)}
    if cls == "Wrapper":  # it has no call of its own
        layer.build(call.values["inputs"].shape)
    else:
        call(layer)
    if states(layer):
        layer.reset_state()
    if case.noise:
        add_noise(layer, rng)
    result["config"] = encode.config(keras.saving.serialize_keras_object(layer))
    weights = encode.weights(layer)
    result |= call.record() | {"weights": weights}
    if cls == "Wrapper":
        return result
    first, weights = outcome(call, layer, weights)
    result |= first
    if case.again is not None:
        call = Call(case.again, case.kwargs, rng)
        result["again"] = call.record() | outcome(call, layer, weights)[0]
    return result


def call_arguments(cls):
    """The names of what a call takes, in order, but for *args and **kwargs."""
    parameters = list(inspect.signature(class_of(cls).call).parameters.values())[1:]
    return [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def write(folder, only=None):
    if only is None or "call_arguments" in only:
        encode.write(folder / "call_arguments.json", {cls: call_arguments(cls) for cls in CASES})
    for cls, cases in CASES.items():
        if only is None or "layers" in only or cls in only:
            encode.write(folder / "layers" / f"{cls}.json", [
                encode.attempt(f"{cls}/{case.name}", lambda: record(cls, case)) for case in cases])
