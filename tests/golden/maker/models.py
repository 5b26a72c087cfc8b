"""Records models: config, order of layers and weights, numbers, masks, summary and clone."""

import json
import warnings

import keras
import numpy as np
from keras.src.saving.serialization_lib import SafeModeScope

from maker import encode, zoo_graphs, zoo_keras2, zoo_masks  # noqa: F401 (they fill the zoo)
from maker.layers import add_noise, leaves
from maker.zoo import ZOO


def text(model, **options):
    lines = []
    model.summary(print_fn=lines.append, **options)
    return "\n".join(lines).rstrip("\n") + "\n"


def build(entry, k):
    built = entry.build(k)
    if isinstance(built, k.Model):
        return built
    inputs, outputs = built
    name = {} if entry.name.startswith("automatic") else {"name": entry.name}
    return k.Model(inputs, outputs, **name)


def nodes_by_depth(model):
    """From the greatest depth to 0: the [operation, index of its call] of every node."""
    if not hasattr(model, "_nodes_by_depth"):
        return None
    by_depth = sorted(model._nodes_by_depth.items(), reverse=True)
    return [[[node.operation.name, node.operation._inbound_nodes.index(node)] for node in nodes]
            for _, nodes in by_depth]


def tensors(data):
    return keras.tree.map_structure(
        lambda x: None if x is None else keras.ops.convert_to_tensor(x), data)


def clone(model, data, outputs, k):
    """What clone_model makes. Keras 3 refuses Lambdas unless it may trust them."""
    result = {}
    try:
        copy = k.models.clone_model(model)
    except (TypeError, ValueError) as error:
        result["error"] = str(error)
        if "Lambda" not in str(error):
            return result
        with SafeModeScope(False):
            copy = k.models.clone_model(model)
    return result | {
        "name": copy.name,
        "layers": [layer.name for layer in copy.layers],
        "config": encode.config(json.loads(copy.to_json())),
    } | agreement(copy, model, data, outputs)


def agreement(copy, model, data, outputs):
    """Whether a copy answers as its model does once it has the same weights."""
    try:
        copy(tensors(data))  # a deferred Sequential is built by its first call
    except ValueError as error:
        return {"call_error": str(error)}
    copy.set_weights(model.get_weights())
    answer = keras.tree.flatten(copy(tensors(data)))
    same = all(np.array_equal(a, b) for a, b in zip(answer, keras.tree.flatten(outputs)))
    return {"same_outputs": same}


def trained(model, data):
    outputs = model(tensors(data), training=True)
    return {"outputs": encode.structure(outputs), "weights_after": encode.weights(model)}


def record(entry, k):
    k.backend.clear_session()
    rng = encode.generator("model", entry.name)
    data = leaves(lambda draw: draw(rng), entry.data)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = build(entry, k)
    model(tensors(data))
    add_noise(model, rng)
    outputs = model(tensors(data))
    messages = dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, UserWarning))
    depths = {"nodes_by_depth": nodes_by_depth(model)} if k is keras else {}
    result = {
        "name": entry.name,
        "config": encode.config(json.loads(model.to_json())),
        "lambdas": entry.lambdas,
        "layers": [layer.name for layer in model.layers],
        **depths,
        "weights": encode.weights(model),
        "inputs": encode.structure(data),
        "outputs": encode.structure(outputs),
        "output_masks": encode.masks(outputs),
        "losses": [encode.tensor(loss) for loss in model.losses],
        "warnings": list(messages),
        "summary": text(model),
        "summary_expanded": text(model, expand_nested=True, show_trainable=True),
        "clone": clone(model, data, outputs, k),
    }
    return result | ({"training": trained(model, data)} if entry.train else {})


def write(folder, only=None):
    for name, entry in ZOO.items():
        if only is None or "models" in only or name in only:
            path = folder / "models" / name
            if entry.keras3:
                result = encode.attempt(name, lambda: record(entry, keras))
                encode.write(path.with_suffix(".json"), result)
            if entry.keras2 and keras.backend.backend() == "tensorflow":
                import tf_keras

                encode.write(path.with_suffix(".keras2.json"), record(entry, tf_keras))
