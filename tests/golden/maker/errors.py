"""What Keras says when something is wrong: pieces of code and their messages."""

import re
import warnings

import keras
import numpy as np

from maker import custom, encode
from maker.spec import function

# Each case is code whose last step fails or warns; where Keras accepts it, its kind is "none".
CASES = {
    # --- Graphs
    "disconnected graph": """
        a, b = Input((3,), name="a"), Input((3,), name="b")
        y = layers.Add(name="add")([layers.Dense(3, name="dense")(a), b])
        Model(a, y)""",
    "disconnected graph through a layer of one input": """
        a, b = Input((3,), name="a"), Input((3,), name="b")
        Model(a, layers.Dense(3, name="dense")(b))""",
    "disconnected graph with two outputs": """
        a, b = Input((3,), name="a"), Input((3,), name="b")
        Model([a], [layers.Dense(2, name="p")(a), layers.Dense(2, name="q")(b)])""",
    "disconnected graph with a dict of outputs": """
        a, b = Input((3,), name="a"), Input((3,), name="b")
        Model([a], {"p": layers.Dense(2, name="p")(a), "q": layers.Dense(2, name="q")(b)})""",
    "two layers of one name": """
        x = Input((3,), name="x")
        Model(x, layers.Dense(3, name="same")(layers.Dense(3, name="same")(x)))""",
    "a layer named as the input": """
        x = Input((3,), name="x")
        Model(x, layers.Dense(3, name="x")(x))""",
    "two inputs of one name": """
        a, b = Input((3,), name="x"), Input((3,), name="x")
        Model([a, b], layers.Add(name="add")([a, b]))""",
    "no inputs": """
        Model([], layers.Dense(2)(Input((3,))))""",
    "an input that is not a tensor": """
        Model(np.ones((2, 3)), layers.Dense(2)(Input((3,))))""",
    "an output that is not a tensor": """
        Model(Input((3,), name="x"), np.ones((2, 3)))""",
    "no outputs": """
        Model(Input((3,), name="x"), [])""",
    "unknown layer by name": """
        chain().get_layer("missing")""",
    "unknown layer by index": """
        chain().get_layer(index=7)""",
    "layer by name and index": """
        chain().get_layer(name="hidden", index=1)""",
    "layer by nothing": """
        chain().get_layer()""",
    "layers cannot be set": """
        chain().layers = []""",
    "name with a slash": """
        layers.Dense(3, name="a/b")""",
    "name that is no string": """
        layers.Dense(3, name=7)""",
    "Input without a shape": """
        Input()""",
    "Input with shape and batch_shape": """
        Input((3,), batch_shape=(2, 3))""",
    "Input with batch_size and batch_shape": """
        Input(batch_size=2, batch_shape=(2, 3))""",
    "iterating over a symbolic tensor": """
        list(Input((3,)))""",
    "a symbolic tensor as a boolean": """
        bool(Input((3,)))""",
    "a symbolic tensor as an array": """
        np.array(Input((3,)))""",
    # --- Calling models
    "model called with too few tensors": """
        two_inputs()([ones(2, 3)])""",
    "model called with too many tensors": """
        two_inputs()([ones(2, 3), ones(2, 3), ones(2, 3)])""",
    "model of one input called with two": """
        chain()([ones(2, 3), ones(2, 3)])""",
    "model of one input called with a dict of another name": """
        chain()({"y": ones(2, 3)})""",
    "model of two inputs called with a dict that lacks one": """
        two_inputs()({"a": ones(2, 3)})""",
    "model of two inputs called with one tensor": """
        two_inputs()(ones(2, 3))""",
    "model called with a wrong width": """
        chain()(ones(2, 4))""",
    "model called with a wrong rank": """
        chain()(ones(2, 4, 3))""",
    "model called with a fixed batch that differs": """
        x = Input(batch_shape=(2, 3), name="x")
        Model(x, layers.Dense(2)(x))(ones(4, 3))""",
    "model called with None": """
        two_inputs()([ones(2, 3), None])""",
    "dict of inputs whose key is not the name": """
        x = Input((3,), name="x")
        Model({"y": x}, layers.Dense(2)(x))""",
    "model called with another structure": """
        two_inputs()({"a": ones(2, 3), "b": ones(2, 3), "c": ones(2, 3)})""",
    "dict model called with a list": """
        a, b = Input((3,), name="a"), Input((3,), name="b")
        Model({"a": a, "b": b}, layers.Add()([a, b]))([ones(2, 3), ones(2, 3)])""",
    # Keras accepts these
    "a missing last axis of size 1": """
        x = Input((3, 1), name="x")
        Model(x, layers.Flatten()(x))(ones(2, 3))""",
    "a surplus last axis of size 1": """
        chain()(ones(2, 3, 1))""",
    "a list of one for a model of one input": """
        chain()([ones(2, 3)])""",
    "a dict for a list of inputs": """
        two_inputs()({"b": ones(2, 3), "a": ones(2, 3)})""",
    "integers for a float input": """
        chain()(np.ones((2, 3), "int32"))""",
    # --- Sequential
    "Sequential: a layer of the same name": """
        Sequential([layers.Dense(2, name="same"), layers.Dense(2, name="same")])""",
    "Sequential: two inputs": """
        Sequential([Input((3,)), Input((3,))])""",
    "Sequential: an input after a layer": """
        Sequential([layers.Dense(2), Input((2,))])""",
    "Sequential: not a layer": """
        Sequential([3])""",
    "Sequential: a layer with two outputs": """
        Sequential([Input((3,)), layers.Lambda(lambda x: [x, x]), layers.Dense(2)])""",
    "Sequential: pop from nothing": """
        Sequential().pop()""",
    "Sequential: not built": """
        Sequential([layers.Dense(2)]).inputs""",
    "Sequential: output of what is not built": """
        Sequential([layers.Dense(2)]).output""",
    "Sequential: layers that do not fit": """
        Sequential([Input((3,)), layers.Flatten(), layers.Conv2D(2, 2, name="conv")])""",
    "Sequential: call of nothing": """
        Sequential([])(ones(2, 3))""",
    # --- clone_model
    "clone: not a model": """
        clone_model(layers.Dense(2))""",
    "clone: unknown argument": """
        clone_model(chain(), other=3)""",
    "clone: clone_function that is no function": """
        clone_model(chain(), clone_function=3)""",
    "clone: input_tensors of another structure": """
        clone_model(two_inputs(), input_tensors=(Input((3,)),))""",
    "clone: dict of input tensors for a list": """
        clone_model(two_inputs(), input_tensors={"a": Input((3,)), "b": Input((3,))})""",
    "clone: tuple of input tensors for a dict": """
        x, y = Input((2,), name="x"), Input((2,), name="y")
        model = Model(dict(x=x, y=y), dict(z=x + y))
        clone_model(model, input_tensors=(Input((2,)), Input((2,))))""",
    "clone: input_tensors that are arrays": """
        clone_model(chain(), input_tensors=ones(2, 3))""",
    "clone: input tensors of another width": """
        clone_model(chain(), input_tensors=Input((5,), name="wide"))""",
    "clone: Sequential on two tensors": """
        clone_model(stack(), input_tensors=[Input((3,)), Input((3,))])""",
    "clone: Sequential on an array": """
        clone_model(stack(), input_tensors=ones(2, 3))""",
    "clone: Sequential with call_function": """
        clone_model(stack(), call_function=lambda layer, x: layer(x))""",
    "clone: Sequential on a tensor in the middle": """
        clone_model(stack(), input_tensors=layers.Dense(3)(Input((3,))))""",
    "clone: empty Sequential": """
        clone_model(Sequential())""",
    "clone: subclassed with clone_function": """
        clone_model(Subclassed(), clone_function=lambda layer: layer)""",
    "clone: subclassed with input_tensors": """
        clone_model(Subclassed(), input_tensors=[Input((3,))])""",
    "clone: subclassed with call_function": """
        clone_model(Subclassed(), call_function=lambda layer, x: layer(x))""",
    "clone: a Lambda": """
        x = Input((1,), name="x")
        a, b = layers.Lambda(lambdas("twice"), name="split")(x)
        clone_model(Model(x, layers.Add(name="add")([a, b])))""",
    "clone: a Lambda of a named function": """
        def double(x):
            return 2 * x
        x = Input((1,), name="x")
        clone_model(Model(x, layers.Lambda(double, name="double")(x)))""",
    "clone: an optional input is not optional any more": """
        x, y = Input((2,), name="x"), Input((2,), name="maybe", optional=True)
        clone_model(Model([x, y], own.AddIfThere(name="add")(x, y)))([ones(2, 2), None])""",
    # --- Configs
    "config: loop or missing node": """
        config = chain().get_config()
        config["layers"][1]["inbound_nodes"][0]["args"][0]["config"]["keras_history"][0] = "out"
        Model.from_config(config)""",
    "config: unknown layer class": """
        keras.saving.deserialize_keras_object(
            {"module": "keras.layers", "class_name": "Missing", "config": {}})""",
    "config: custom class that is not registered": """
        keras.saving.deserialize_keras_object(
            {"module": None, "class_name": "Own", "config": {}, "registered_name": "pack>Own"})""",
    "config: unknown argument": """
        layers.Dense.from_config({"units": 3, "colour": "red"})""",
    "config: a Lambda": """
        layers.Lambda.from_config(layers.Lambda(lambdas("square")).get_config())""",
    # --- Masks
    "mask is destroyed": """
        layers.Conv1D(2, 2, name="conv")(layers.Masking()(ones(2, 4, 3)))""",
    "mask is destroyed in a graph": """
        layers.Flatten(name="flatten")(layers.Masking()(Input((4, 3))))""",
    "merge: mask that is no list": """
        layers.Add().compute_mask([ones(2, 3), ones(2, 3)], ones(2))""",
    "merge: inputs that are no list": """
        layers.Add().compute_mask(ones(2, 3), [None, None])""",
    "merge: another number of masks": """
        layers.Add().compute_mask([ones(2, 3), ones(2, 3)], [None])""",
    "concatenate: mask that is no list": """
        layers.Concatenate().compute_mask([ones(2, 3), ones(2, 3)], ones(2))""",
    "concatenate: inputs that are no list": """
        layers.Concatenate().compute_mask(ones(2, 3), [None, None])""",
    "concatenate: another number of masks": """
        layers.Concatenate().compute_mask([ones(2, 3), ones(2, 3)], [None])""",
    "attention: masks that are no list": """
        layers.Attention()([ones(2, 3, 4), ones(2, 5, 4)], mask=ones(2, 3))""",
    "attention: too many masks": """
        layers.Attention()([ones(2, 3, 4), ones(2, 5, 4)], mask=[None, None, None])""",
    "time distributed: mask of one axis": """
        layers.TimeDistributed(layers.Dense(2))(ones(2, 3, 4), mask=ones(2) > 0)""",
    "time distributed: mask of other times": """
        layers.TimeDistributed(layers.Dense(2))(ones(2, 3, 4), mask=ones(2, 5) > 0)""",
    # --- Inputs of layers
    "rank too low": """
        layers.Dense(3, name="dense")(ones(4))""",
    "rank differs": """
        layers.Conv2D(3, 2, name="conv")(ones(2, 4, 3))""",
    "rank too high": """
        layers.GlobalMaxPooling1D(name="pool")(ones(2, 3, 4, 2))""",
    "axis differs": """
        dense = layers.Dense(3, name="dense")
        dense(ones(2, 4))
        dense(ones(2, 5))""",
    "axis differs in a graph": """
        dense = layers.Dense(3, name="dense")
        dense(Input((4,)))
        dense(Input((5,)))""",
    "shape differs": """
        layer = layers.Dense(3, name="dense")
        layer.input_spec = keras.layers.InputSpec(shape=(None, 4))
        layer(ones(2, 5))""",
    "rank above the limit": """
        layer = layers.Dense(3, name="dense")
        layer.input_spec = keras.layers.InputSpec(max_ndim=2)
        layer(ones(2, 5, 3))""",
    "dtype differs": """
        layer = layers.Dense(3, name="dense")
        layer.input_spec = keras.layers.InputSpec(dtype="float64")
        layer(ones(2, 5))""",
    "number of inputs differs": """
        layer = layers.Dense(3, name="dense")
        layer.input_spec = [keras.layers.InputSpec(ndim=2), keras.layers.InputSpec(ndim=2)]
        layer(ones(2, 5))""",
    "unknown last axis": """
        layers.Dense(3, name="dense")(Input((None,)))""",
    "positional argument that is no tensor": """
        layers.Dense(3)("text")""",
    "Wrapper of no layer": """
        layers.Wrapper(3)""",
    "Wrapper is called": """
        layers.Wrapper(layers.Dense(2))(ones(2, 3))""",
    "merge: one input": """
        layers.Add()([ones(2, 3)])""",
    "merge: not a list": """
        layers.Add()(ones(2, 3))""",
    "merge: shapes": """
        layers.Add()([ones(2, 3), ones(2, 4)])""",
    "merge: batch sizes": """
        layers.Add()([Input(batch_shape=(2, 3)), Input(batch_shape=(4, 3))])""",
    "subtract: three": """
        layers.Subtract()([ones(2, 3)] * 3)""",
    "concatenate: shapes": """
        layers.Concatenate(axis=1)([ones(2, 3, 4), ones(2, 3, 5)])""",
    "concatenate: one input": """
        layers.Concatenate()([ones(2, 3)])""",
    "dot: shapes": """
        layers.Dot(axes=1)([ones(2, 3), ones(2, 4)])""",
    "dot: axes": """
        layers.Dot(axes="x")""",
    "dot: three": """
        layers.Dot(axes=1)([ones(2, 3)] * 3)""",
    "dense: units": """
        layers.Dense(-1)""",
    "embedding: rank of weights": """
        layers.Embedding(3, 2, weights=[np.ones((4, 2))])(ones(2, 3))""",
    "reshape: sizes": """
        layers.Reshape((3, 5), name="reshape")(ones(2, 4, 3))""",
    "reshape: two unknown": """
        layers.Reshape((-1, -1), name="reshape")(ones(2, 4, 3))""",
    "permute: dims": """
        layers.Permute((1, 3))""",
    "repeat: no number": """
        layers.RepeatVector(1.5)""",
    "cropping: too much": """
        layers.Cropping1D((3, 3), name="crop")(ones(2, 5, 3))""",
    "conv: groups": """
        layers.Conv2D(3, 2, groups=2)""",
    "conv: groups and channels": """
        layers.Conv2D(4, 2, groups=2, name="conv")(ones(2, 5, 5, 3))""",
    "conv: strides and dilation": """
        layers.Conv2D(4, 2, strides=2, dilation_rate=2)""",
    "conv: padding": """
        layers.Conv2D(4, 2, padding="around")""",
    "conv: causal in two dimensions": """
        layers.Conv2D(4, 2, padding="causal")""",
    "conv: kernel over the input": """
        layers.Conv1D(2, 5, name="conv")(ones(2, 3, 4))""",
    "separable: causal": """
        layers.SeparableConv1D(2, 3, padding="causal")""",
    "pool: size": """
        layers.MaxPooling2D(0)""",
    "activation: unknown": """
        layers.Dense(3, activation="missing")""",
    "relu: threshold": """
        layers.ReLU(threshold=-0.5)""",
    "leaky relu: slope": """
        layers.LeakyReLU(negative_slope=None)""",
    "initializer: unknown": """
        layers.Dense(3, kernel_initializer="missing")""",
    "dropout: rate": """
        layers.Dropout(1.5)""",
    "dropout: rate is no number": """
        layers.Dropout("half")""",
    "normalization: axis": """
        layers.BatchNormalization(axis=3, name="norm")(ones(2, 3))""",
    "normalization: axis type": """
        layers.LayerNormalization(axis="last")""",
    "group normalization: too many groups": """
        layers.GroupNormalization(groups=5, name="norm")(ones(2, 4, 3))""",
    "group normalization: does not divide": """
        layers.GroupNormalization(groups=2, name="norm")(ones(2, 4, 3))""",
    "rms normalization: another axis than the last": """
        layers.RMSNormalization(axis=1, name="norm")(ones(2, 4, 5))""",
    "recurrent: rank": """
        layers.LSTM(3, name="lstm")(ones(2, 3))""",
    "recurrent: units": """
        layers.LSTM(0)""",
    "recurrent: number of states": """
        layers.LSTM(3, name="lstm")(ones(2, 4, 3), initial_state=[ones(2, 3)])""",
    "recurrent: size of a state": """
        layers.GRU(3, name="gru")(ones(2, 4, 3), initial_state=ones(2, 5))""",
    "recurrent: cell without a call": """
        layers.RNN(3)""",
    "recurrent: stateful of unknown batch": """
        layers.LSTM(3, stateful=True, name="lstm")(Input((4, 3)))""",
    "recurrent: reset before a call": """
        layers.LSTM(3).reset_state()""",
    "recurrent: stateful, another batch": """
        layer = layers.LSTM(3, stateful=True, name="lstm")
        layer(ones(2, 4, 3))
        layer(ones(3, 4, 3))""",
    "bidirectional: not a layer": """
        layers.Bidirectional(3)""",
    "bidirectional: no recurrent layer": """
        layers.Bidirectional(layers.Dense(3))""",
    "bidirectional: merge mode": """
        layers.Bidirectional(layers.LSTM(3), merge_mode="mix")""",
    "bidirectional: both backwards": """
        layers.Bidirectional(layers.LSTM(3, go_backwards=True))""",
    "bidirectional: backward layer differs": """
        layers.Bidirectional(layers.LSTM(3), backward_layer=layers.LSTM(3, return_sequences=True,
                                                                        go_backwards=True))""",
    "bidirectional: number of states": """
        layers.Bidirectional(layers.LSTM(3))(ones(2, 4, 3), initial_state=[ones(2, 3)] * 3)""",
    "time distributed: rank": """
        layers.TimeDistributed(layers.Dense(2))(ones(2))""",
    "time distributed: not a layer": """
        layers.TimeDistributed(3)""",
    "attention: one input": """
        layers.Attention()([ones(2, 3, 4)])""",
    "attention: not a list": """
        layers.Attention()(ones(2, 3, 4))""",
    "attention: score mode": """
        layers.Attention(score_mode="cosine")""",
    "attention: negative dropout": """
        layers.Attention(dropout=-0.5)""",
    "grouped attention: heads": """
        layers.GroupQueryAttention(3, 4, 3)(ones(2, 3, 4), ones(2, 3, 4))""",
    "multi-head attention: sizes": """
        layers.MultiHeadAttention(2, 3)(ones(2, 3, 4), ones(2, 5, 4), ones(2, 6, 4))""",
    "normalization layer: mean alone": """
        layers.Normalization(mean=1.0)""",
    "lambda: not a function": """
        layers.Lambda(3)""",
    "lambda: shape unknown": """
        layers.Lambda(lambda x: undefined_name(x), name="broken")(Input((3,)))""",
    "trainable weights: wrong number": """
        chain().set_weights([np.ones((3, 3))])""",
    "weights: wrong shape": """
        chain().set_weights([np.ones((2, 2)), np.ones(4), np.ones((4, 2)), np.ones(2)])""",
    "constraint: unknown": """
        layers.Dense(3, kernel_constraint="missing")""",
    "regularizer: unknown": """
        layers.Dense(3, kernel_regularizer="missing")""",
    "regularizer: not a number": """
        keras.regularizers.L2(float("nan"))""",
    "initializer: identity of three axes": """
        keras.initializers.Identity()((2, 2, 2))""",
    "initializer: orthogonal vector": """
        keras.initializers.Orthogonal()((3,))""",
    "initializer: scale": """
        keras.initializers.VarianceScaling(scale=-1.0)""",
    "weight: another shape": """
        layer = layers.Dense(3)
        layer.build((None, 4))
        layer.kernel.assign(np.ones((2, 2)))""",
}


def ones(*shape):
    return keras.ops.ones(shape)


def chain():
    x = keras.Input((3,), name="x")
    y = keras.layers.Dense(4, name="hidden")(x)
    return keras.Model(x, keras.layers.Dense(2, name="out")(y), name="chain")


def two_inputs():
    a, b = keras.Input((3,), name="a"), keras.Input((3,), name="b")
    return keras.Model([a, b], keras.layers.Add(name="add")([a, b]), name="two")


def stack():
    return keras.Sequential([keras.Input((3,), name="x"), keras.layers.Dense(2, name="dense")],
                            name="stack")


class Subclassed(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(2)

    def call(self, x):
        return self.dense(x)


def clean(message):
    """Without colours, memory addresses and the paths of this machine."""
    message = re.sub(r"\x1b\[\d+m", "", message)
    message = re.sub(r"0x[0-9a-f]{6,}", "0x0", message)
    return re.sub(r"\{\{function_node \S+\}\} ", "", message)


def record(name, code):
    keras.utils.clear_session()
    keras.utils.set_random_seed(0)
    code = "\n".join(line[8:] for line in code.strip("\n").split("\n"))
    scope = dict(keras=keras, layers=keras.layers, ops=keras.ops, np=np, Input=keras.Input,
                 Model=keras.Model, Sequential=keras.Sequential, ones=ones, chain=chain,
                 two_inputs=two_inputs, stack=stack, Subclassed=Subclassed, lambdas=function,
                 clone_model=keras.models.clone_model, own=custom.layers(keras))
    entry = {"case": name, "code": code}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(code, scope)
        except Exception as error:
            return entry | {"kind": type(error).__name__, "message": clean(str(error))}
    if not caught:
        return entry | {"kind": "none", "message": ""}
    return entry | {"kind": "warning", "message": clean(str(caught[-1].message))}


def write(folder, only=None):
    if only is None or "errors" in only:
        encode.write(folder / "errors.json", [record(*case) for case in CASES.items()])
