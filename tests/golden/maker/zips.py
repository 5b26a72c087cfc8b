"""`.keras` files as the Keras of their time wrote them: run by that Keras itself, see README.md.

python tests/golden/maker/zips.py FOLDER [CASE...]  writes FOLDER/<case>_<version>.keras and, beside
it in JSON, what the model computes and, where it has targets, the losses of the next three epochs
after Keras itself has opened the file again.
"""

import base64
import importlib.metadata
import json
import os
import pathlib
import sys
import zipfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np  # noqa: E402

sys.path.pop(0)  # this folder has modules of names that are others' too
VERSION = importlib.metadata.version("keras")
NEW = VERSION.startswith("3")
if NEW:
    import keras
else:
    from tensorflow import keras

layers = keras.layers
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def noise(seed, *shape):
    return np.random.RandomState(seed).normal(size=shape).astype("float32")


def fill(model):
    """Weights that depend on their order only."""
    seed = 0
    for layer in model.layers:
        values = []
        for old in layer.get_weights():
            seed += 1
            # Half a word of state, or a count: left as they are.
            new = np.abs(noise(seed, *old.shape)) / 2 + 0.1
            values.append(new.astype(old.dtype) if old.dtype.kind == "f" else old)
        layer.set_weights(values)


def inner(name):
    x = keras.Input((4,), name=name + "_in")
    y = layers.Dense(4, activation="tanh", name=name + "_a")(x)
    y = layers.Dense(4, name=name + "_b")(layers.Activation("relu", name=name + "_relu")(y))
    return keras.Model(x, y, name=name)


@case
def dense():
    """Several of one class, and what of it trains goes on."""
    model = keras.Sequential([
        layers.InputLayer((4,), name="x") if not NEW else keras.Input((4,), name="x"),
        layers.Dense(5, activation="tanh", name="first"),
        layers.BatchNormalization(name="norm"),
        layers.Dense(3, activation="relu", name="second"),
        layers.Dense(2, name="third")])
    fill(model)
    model.compile(keras.optimizers.Adam(0.01), "mse", metrics=["mae"])
    return model, noise(1000, 6, 4), noise(1001, 6, 2)


@case
def nested():
    """Models in models, a shared layer, one inner model twice."""
    x = keras.Input((4,), name="x")
    shared = layers.Dense(4, name="shared")
    one, other = inner("one"), inner("other")
    chain = keras.Sequential([keras.Input((4,)), layers.Dense(3, name="c1"),
                              layers.Dropout(0.5, name="cd"), layers.Dense(4, name="c2")],
                             name="chain")
    y = layers.Normalization(name="norm", mean=[0.5, 1, 0, -1], variance=[1.0, 2, 1, 3])(x)
    y = layers.add([shared(one(y)), shared(other(y)), one(chain(y))])
    y = layers.Dense(2, name="last")(y)
    model = keras.Model(x, y, name="model")
    fill(model)
    model.compile(keras.optimizers.SGD(0.01, momentum=0.9), "mse")
    return model, noise(1002, 5, 4), None


@case
def sequences():
    """Layers within layers: cells, wrappers, attention. Keras 2 has a mask, which the convolution
    loses; Keras 3 has changed what attention gives where all is masked."""
    x = keras.Input((4,), dtype="int32", name="x")
    y = layers.Embedding(7, 3, mask_zero=not NEW, name="words")(x)
    y = layers.Bidirectional(layers.LSTM(2, return_sequences=True), name="both")(y)
    y = layers.Bidirectional(layers.GRU(2, return_sequences=True), name="both_again")(y)
    y = layers.RNN([layers.LSTMCell(3), layers.GRUCell(2)], return_sequences=True, name="stack")(y)
    y = layers.LSTM(3, return_sequences=True, dropout=0.2, name="lstm")(y)
    y = layers.SimpleRNN(3, return_sequences=True, name="simple")(y)
    y = layers.MultiHeadAttention(2, 2, dropout=0.1, name="heads")(y, y)
    y = layers.MultiHeadAttention(1, 2, name="heads_again")(y, y)
    y = layers.TimeDistributed(layers.Dense(3, name="inner"), name="each")(y)
    y = layers.TimeDistributed(layers.Dense(3, name="inner_again"), name="each_again")(y)
    y = layers.LayerNormalization(name="norm")(y)
    y = layers.SeparableConv1D(3, 2, name="conv")(layers.GaussianNoise(0.1, name="noise")(y))
    y = layers.PReLU(name="prelu")(y)
    y = layers.GlobalAveragePooling1D(name="pool")(layers.SpatialDropout1D(0.2, name="drop")(y))
    model = keras.Model(x, layers.Dense(2, name="last")(y), name="model")
    fill(model)
    inputs = np.array([[1, 2, 3, 4], [5, 6, 1, 0], [2, 0, 0, 0]], "int32")
    return model, inputs, None


@case
def mixed():
    """Two precisions; the optimizer scales the loss."""
    keras.mixed_precision.set_global_policy("mixed_float16")
    x = keras.Input((4,), name="x")
    y = layers.Dense(5, activation="relu", name="first")(x)
    y = layers.Dense(2, dtype="float32", name="second")(y)
    model = keras.Model(x, y, name="model")
    keras.mixed_precision.set_global_policy("float32")
    fill(model)
    model.compile(keras.optimizers.Adam(0.01), "mse")
    return model, noise(1003, 6, 4), noise(1004, 6, 2)


def encoded(x):
    x = np.asarray(x)
    return {"dtype": x.dtype.name, "shape": list(x.shape),
            "data": base64.b64encode(x.tobytes()).decode()}


def settle(path, change=None):
    """The same archive without the time at which it was made, and smaller."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    metadata = json.loads(members["metadata.json"])
    members["metadata.json"] = json.dumps(metadata | {"date_saved": ""}).encode()
    if change:
        members = change(members)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, contents in members.items():
            member = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, contents)


def as_on_windows(members):
    """There the parts of a path were joined by backslashes, so that a group's name has them."""
    import io

    import h5py

    out = io.BytesIO()
    with h5py.File(io.BytesIO(members["model.weights.h5"])) as old, h5py.File(out, "w") as new:
        def copy(path, group):
            if not isinstance(group, h5py.Group) or not path.endswith("vars"):
                return
            parent = path[:-len("vars")].rstrip("/").replace("/", "\\")
            target = new.require_group(parent) if parent else new
            old.copy(group, target, "vars")
        old.visititems(copy)
    return members | {"model.weights.h5": out.getvalue()}


def training(model, inputs, targets):
    return model.fit(inputs, targets, batch_size=6, epochs=3, shuffle=False,
                     verbose=0).history["loss"]


def write(folder, name):
    keras.utils.set_random_seed(0)
    model, inputs, targets = CASES[name]()
    path = folder / f"{name}_{VERSION}.keras"
    if targets is not None:
        training(model, inputs, targets)
    # Keras 2.12 writes HDF5 into a .keras unless this is requested.
    model.save(str(path), **({"save_format": "keras_v3"} if VERSION.startswith("2.12") else {}))
    record = {"keras": VERSION, "inputs": encoded(inputs),
            "outputs": encoded(model.predict(inputs, verbose=0))}
    if targets is not None:
        again = keras.models.load_model(str(path))
        record |= {"targets": encoded(targets), "losses": training(again, inputs, targets)}
    settle(path)
    path.with_suffix(".json").write_text(json.dumps(record) + "\n")
    if name == "sequences" and VERSION.startswith("2.13"):
        windows = path.with_name(f"windows_{VERSION}.keras")
        windows.write_bytes(path.read_bytes())
        settle(windows, as_on_windows)
        windows.with_suffix(".json").write_text(json.dumps(record) + "\n")


def main():
    folder, *only = sys.argv[1:]
    folder = pathlib.Path(folder)
    folder.mkdir(exist_ok=True)
    for name in only or CASES:
        write(folder, name)


if __name__ == "__main__":
    main()
