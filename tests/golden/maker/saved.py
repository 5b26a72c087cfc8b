"""Whole models as real Keras saved them, and what they compute.

Every case is a function that saves a model into a file and returns its inputs and outputs; where it
returns targets too, "losses" are those of two more epochs in order, after opening the file again.
"""

import json
import zipfile

import h5py
import keras
import numpy as np

from maker import encode

FOLDER = "saved"
CASES = {}


def case(file):
    def add(function):
        CASES[file] = function
        return function

    return add


def data(file, *shape):
    return encode.generator("saved", file).normal(size=shape).astype("float32")


def fill(model):
    """Weights that depend on their positions only."""
    for i, weight in enumerate(model.weights):
        noise = encode.generator("saved", str(i)).normal(size=tuple(weight.shape)) / 2
        weight.assign(np.abs(noise) if "variance" in weight.name else noise)


@keras.saving.register_keras_serializable("mine")
def add_three(x):
    return x + 3


@case("python_lambda.keras")
def python_lambda(path):
    layers = keras.layers
    x = keras.Input((4,), name="x")
    double = lambda t, by=2.0: t * by  # noqa: E731
    double.__code__ = double.__code__.replace(co_filename="saved.py")
    y = layers.Lambda(double, name="double", arguments={"by": 3.0})(x)
    y = layers.Dense(2, name="dense")(y)
    y = layers.Lambda(add_three, name="three", output_shape=(2,))(y)
    model = keras.Model(x, y)
    fill(model)
    model.save(path)
    inputs = data(path.name, 3, 4)
    return inputs, model.predict(inputs, verbose=0)


@case("operations.h5")
def operations(path):
    """Keras itself cannot open this file of its own."""
    x = keras.Input((4,), name="x")
    y = keras.ops.reshape(x + 1.0, (-1, 2, 2))
    model = keras.Model(x, keras.layers.Dense(3, name="dense")(y)[:, 0] * 2.0)
    fill(model)
    model.save(path)
    inputs = data(path.name, 3, 4)
    return inputs, model.predict(inputs, verbose=0)


@case("sharded.keras")
def sharded(path):
    """The model, and its weights in several files beside it."""
    layers = keras.layers
    x = keras.Input((4,), name="x")
    y = layers.BatchNormalization(name="norm")(layers.Dense(3, name="first")(x))
    model = keras.Model(x, layers.Dense(2, name="second")(y))
    model.save(path)
    fill(model)
    model.save_weights(path.with_suffix(".weights.json"), max_shard_size=60 / 2**30)
    inputs = data(path.name, 3, 4)
    return inputs, model.predict(inputs, verbose=0)


def old_file(path, config, layers, **attributes):
    """A legacy file: `layers` are pairs of a name and its weights, in order."""
    with h5py.File(path, "w") as file:
        file.attrs["model_config"] = json.dumps(config).encode()
        group = file.create_group("model_weights")
        for key, value in attributes.items():
            file.attrs[key] = group.attrs[key] = value.encode()
        group.attrs["layer_names"] = [name.encode() for name, _ in layers]
        for name, weights in layers:
            names = [f"{name}_W{i}".encode() for i in range(len(weights))]
            own = group.create_group(name)
            own.attrs["weight_names"] = names
            for key, weight in zip(names, weights):
                own[key.decode()] = weight


def gates(weights, order):
    """Keras 1: kernel, recurrent kernel and bias of one gate after the other."""
    parts = [np.split(weight.numpy(), len(order), axis=-1) for weight in weights]
    return [part[i] for i in order for part in parts]


def keras1_layer(kind, name, **config):
    return {"class_name": kind, "config": {"name": name, "trainable": True, **config}}


def keras1_recurrent(kind, name, units):
    config = dict(output_dim=units, init="glorot_uniform", inner_init="orthogonal",
                  activation="tanh", inner_activation="sigmoid", return_sequences=True,
                  go_backwards=False, stateful=False, unroll=False, consume_less="cpu",
                  dropout_W=0.0, dropout_U=0.0, U_regularizer=None, b_regularizer=None,
                  W_regularizer={"name": "WeightRegularizer", "l1": 0.0, "l2": 0.01},
                  input_dim=3, input_length=None)
    if kind == "LSTM":
        config["forget_bias_init"] = "one"
    return keras1_layer(kind, name, **config)


@case("keras1.h5")
def keras1(path):
    """A Sequential of Keras 1: convolutions, gates one by one, layers within layers."""
    layers = keras.layers
    model = keras.Sequential([
        keras.Input((6, 3)),
        layers.Conv1D(4, 2, activation="relu", name="conv"),
        layers.LSTM(5, return_sequences=True, name="lstm"),
        layers.Bidirectional(layers.GRU(3, return_sequences=True, reset_after=False), name="both"),
        layers.TimeDistributed(layers.Dense(4), name="each"),
        layers.BatchNormalization(epsilon=1e-5, name="norm"),
        layers.Flatten(name="flat"),
        layers.Dropout(0.5, name="drop"),
        layers.Dense(2, activation="softmax", name="dense")])
    fill(model)
    conv, lstm, both, each, norm, _, _, dense = model.layers
    half = len(both.weights) // 2
    dense_1 = dict(init="glorot_uniform", activation="linear", bias=True, input_dim=None,
                   W_regularizer=None, b_regularizer=None, activity_regularizer=None,
                   W_constraint=None, b_constraint=None)
    config = {"class_name": "Sequential", "config": [
        keras1_layer("Convolution1D", "conv", nb_filter=4, filter_length=2, border_mode="valid",
                     subsample_length=1, activation="relu", init="glorot_uniform", bias=True,
                     W_regularizer=None, b_regularizer=None, activity_regularizer=None,
                     W_constraint=None, b_constraint=None, input_dim=3, input_length=None,
                     batch_input_shape=[None, 6, 3], input_dtype="float32"),
        keras1_recurrent("LSTM", "lstm", 5),
        keras1_layer("Bidirectional", "both", merge_mode="concat",
                     layer=keras1_recurrent("GRU", "gru", 3)),
        keras1_layer("TimeDistributed", "each",
                     layer=keras1_layer("Dense", "inner", output_dim=4, **dense_1)),
        keras1_layer("BatchNormalization", "norm", epsilon=1e-5, mode=0, axis=-1, momentum=0.99,
                     gamma_init="one", beta_init="zero", gamma_regularizer=None,
                     beta_regularizer=None),
        keras1_layer("Flatten", "flat"),
        keras1_layer("Dropout", "drop", p=0.5),
        keras1_layer("Dense", "dense", output_dim=2, **(dense_1 | {"activation": "softmax"}))]}
    kernel, bias = [w.numpy() for w in conv.weights]
    old_file(path, config, [
        ("conv", [kernel[:, None], bias]),
        ("lstm", gates(lstm.weights, [0, 2, 1, 3])),
        ("both", gates(both.weights[:half], [0, 1, 2]) + gates(both.weights[half:], [0, 1, 2])),
        ("each", [w.numpy() for w in each.weights]),
        ("norm", [w.numpy() for w in norm.weights]),
        ("flat", []), ("drop", []),
        ("dense", [w.numpy() for w in dense.weights])])
    inputs = data(path.name, 2, 6, 3)
    return inputs, model.predict(inputs, verbose=0)


@case("keras1_theano.h5")
def keras1_theano(path):
    """A functional model of Keras 1 on Theano, which turns kernels around."""
    layers = keras.layers
    x = keras.Input((4, 4, 3), name="x")
    first = layers.Conv2D(3, (3, 2), padding="same", name="first")
    y = layers.Add(name="sum")([first(x), x])
    model = keras.Model(x, layers.Concatenate(name="join")([y, first(y)]))
    fill(model)
    kernel, bias = [w.numpy() for w in first.weights]
    conv = dict(nb_filter=3, nb_row=3, nb_col=2, border_mode="same", subsample=[1, 1],
                activation="linear", init="glorot_uniform", bias=True, dim_ordering="tf",
                W_regularizer=None, b_regularizer=None, W_constraint=None, b_constraint=None)
    entries = [
        {"name": "x", "class_name": "InputLayer", "inbound_nodes": [],
         "config": {"name": "x", "batch_input_shape": [None, 4, 4, 3], "input_dtype": "float32",
                    "sparse": False}},
        keras1_layer("Convolution2D", "first", **conv) | {
            "name": "first", "inbound_nodes": [[["x", 0, 0]], [["sum", 0, 0]]]},
        keras1_layer("Merge", "sum", mode="sum", mode_type="raw", concat_axis=-1, dot_axes=-1) | {
            "name": "sum", "inbound_nodes": [[["first", 0, 0], ["x", 0, 0]]]},
        keras1_layer("Merge", "join", mode="concat", mode_type="raw", concat_axis=-1,
                     dot_axes=-1) | {
            "name": "join", "inbound_nodes": [[["sum", 0, 0], ["first", 1, 0]]]}]
    config = {"class_name": "Model", "config": {
        "name": "model_1", "layers": entries, "input_layers": [["x", 0, 0]],
        "output_layers": [["join", 0, 0]]}}
    old_file(path, config, [("x", []), ("first", [kernel[::-1, ::-1], bias]), ("sum", []),
                            ("join", [])], keras_version="1.2.2", backend="theano")
    inputs = data(path.name, 2, 4, 4, 3)
    return inputs, model.predict(inputs, verbose=0)


def cudnn_kernel(kernel, count):
    """Each gate's kernel, column by column."""
    return np.hstack([k.T.reshape(k.shape) for k in np.hsplit(kernel, count)])


@case("cudnn.h5")
def cudnn(path):
    """Keras 2's layers for GPUs, one of them in a model within."""
    layers = keras.layers
    inside = keras.Input((4, 3), name="inside")
    lstm = layers.LSTM(5, return_sequences=True, name="lstm")
    inner = keras.Model(inside, layers.BatchNormalization(name="norm")(lstm(inside)), name="inner")
    x = keras.Input((4, 3), name="x")
    gru = layers.GRU(2, name="gru")
    model = keras.Model(x, layers.Bidirectional(gru, name="both")(inner(x)))
    fill(model)
    both, norm = model.get_layer("both"), inner.get_layer("norm")
    kernel, recurrent, bias = [w.numpy() for w in lstm.weights]
    split = np.concatenate([bias * 0.25, bias * 0.75])
    trained = [cudnn_kernel(kernel, 4), np.hstack([k.T for k in np.hsplit(recurrent, 4)]), split,
               *[w.numpy() for w in norm.trainable_weights]]
    grus = []
    for half in (both.forward_layer, both.backward_layer):
        kernel, recurrent, bias = [w.numpy() for w in half.weights]
        grus += [cudnn_kernel(kernel, 3), np.hstack([k.T for k in np.hsplit(recurrent, 3)]),
                 bias.reshape(-1)]
    recurrent = dict(kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal",
                     bias_initializer="zeros", return_state=False, go_backwards=False,
                     stateful=False)

    def entry(kind, name, config, *nodes):
        return {"name": name, "class_name": kind, "config": {"name": name, **config},
                "inbound_nodes": [[[node, index, 0, {}]] for node, index in nodes]}

    inner_config = {"name": "inner", "layers": [
        entry("InputLayer", "inside", {"batch_input_shape": [None, 4, 3], "dtype": "float32"}),
        entry("CuDNNLSTM", "lstm", {"units": 5, "unit_forget_bias": True, "return_sequences": True,
                                    **recurrent}, ("inside", 0)),
        entry("BatchNormalization", "norm", {"axis": -1, "epsilon": 0.001}, ("lstm", 0))],
        "input_layers": [["inside", 0, 0]], "output_layers": [["norm", 0, 0]]}
    layer = {"class_name": "CuDNNGRU", "config": {"name": "gru", "units": 2,
                                                  "return_sequences": False, **recurrent}}
    config = {"class_name": "Model", "config": {"name": "m", "layers": [
        entry("InputLayer", "x", {"batch_input_shape": [None, 4, 3], "dtype": "float32"}),
        {"name": "inner", "class_name": "Model", "config": inner_config,
         "inbound_nodes": [[["x", 0, 0, {}]]]},
        entry("Bidirectional", "both", {"merge_mode": "concat", "layer": layer}, ("inner", 1))],
        "input_layers": [["x", 0, 0]], "output_layers": [["both", 0, 0]]}}
    others = [w.numpy() for w in norm.non_trainable_weights]
    old_file(path, config, [("x", []), ("inner", trained + others), ("both", grus)],
             keras_version="2.2.4", backend="tensorflow")
    inputs = data(path.name, 2, 4, 3)
    return inputs, model.predict(inputs, verbose=0)


def keras2_hard_sigmoid(path):
    """What Keras 2 calls hard_sigmoid, wherever an activation stands."""
    import tf_keras

    layers = tf_keras.layers
    hard = dict(recurrent_activation="hard_sigmoid")
    x = tf_keras.Input((4, 3), name="x")
    y = layers.LSTM(5, return_sequences=True, name="lstm", **hard)(x)
    y = layers.RNN(layers.LSTMCell(3, **hard), return_sequences=True, name="rnn")(y)
    y = layers.Bidirectional(layers.GRU(2, name="gru", **hard), name="both")(y)
    y = layers.Dense(3, activation="hard_sigmoid", name="dense")(y)
    y = layers.Activation("hard_sigmoid", name="last")(layers.Rescaling(5, -2.5, name="more")(y))
    model = tf_keras.Model(x, y, name="model")
    fill(model)
    model.save(path)
    inputs = data(path.stem, 3, 4, 3)
    return inputs, model.predict(inputs, verbose=0)


case("keras2_hard_sigmoid.h5")(keras2_hard_sigmoid)
case("keras2_hard_sigmoid.keras")(keras2_hard_sigmoid)


def keras2_training(file, optimizer, loss_object=False):
    """A model of Keras 2 that was trained for three steps, and the losses of the next three."""

    def save(path):
        import tf_keras

        layers = tf_keras.layers
        x = tf_keras.Input((4,), name="x")
        y = layers.BatchNormalization(name="norm")(layers.Dense(3, name="first")(x))
        model = tf_keras.Model(x, layers.Dense(2, name="second")(y), name="model")
        fill(model)
        loss = tf_keras.losses.MeanSquaredError() if loss_object else "mse"
        model.compile(optimizer(tf_keras.optimizers), loss, metrics=["mae"])
        inputs, targets = data("keras2 inputs", 6, 4), data("keras2 targets", 6, 2)
        how = dict(batch_size=6, epochs=3, shuffle=False, verbose=0)
        model.fit(inputs, targets, **how)
        model.save(path)
        outputs = model.predict(inputs, verbose=0)
        again = tf_keras.models.load_model(path)
        losses = again.fit(inputs, targets, **how).history["loss"]
        np.testing.assert_allclose(losses, model.fit(inputs, targets, **how).history["loss"], 1e-5)
        return inputs, outputs, {"targets": encode.structure(targets), "losses": losses}

    case(file)(save)


keras2_training("keras2_adam.h5", lambda all: all.Adam(0.01, amsgrad=True), True)
keras2_training("keras2_adam.keras", lambda all: all.Adam(0.01, amsgrad=True), True)
keras2_training("keras2_sgd.keras", lambda all: all.SGD(0.1))
keras2_training("keras2_rmsprop.h5", lambda all: all.RMSprop(0.01, momentum=0.5, centered=True))
keras2_training("keras2_10_adam.h5", lambda all: all.legacy.Adam(0.01, amsgrad=True))
keras2_training("keras2_10_sgd.h5", lambda all: all.legacy.SGD(0.1, momentum=0.9))


def settle(path):
    """The same archive without the time at which it was made, and without memory addresses."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    metadata = json.loads(members["metadata.json"]) | {"date_saved": "1980-01-01@00:00:00"}
    members["metadata.json"] = json.dumps(metadata).encode()
    members["config.json"] = json.dumps(encode.config(json.loads(members["config.json"]))).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, contents in members.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), contents)


def write(folder, only):
    if only is not None and FOLDER not in only:
        return
    folder = folder / FOLDER
    folder.mkdir(exist_ok=True)
    entries = []
    for file, save in CASES.items():
        keras.utils.clear_session()
        keras.utils.set_random_seed(0)
        inputs, outputs, *more = save(folder / file)
        if file.endswith(".keras"):
            settle(folder / file)
        entry = {"file": file, "inputs": encode.structure(inputs),
                 "outputs": encode.structure(outputs)}
        entries.append(entry | (more[0] if more else {}))
    lines = ",\n".join(json.dumps(entry) for entry in entries)
    (folder / "saved.json").write_text(f"[\n{lines}\n]\n")
