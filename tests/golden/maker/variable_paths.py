"""Records the paths of the variables of every layer and model, seeds included, in a new session.
`Model.get_state_tree` has these names. Lambdas are left out: a new session does not find what their
Python needs."""

import warnings

import keras
import numpy as np
from keras.src.saving.serialization_lib import SafeModeScope

from maker import encode
from maker.layers import CASES, Call, class_of, leaves
from maker.models import build, tensors
from maker.spec import make
from maker.zoo import ZOO


# Keras computes wrong symbolic shapes for these, and none for layers of images that take dicts.
VALUES_ONLY = ("GroupQueryAttention", "HashedCrossing")


def new_from(config):
    keras.utils.clear_session()
    with SafeModeScope(False):
        return keras.saving.deserialize_keras_object(config)


def paths(layer):
    return sorted(v.path for v in layer.variables)


def symbolic(x):
    """Symbolic tensors in the place of arrays: a call of them builds a layer, and computes nothing."""
    if isinstance(x, dict):
        return {key: symbolic(value) for key, value in x.items()}
    if isinstance(x, list):
        return [symbolic(value) for value in x]
    if not isinstance(x, np.ndarray):
        return x
    return keras.KerasTensor(x.shape, "string" if x.dtype.kind in "OSU" else x.dtype.name)


def of_case(cls, case):
    keras.utils.clear_session()
    layer = class_of(cls)(**make(case.args))
    rng = encode.generator(cls, case.name)
    call = Call(case.inputs, case.kwargs, rng, case.more)
    if case.adapt is not None:
        layer.adapt(case.adapt(rng))
    if cls != "RandomShear":  # Keras cannot read its own configs of these
        layer = new_from(keras.saving.serialize_keras_object(layer))
    if isinstance(call.values["inputs"], dict) or cls in VALUES_ONLY:
        call(layer)
    else:
        values = symbolic(call.values)
        layer(values["inputs"], *values.get("more", ()), **values["kwargs"])
    if not all(part.built for part in layer._flatten_layers()):  # such as an activation
        call(layer)
    return paths(layer)


def of_model(entry):
    """The paths of a model as it is made. One that Keras reads from a config is built layer by layer
    from what the config says of shapes, so that paths lack the names of outer layers."""
    keras.utils.clear_session()
    model = build(entry, keras)
    model(tensors(leaves(lambda draw: draw(encode.generator("model", entry.name)), entry.data)))
    return paths(model)


def write(folder, only=None):
    if only is not None and "variable_paths" not in only:
        return
    warnings.simplefilter("ignore")
    layers = {cls: {case.name: encode.attempt(f"{cls}/{case.name}", lambda: of_case(cls, case))
                    for case in cases}
              for cls, cases in CASES.items() if cls not in ("InputLayer", "Lambda", "Wrapper")}
    models = {name: encode.attempt(name, lambda: of_model(entry))
              for name, entry in ZOO.items() if entry.keras3 and not entry.lambdas}
    encode.write(folder / "variable_paths.json", {"layers": layers, "models": models})
