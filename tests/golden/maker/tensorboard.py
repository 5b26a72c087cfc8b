"""Records the event files of Keras's TensorBoard callback: what is in them, but not when."""

import pathlib
import tempfile

import keras
import numpy as np
from keras import Input, Model, layers
from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
from tensorboard.compat.proto import event_pb2
from tensorboard.util import tensor_util

from maker import encode
from maker.layers import add_noise

ROWS = 12

# Keras loses what belongs to an epoch where its last batch is no multiple of update_freq, so every
# epoch has 4 batches here.
CASES = {
    "defaults": dict(),
    "all": dict(histogram_freq=1, write_steps_per_second=True, update_freq="batch"),
    "seldom": dict(histogram_freq=2, write_graph=False, update_freq=2),
}


def network():
    x = Input((3,), name="features")
    h = layers.Dense(4, activation="relu", name="first")(x)
    h = keras.Sequential([layers.Dense(4, name="within"), layers.BatchNormalization(name="norm")],
                         name="nested")(h)
    return Model(x, layers.Dense(1, name="last")(h), name="network")


def events(folder):
    """Every summary of the only file of a folder."""
    found = []
    (path,) = folder.iterdir()
    for raw in RawEventFileLoader(str(path)).Load():
        event = event_pb2.Event.FromString(raw)
        for value in event.summary.value:
            plugin = value.metadata.plugin_data
            is_text = value.tensor.dtype == 7
            entry = {"tag": value.tag, "step": event.step, "plugin": plugin.plugin_name,
                     "content": plugin.content.decode(), "dtype": value.tensor.dtype,
                     "shape": [dim.size for dim in value.tensor.tensor_shape.dim]}
            if not is_text and "per_second" not in value.tag:
                entry["value"] = encode.tensor(tensor_util.make_ndarray(value.tensor))
            found.append(entry)
    return found


def record(name):
    keras.utils.clear_session()
    keras.utils.set_random_seed(7)
    model = network()
    random = encode.generator("tensorboard", name)
    add_noise(model, random)
    x = random.normal(size=(ROWS, 3)).astype("float32")
    y = random.normal(size=(ROWS, 1)).astype("float32")
    entry = {"name": name, "options": CASES[name], "config": encode.config(
        keras.saving.serialize_keras_object(model)), "weights": encode.weights(model),
        "x": encode.tensor(x), "y": encode.tensor(y)}
    model.compile(keras.optimizers.SGD(0.05), loss="mse", metrics=["mae"])
    with tempfile.TemporaryDirectory() as folder:
        callback = keras.callbacks.TensorBoard(log_dir=folder, **CASES[name])
        model.fit(x, y, batch_size=3, epochs=3, shuffle=False, verbose=0, callbacks=[callback],
                  validation_data=(np.flip(x, 1), y), validation_batch_size=3)
        for kind in ("train", "validation"):
            entry[kind] = events(pathlib.Path(folder) / kind)
    return entry


def write(folder, only):
    if only is None or "tensorboard" in only:
        encode.write(folder / "tensorboard.json", [record(name) for name in CASES])
