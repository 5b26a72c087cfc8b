"""Models as old versions of Keras saved them, and what they compute there: tests/golden/old.

This script runs by itself, within the old version: `python old_files.py FOLDER [CASE ...]` writes the
cases of the Keras that is installed there. README.md says how to install each. It is written for
Python 2.7 and later alike.
"""

from __future__ import print_function

import base64
import json
import os
import platform
import sys
import zlib

sys.path.pop(0)  # the files beside this one have names that old libraries look for

import numpy as np

if os.environ.get("TF_KERAS"):
    import tensorflow as tf
    from tensorflow import keras
    from tensorflow.keras import backend as K
    WRITER = "TensorFlow " + tf.__version__
else:
    import keras
    from keras import backend as K
    WRITER = "Keras %s on %s" % (keras.__version__, K.backend())

if K.backend() == "theano":
    import theano.ifelse  # which Keras 1 counts on

L = keras.layers
VERSION = [int(part) for part in keras.__version__.split("-")[0].split(".")[:3]]
TF = bool(os.environ.get("TF_KERAS"))
CASES = []  # (file, wanted, function)


def case(file, wanted=True):
    """`wanted` says which versions make it: what they mean by it differs."""

    def add(function):
        CASES.append((file, wanted, function))
        return function

    return add


def rng(*names):
    return np.random.RandomState(zlib.crc32("/".join(names).encode()) & 0x7FFFFFFF)


def data(name, *shape):
    return rng("old", name).normal(size=shape).astype("float32")


def tensor(x):
    x = np.ascontiguousarray(x)
    return {"dtype": x.dtype.name, "shape": list(x.shape),
            "data": base64.b64encode(x.tobytes()).decode()}


def structure(x):
    return [structure(item) for item in x] if isinstance(x, (list, tuple)) else tensor(x)


def fill(model):
    """Weights that depend on their places only; variances are positive."""
    values = [rng("weight", str(i)).normal(size=w.shape) / 2
              for i, w in enumerate(model.get_weights())]
    for layer in model.layers:
        if type(layer).__name__ == "BatchNormalization":
            layer_at = [i for i, w in enumerate(model.weights)
                        if any(w is own for own in layer.weights)]
            values[layer_at[-1]] = np.abs(values[layer_at[-1]]) + 0.5
    model.set_weights(values)


def inputs_of(model, samples=4, integers=()):
    shapes = [K.int_shape(t) if VERSION[0] > 1 else t._keras_shape for t in model.inputs]
    made = []
    for i, shape in enumerate(shapes):
        values = data("x%d" % i, samples, *shape[1:])
        made.append(np.abs(values * 2).astype("int32") % integers[i] if i < len(integers) else values)
    return made


def answer(path, model, integers=(), save=None, trained=False):
    """Saves the model; what it computes. A trained one is trained further after it was saved: those losses, too,
    but not of Nadam, whose momentum differs since."""
    fill(model)
    x = inputs_of(model, integers=integers)
    x = x[0] if len(x) == 1 else x
    record = {}
    epochs = {"nb_epoch": 3} if VERSION[0] == 1 else {"epochs": 3}
    how = dict(batch_size=4, shuffle=False, verbose=0, **epochs)
    if trained:
        outputs = model.predict(x)
        y = [data("y%d" % i, *out.shape) for i, out in
             enumerate(outputs if isinstance(outputs, list) else [outputs])]
        y = y[0] if len(y) == 1 else y
        model.fit(x, y, **how)
        record["targets"] = structure(y)
    (save or (lambda: model.save(path)))()
    record.update(inputs=structure(x), outputs=structure(model.predict(x)))
    if trained:
        history = model.fit(x, y, **how).history
        if type(model.optimizer).__name__ != "Nadam":
            record["losses"] = [float(loss) for loss in history["loss"]]
    return record


def compiled(model, optimizer, loss="mse", **more):
    model.compile(optimizer=optimizer, loss=loss, **more)
    return model


def optimizers():
    rate = {"learning_rate": 0.01} if TF or VERSION >= [2, 3] else {"lr": 0.01}
    o = keras.optimizers
    return {"sgd": o.SGD(momentum=0.9, decay=0.1, **rate), "rmsprop": o.RMSprop(**rate),
            "adam": o.Adam(**rate), "adadelta": o.Adadelta(**rate), "adagrad": o.Adagrad(**rate),
            "adamax": o.Adamax(**rate), "nadam": o.Nadam(**rate)}


KERAS1 = VERSION[0] == 1


def standalone(*versions):
    return not TF and VERSION in [list(version) for version in versions]


def dense(units, name, **more):
    return L.Dense(units, name=name, **more)


def input_of(name, *shape):
    return L.Input(shape=shape, name=name)


def model_of(inputs, outputs):
    named = {"input": inputs, "output": outputs} if KERAS1 else dict(inputs=inputs, outputs=outputs)
    return keras.models.Model(name="model", **named)


# --- Keras 1 -------------------------------------------------------------------------------------


def keras1_layers():
    conv = dict(W_regularizer="l2", b_constraint="nonneg", border_mode="same")
    model = keras.models.Sequential()
    model.add(L.Embedding(7, 3, input_length=6, W_regularizer="l1l2", name="embed"))
    model.add(L.Convolution1D(4, 3, activation="relu", init="he_normal", name="conv", **conv))
    model.add(L.LSTM(3, return_sequences=True, consume_less="gpu", inner_activation="hard_sigmoid",
                     U_regularizer="l1", name="lstm"))
    model.add(L.Bidirectional(L.GRU(2, return_sequences=True), name="both"))
    model.add(L.TimeDistributed(dense(3, "inner"), name="each"))
    model.add(L.BatchNormalization(name="norm"))
    model.add(L.SimpleRNN(3, name="simple"))
    model.add(L.RepeatVector(2, name="twice"))
    model.add(L.Flatten(name="flat"))
    model.add(dense(2, "dense", activation="softmax", W_constraint="maxnorm"))
    return model


@case("keras1.h5", KERAS1)
def keras1(path):
    model = compiled(keras1_layers(), optimizers()["rmsprop"], metrics=["accuracy"])
    return answer(path, model, integers=[7], trained=True)


def keras1_image(ordering):
    shape = (3, 6, 5) if ordering == "th" else (6, 5, 3)
    K.set_image_dim_ordering(ordering)
    conv = dict(border_mode="valid", subsample=(1, 2))
    x = input_of("x", *shape)
    y = L.Convolution2D(4, 2, 2, activation="relu", name="conv", **conv)(x)
    y = L.MaxPooling2D((2, 1), name="pool")(L.ZeroPadding2D((1, 2), name="border")(y))
    y = L.AtrousConvolution2D(3, 2, 2, atrous_rate=(1, 2), name="atrous")(y)
    y = L.BatchNormalization(axis=1 if ordering == "th" else -1, name="norm")(y)
    y = L.UpSampling2D((2, 1), name="up")(y)
    return model_of(x, dense(2, "dense")(L.Flatten(name="flat")(y)))


@case("keras1_th.json", KERAS1)
def keras1_th(path):
    """The config in JSON, the weights beside it; twice in a string, as `json.dump` of `to_json`."""
    model = keras1_image("th")

    def save():
        with open(path, "w") as file:
            json.dump(model.to_json(), file)
        model.save_weights(path.replace(".json", "_weights.h5"), overwrite=True)

    return dict(answer(path, model, save=save), weights="_weights.h5")


@case("keras1_tf.h5", KERAS1)
def keras1_tf(path):
    return answer(path, compiled(keras1_image("tf"), optimizers()["adam"]), trained=True)


@case("keras1_sequential.json", KERAS1)
def keras1_sequential(path):
    """Two branches joined as the first layer of a Sequential."""
    left, right = keras.models.Sequential(name="left"), keras.models.Sequential(name="right")
    left.add(dense(3, "left_1", input_dim=4))
    left.add(dense(2, "left_2", activation="tanh"))
    right.add(dense(3, "right_1", input_dim=4, init="uniform"))
    right.add(dense(2, "right_2"))
    model = keras.models.Sequential()
    model.add(L.Merge([left, right], mode="concat", name="join"))
    model.add(dense(2, "last"))

    def save():
        with open(path, "w") as file:
            file.write(model.to_json())
        model.save_weights(path.replace(".json", "_weights.h5"), overwrite=True)

    return dict(answer(path, model, save=save), weights="_weights.h5")


@case("merge.h5", KERAS1 or standalone((2, 0, 2)))
def merge(path):
    """Every mode of the layer that joined others until Keras 2.0."""
    Merge = L.Merge if KERAS1 else __import__("keras.legacy.layers", fromlist=["Merge"]).Merge
    a, b = input_of("a", 4), input_of("b", 4)
    s, t = input_of("s", 2, 3), input_of("t", 5, 3)
    both = [dense(4, "first")(a), b]
    results = [Merge(mode=mode, dot_axes=[1, 1], name=mode)(both)
               for mode in ("sum", "mul", "concat", "ave", "cos", "dot", "max")]
    results.append(Merge(mode="concat", concat_axis=1, name="steps")([s, t]))
    results.append(Merge(mode="dot", dot_axes=[2, 2], name="products")([s, t]))
    return answer(path, model_of([a, b, s, t], results))


# --- Keras 2 on its own --------------------------------------------------------------------------


@case("embedding.h5", standalone((2, 0, 2)))
def embedding(path):
    """An Embedding whose config says int32, which is the dtype of its input."""
    model = keras.models.Sequential()
    model.add(L.Embedding(7, 3, input_length=4, name="embed"))
    model.add(L.Conv1D(2, 2, name="conv"))
    model.add(L.LSTM(3, implementation=2, name="lstm"))
    return answer(path, compiled(model, optimizers()["rmsprop"]), integers=[7], trained=True)


@case("adadelta.h5", standalone((2, 0, 5)))
def adadelta(path):
    """The state of an optimizer without its steps; the mean over the last axis as the loss."""
    model = keras.models.Sequential()
    model.add(dense(3, "first", input_shape=(4,), kernel_regularizer="l1_l2"))
    model.add(dense(2, "second", kernel_initializer=keras.initializers.VarianceScaling(
        distribution="normal", mode="fan_out")))
    model = compiled(model, optimizers()["adadelta"], "cosine_proximity", metrics=["cosine_proximity"])
    return answer(path, model, trained=True)


@case("nested.h5", standalone((2, 2, 4)))
def nested(path):
    """Sequentials within, none of which says its input."""
    inner = keras.models.Sequential([dense(3, "a"), dense(4, "b", activation="tanh")], name="inner")
    deep = keras.models.Sequential([keras.models.Sequential([dense(2, "c")], name="deepest"),
                                    L.Activation("hard_sigmoid", name="act")], name="deep")
    x = input_of("x", 4)
    model = model_of(x, deep(L.add([inner(x), inner(inner(x))], name="sum")))
    return answer(path, compiled(model, optimizers()["sgd"], "cosine_proximity"), trained=True)


@case("nadam.h5", standalone((2, 3, 1)))
def nadam(path):
    x = input_of("x", 4)
    model = model_of(x, dense(2, "second")(dense(3, "first", kernel_constraint="max_norm")(x)))
    return answer(path, compiled(model, optimizers()["nadam"], metrics=["mae"]), trained=True)


# --- Keras within TensorFlow ---------------------------------------------------------------------


def tensorflow(*versions):
    return TF and tf.__version__.split(".")[:2] in [version.split(".") for version in versions]


@case("initializers.h5", tensorflow("1.15"))
def initializers(path):
    """Configs of initializers that say a dtype."""
    i = keras.initializers
    x = input_of("x", 6)
    y = dense(3, "one", kernel_initializer=i.TruncatedNormal(seed=1), bias_initializer=i.Ones())(x)
    y = dense(4, "two", kernel_initializer=i.Orthogonal(), bias_initializer=i.Constant(0.5))(y)
    y = L.BatchNormalization(name="norm")(L.Reshape((2, 2), name="square")(y))
    y = L.GRU(2, implementation=1, recurrent_initializer="identity", name="gru")(y)
    return answer(path, compiled(model_of(x, y), optimizers()["adam"], metrics=["mae"]), trained=True)


@case("slashes.model", tensorflow("2.0"))
def slashes(path):
    """Names with slashes, in an HDF5 whose name does not tell."""
    x = input_of("in/x", 4)
    y = dense(3, "block/first")(x)
    model = model_of(x, [dense(2, "block/first/second")(y), dense(1, "other_head/out")(y)])
    model = compiled(model, "sgd", {"block/first/second": "mse", "other_head/out": "mae"},
                     loss_weights={"block/first/second": 0.5, "other_head/out": 2.0})
    return answer(path, model, save=lambda: model.save(path, save_format="h5"), trained=True)


@case("schedule.keras", tensorflow("2.4"))
def schedule(path):
    """An HDF5 by the name of .keras; a schedule and metrics as Keras 2 wrote them."""
    rate = keras.optimizers.schedules.ExponentialDecay(0.05, 2, 0.5)
    x = input_of("x", 4)
    model = model_of(x, dense(3, "out", activation="softmax")(x))
    metrics = ["accuracy", "mae", "cosine_similarity"]
    model = compiled(model, keras.optimizers.SGD(rate), metrics=metrics)
    return answer(path, model, save=lambda: model.save(path, save_format="h5"), trained=True)


@case("operations", tensorflow("2.4"))
def operations(path):
    """Operations of TensorFlow between layers, in an HDF5 without a suffix."""
    x = input_of("x", 4)
    y = dense(4, "first")(x)
    z = tf.nn.relu(y * 2.0 + 1.0 - x) / 3.0
    z = tf.concat([z, tf.reduce_mean(y, axis=-1, keepdims=True), y[:, 1:3]], axis=-1)
    z = tf.math.squared_difference(tf.tanh(z), 0.5) + tf.cast(x[:, :1] > 0.0, "float32")
    z = tf.linalg.matmul(tf.reshape(z, (-1, 7, 1)), tf.expand_dims(y, 1))
    model = compiled(model_of(x, dense(2, "last")(tf.reduce_mean(z ** 2.0, axis=1))), "sgd")
    return answer(path, model, save=lambda: model.save(path, save_format="h5"), trained=True)


@case("op_layers.h5", tensorflow("2.3"))
def op_layers(path):
    """Operations of a graph, as layers with a NodeDef and constants."""
    x = input_of("x", 4)
    y = dense(6, "first")(x)
    z = tf.nn.relu(2.0 - y * 0.5) / 3.0 + tf.square(y) ** 1.5
    z = tf.concat([z, tf.maximum(y, tf.abs(y) - 1.0), tf.sigmoid(-y)], axis=-1)
    z = tf.reshape(z, [-1, 3, 6]) * np.linspace(0.5, 1.5, 6).astype("float32")
    z = tf.transpose(z, [0, 2, 1])
    cut = tf.stack([z[:, 1, ::2], z[:, -1, :2], tf.squeeze(z[..., 1:2], [2])[:, :2]], axis=1)
    mixed = tf.matmul(cut, z[:, :4, :2], transpose_b=True) + tf.expand_dims(y[:, :4], 1)
    kept = tf.where(mixed > 0.5, mixed, tf.exp(tf.minimum(mixed, 0.0)))
    kept = tf.nn.softmax(kept) + tf.tile(tf.reduce_mean(z, axis=[1, 2], keepdims=True), [1, 3, 4])
    halves = tf.split(kept, 2, axis=2)
    sums = tf.reduce_sum(halves[0] - halves[1], axis=2) + tf.cast(x[:, :1] > 0.0, "float32")
    rest = tf.reduce_max(tf.math.log(tf.sqrt(tf.square(z) + 1.0)), axis=1)
    model = model_of(x, dense(2, "last")(tf.concat([sums, tf.math.rsqrt(rest + 1.0)], 1)))
    return answer(path, compiled(model, "sgd"), trained=True)


@case("added_losses.h5", tensorflow("2.0"))
def added_losses(path):
    """Losses and a metric of tensors inside the model; one loss needs a layer that no output needs."""
    x = input_of("x", 4)
    hidden = dense(3, "hidden", activation="tanh")(x)
    out = dense(2, "out")(hidden)
    model = model_of(x, out)
    model.add_loss(0.1 * tf.reduce_mean(tf.square(hidden)))
    model.add_loss(tf.reduce_mean(tf.abs(dense(2, "aside")(hidden) - out)))
    model.add_metric(tf.reduce_mean(out), name="mean_out", aggregation="mean")
    return answer(path, compiled(model, "sgd"), trained=True)


def main(folder, *only):
    entries = []
    for file, wanted, make in CASES:
        if not wanted or only and file not in only:
            continue
        getattr(K, "clear_session", lambda: None)()
        name, dot, suffix = file.partition(".")
        version = tf.__version__ if TF else keras.__version__
        backend = "" if TF or K.backend() == "tensorflow" else "_" + K.backend()
        own = "%s%s_%s%s%s" % (
            "tf" if TF else "keras", version.replace(".", "_") + backend, name, dot, suffix)
        print(own)
        record = make(os.path.join(folder, own))
        entries.append(dict(record, file=own, writer="%s, Python %s" % (
            WRITER, platform.python_version())))
    listed = os.path.join(folder, "old.json")
    before = json.load(open(listed)) if os.path.exists(listed) else []
    made = {entry["file"] for entry in entries}
    entries += [entry for entry in before if entry["file"] not in made]
    entries.sort(key=lambda entry: entry["file"])
    lines = ",\n".join(json.dumps(entry, sort_keys=True) for entry in entries)
    with open(listed, "w") as out:
        out.write("[\n" + lines + "\n]\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
