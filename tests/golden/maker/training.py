"""Records how models learn: the logs of every step and epoch, and what the weights become."""

import json

import keras
import numpy as np
from keras import Input, Model, layers

from maker import encode
from maker.layers import add_noise

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def data(name, *shape):
    return encode.generator("training", name).normal(size=shape).astype("float32")


def classes(name, count, *shape):
    return encode.generator("training", name, "classes").integers(0, count, shape).astype("int32")


def sequences(name, rows, steps, vocabulary):
    """Rows of different lengths, padded with zeros at the end."""
    random = encode.generator("training", name, "sequences")
    x = random.integers(1, vocabulary, (rows, steps)).astype("int32")
    lengths = random.integers(1, steps + 1, rows)
    x[np.arange(steps) >= lengths[:, None]] = 0
    return x


@case
def mlp():
    x = Input((8,), name="features")
    h = layers.Dense(16, activation="relu", name="hidden")(x)
    y = layers.Dense(3, activation="softmax", name="classes")(h)
    features = data("mlp", 40, 8)
    labels = np.argmax(features[:, :3] + features[:, 3:6], axis=1).astype("int32")
    return dict(
        model=Model(x, y, name="mlp"), x=features, y=labels,
        compile=dict(optimizer=keras.optimizers.Adam(0.01), metrics=["accuracy"],
                     loss="sparse_categorical_crossentropy"),
        fit=dict(batch_size=16, epochs=18))


@case
def convnet():
    x = Input((8, 8, 1), name="image")
    h = layers.Conv2D(4, 3, activation="relu", name="first")(x)
    h = layers.MaxPooling2D(2, name="pool")(h)
    h = layers.Conv2D(6, 2, activation="relu", padding="same", name="second")(h)
    y = layers.Dense(2, name="logits")(layers.Flatten(name="flat")(h))
    images = data("convnet", 24, 8, 8, 1)
    labels = np.eye(2, dtype="float32")[(images[:, 2:6, 2:6].sum((1, 2, 3)) > 0).astype(int)]
    return dict(
        model=Model(x, y, name="convnet"), x=images, y=labels,
        compile=dict(optimizer=keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True),
                     loss=keras.losses.CategoricalCrossentropy(from_logits=True),
                     metrics=["accuracy", "categorical_accuracy"]),
        fit=dict(batch_size=8, epochs=18))


# An Embedding learns by plain descent here: with momentum, Keras on TensorFlow leaves the rows that
# a batch does not name as they are, while Keras on JAX and Keratin move them too.
@case
def masked_lstm():
    x = Input((7,), dtype="int32", name="tokens")
    h = layers.Embedding(12, 5, mask_zero=True, name="embed")(x)
    h = layers.LSTM(6, name="lstm")(h)
    y = layers.Dense(1, activation="sigmoid", name="positive")(h)
    tokens = sequences("masked_lstm", 32, 7, 12)
    labels = (np.max(tokens, axis=1) > 9).astype("float32")[:, None]
    return dict(
        model=Model(x, y, name="masked_lstm"), x=tokens, y=labels,
        compile=dict(optimizer=keras.optimizers.SGD(0.5), loss="binary_crossentropy",
                     metrics=["accuracy"]),
        fit=dict(batch_size=10, epochs=13))


@case
def masked_sequence_outputs():
    """The mask of the output reaches its loss and its metrics; weights are of each time step."""
    x = Input((6,), dtype="int32", name="tokens")
    h = layers.Embedding(9, 4, mask_zero=True, name="embed")(x)
    h = layers.GRU(5, return_sequences=True, name="gru")(h)
    y = layers.Dense(3, activation="softmax", name="tags")(h)
    tokens = sequences("masked_sequence_outputs", 20, 6, 9)
    weights = np.abs(data("masked_sequence_weights", 20, 6))
    return dict(
        model=Model(x, y, name="tagger"), x=tokens, y=tokens % 3, sample_weight=weights,
        compile=dict(optimizer=keras.optimizers.SGD(0.5),
                     loss="sparse_categorical_crossentropy", metrics=["accuracy"],
                     weighted_metrics=["accuracy", "sparse_categorical_crossentropy"]),
        fit=dict(batch_size=8, epochs=5))


# With several losses the batches are all of one size: Keras on TensorFlow takes the mean of a loss
# over batches, on JAX, as Keratin, over samples.
@case
def several_outputs():
    a, b = Input((4,), name="a"), Input((3,), name="b")
    h = layers.Dense(6, activation="tanh", name="shared")(layers.Concatenate(name="both")([a, b]))
    number = layers.Dense(1, name="number")(h)
    kind = layers.Dense(3, activation="softmax", name="kind")(h)
    x = {"a": data("several_a", 24, 4), "b": data("several_b", 24, 3)}
    y = [x["a"][:, :1] * 2, classes("several", 3, 24)]
    weights = [np.abs(data("several_w", 24)), np.abs(data("several_v", 24))]
    return dict(
        model=Model([a, b], [number, kind], name="several"), x=x, y=y, sample_weight=weights,
        compile=dict(optimizer=keras.optimizers.RMSprop(0.01),
                     loss={"number": "mse", "kind": "sparse_categorical_crossentropy"},
                     loss_weights={"number": 0.5, "kind": 2.0},
                     metrics={"number": ["mae"], "kind": ["accuracy"]},
                     weighted_metrics={"number": ["mae"], "kind": ["accuracy"]}),
        fit=dict(batch_size=6, epochs=4))


@case
def dict_outputs():
    a = Input((4,), name="a")
    h = layers.Dense(5, activation="relu", name="hidden")(a)
    outputs = {"z": layers.Dense(1, name="first")(h), "c": layers.Dense(2, name="second")(h)}
    x = data("dict_outputs", 12, 4)
    y = {"z": x[:, :1], "c": x[:, 1:3] * x[:, :1]}
    return dict(
        model=Model(a, outputs, name="dicts"), x=x, y=y,
        compile=dict(optimizer=keras.optimizers.Adam(0.05), loss={"z": "mse", "c": "mae"},
                     metrics={"c": ["mse"]}),
        fit=dict(batch_size=6, epochs=4))


@case
def one_loss_of_two_outputs():
    a = Input((4,), name="a")
    h = layers.Dense(5, activation="relu", name="hidden")(a)
    x = data("one_loss", 10, 4)
    return dict(
        model=Model(a, [layers.Dense(1, name="taught")(h), h], name="partly"), x=x, y=[x[:, :1]],
        compile=dict(optimizer=keras.optimizers.SGD(0.1), loss=["mse", None]),
        fit=dict(batch_size=4, epochs=3))


@case
def regularised():
    x = Input((5,), name="x")
    h = layers.Dense(6, kernel_regularizer="l2", bias_regularizer=keras.regularizers.L1(0.02),
                     activity_regularizer=keras.regularizers.L2(0.01), name="dense")(x)
    h = layers.BatchNormalization(name="norm")(h)
    h = layers.ActivityRegularization(l1=0.003, name="activity")(layers.ReLU(name="relu")(h))
    y = layers.Dense(4, activation="softmax", kernel_constraint="max_norm", name="out")(h)
    features, labels = data("regularised", 30, 5), classes("regularised", 4, 30)
    return dict(
        model=Model(x, y, name="regularised"), x=features, y=labels,
        compile=dict(optimizer=keras.optimizers.Adam(0.05),
                     loss="sparse_categorical_crossentropy", metrics=["accuracy"]),
        fit=dict(batch_size=8, epochs=4, class_weight={0: 0.5, 1: 2.0, 3: 1.5},
                 validation=[data("regularised_val", 9, 5), classes("regularised_val", 4, 9)]))


@case
def frozen():
    """What does not train keeps its weights, and BatchNormalization its statistics."""
    x = Input((5,), name="x")
    h = layers.Dense(6, name="dense")(x)
    norm = layers.BatchNormalization(name="norm")
    norm.trainable = False
    bottom = layers.Dense(4, name="fixed", trainable=False)(norm(h))
    y = layers.Dense(1, name="out")(bottom)
    features = data("frozen", 16, 5)
    return dict(
        model=Model(x, y, name="frozen"), x=features, y=features[:, :1] ** 2,
        compile=dict(optimizer=keras.optimizers.Adam(0.05), loss="mse"),
        fit=dict(batch_size=8, epochs=4, validation_split=0.25))


@case
def stateful():
    x = Input(batch_shape=(4, 3, 2), name="x")
    h = layers.SimpleRNN(5, stateful=True, name="rnn")(x)
    y = layers.Dense(1, name="out")(h)
    features = data("stateful", 12, 3, 2)
    return dict(
        model=Model(x, y, name="stateful"), x=features, y=features[:, 0, :1],
        compile=dict(optimizer=keras.optimizers.SGD(0.05), loss="mse"),
        fit=dict(batch_size=4, epochs=3))


@case
def accumulated():
    x = Input((4,), name="x")
    y = layers.Dense(2, name="out")(layers.Dense(5, activation="tanh", name="hidden")(x))
    features = data("accumulated", 18, 4)
    return dict(
        model=Model(x, y, name="accumulated"), x=features, y=features[:, :2] - features[:, 2:],
        compile=dict(optimizer=keras.optimizers.AdamW(
            0.02, weight_decay=0.01, gradient_accumulation_steps=3, global_clipnorm=0.5,
            use_ema=True, ema_momentum=0.8), loss="huber"),
        fit=dict(batch_size=4, epochs=4))


@case
def scheduled():
    x = Input((4,), name="x")
    y = layers.Dense(2, name="out")(x)
    features = data("scheduled", 12, 4)
    rate = keras.optimizers.schedules.ExponentialDecay(0.2, 5, 0.5)
    return dict(
        model=Model(x, y, name="scheduled"), x=features, y=features[:, :2] * 3,
        compile=dict(optimizer=keras.optimizers.SGD(rate, clipvalue=0.5), loss="mse",
                     steps_per_execution=2),
        fit=dict(batch_size=4, epochs=5))


def classifier(policy, name):
    """Layers of a policy, and probabilities in single precision, as Keras advises. The model has the
    policy too: by it Keras decides whether to scale the loss."""
    keras.config.set_dtype_policy(policy)
    x = Input((8,), name="features")
    h = layers.Dense(16, activation="relu", dtype=policy, name="hidden")(x)
    h = layers.LayerNormalization(dtype=policy, name="norm")(h)
    h = layers.Dense(3, dtype=policy, name="logits")(h)
    y = layers.Activation("softmax", dtype="float32", name="classes")(h)
    features = data(name, 32, 8)
    labels = np.argmax(features[:, :3] + features[:, 3:6], axis=1).astype("int32")
    model = Model(x, y, name=name)
    keras.config.set_dtype_policy("float32")
    return dict(model=model, x=features, y=labels)


@case
def mixed_bfloat16():
    return classifier("mixed_bfloat16", "mixed_bfloat16") | dict(
        compile=dict(optimizer=keras.optimizers.SGD(0.05),
                     loss="sparse_categorical_crossentropy", metrics=["accuracy"]),
        fit=dict(batch_size=8, epochs=5))


@case
def mixed_float16():
    """Its optimizer scales the loss without an option."""
    return classifier("mixed_float16", "mixed_float16") | dict(
        compile=dict(optimizer=keras.optimizers.SGD(0.05),
                     loss="sparse_categorical_crossentropy", metrics=["accuracy"]),
        fit=dict(batch_size=8, epochs=5))


@case
def overflowing_float16():
    """Batch 3 of 6 is so far off that its scaled gradients overflow, until the scale is low enough;
    four good steps in a row double it again."""
    x = Input((4,), name="x")
    h = layers.Dense(6, activation="tanh", dtype="mixed_float16", name="hidden")(x)
    y = layers.Dense(2, dtype="mixed_float16", name="out")(h)
    features = data("overflowing", 24, 4)
    targets = features[:, :2] - features[:, 2:]
    targets[8:12] += 100
    optimizer = keras.optimizers.LossScaleOptimizer(
        keras.optimizers.SGD(0.002), initial_scale=8192.0, dynamic_growth_steps=4)
    return dict(
        model=Model(x, y, name="overflowing"), x=features, y=targets,
        compile=dict(optimizer=optimizer, loss="mse", metrics=["mae"]),
        fit=dict(batch_size=4, epochs=4))


# Not Adam: Keras on TensorFlow rounds its betas to single precision in between.
@case
def double_precision():
    x = Input((8,), dtype="float64", name="features")
    h = layers.Dense(16, activation="tanh", dtype="float64", name="hidden")(x)
    y = layers.Dense(2, dtype="float64", name="out")(h)
    features = data("double_precision", 24, 8).astype("float64")
    return dict(
        model=Model(x, y, name="double"), x=features, y=features[:, :2] * features[:, 2:4],
        compile=dict(optimizer=keras.optimizers.SGD(0.01, momentum=0.9, nesterov=True),
                     loss="mse", metrics=["mae"]),
        fit=dict(batch_size=8, epochs=6))


class Recorder(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.steps, self.epochs = [], []

    def on_train_batch_end(self, batch, logs=None):
        self.steps.append({key: float(value) for key, value in logs.items()})

    def on_epoch_end(self, epoch, logs=None):
        self.epochs.append({key: float(value) for key, value in logs.items()})


def plain(x):
    """Losses, optimizers and metrics in the form that files keep them."""
    if isinstance(x, dict):
        return {key: plain(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [plain(value) for value in x]
    if x is None or isinstance(x, (bool, int, float, str)):
        return x
    return encode.config(keras.saving.serialize_keras_object(x))


def record(name):
    keras.backend.clear_session()
    keras.utils.set_random_seed(1)
    made = CASES[name]()
    model, fit = made["model"], dict(made["fit"])
    add_noise(model, encode.generator("training", name, "weights"))
    entry = {
        "name": name,
        "config": encode.config(json.loads(model.to_json())),
        "weights": encode.weights(model),
        "x": encode.structure(made["x"]),
        "y": encode.structure(made["y"]),
        "sample_weight": encode.structure(made.get("sample_weight")),
        "compile": plain(made["compile"]),
        "fit": {key: encode.structure(value) for key, value in fit.items()},
    }
    recorder = Recorder()
    model.compile(**made["compile"])
    validation = fit.pop("validation", None)
    model.fit(made["x"], made["y"], sample_weight=made.get("sample_weight"), shuffle=False,
              verbose=0, callbacks=[recorder], validation_data=validation, **fit)
    after = {
        "weights_after": encode.weights(model),
        "optimizer_after": [{"path": v.path, **encode.tensor(v)} for v in model.optimizer.variables],
    }
    evaluated = model.evaluate(made["x"], made["y"], sample_weight=made.get("sample_weight"),
                               batch_size=fit["batch_size"], verbose=0, return_dict=True)
    return entry | {
        "steps": recorder.steps,
        "epochs": recorder.epochs,
        "evaluated": {key: float(value) for key, value in evaluated.items()},
    } | after


def evaluated_by_keras2():
    """One batch with a mask and no weights: there tf_keras and Keras 2.2 agree. Over several batches,
    and with weights, they do not."""
    import tf_keras

    tf_keras.backend.clear_session()
    x = tf_keras.Input((6,), dtype="int32", name="tokens")
    h = tf_keras.layers.Embedding(9, 4, mask_zero=True, name="embed")(x)
    h = tf_keras.layers.GRU(5, return_sequences=True, name="gru")(h)
    y = tf_keras.layers.Dense(3, activation="softmax", name="tags")(h)
    model = tf_keras.Model(x, y, name="tagger")
    add_noise(model, encode.generator("training", "keras2", "weights"))
    model.compile("sgd", "sparse_categorical_crossentropy", metrics=["accuracy"],
                  weighted_metrics=["sparse_categorical_crossentropy"])
    tokens = sequences("keras2", 10, 6, 9)
    evaluated = model.evaluate(tokens, tokens % 3, batch_size=10, verbose=0, return_dict=True)
    return {"name": "masked", "config": json.loads(model.to_json()),
            "weights": encode.weights(model), "x": encode.tensor(tokens),
            "y": encode.tensor(tokens % 3),
            "evaluated": {key: float(value) for key, value in evaluated.items()}}


def write(folder, only):
    if (not only or "training" in only) and keras.backend.backend() == "tensorflow":
        encode.write(folder / "training.keras2.json", [evaluated_by_keras2()])
    names = [name for name in CASES if not only or "training" in only or name in only]
    if names:
        encode.write(folder / "training.json", [
            encode.attempt(name, lambda: record(name)) for name in names])
