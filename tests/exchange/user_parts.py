"""Layers, losses and so on of a user in Python, and models with them; user_parts.cpp has the same in C++.

`Blend` alone has no C++: it is a functional model of another class."""

import pathlib

import keras
import numpy as np
from keras import ops

registered = keras.saving.register_keras_serializable(package="mine")


@registered
class Swirl(keras.layers.Layer):
    """Keeps a table beside its weights and words in a file."""

    def __init__(self, factor=2.0, **options):
        super().__init__(**options)
        self.factor = factor
        self.table = np.array([0.5, 0.25], "float32")
        self.words = "none"

    def build(self, input_shape):
        self.kernel = self.add_weight(shape=(input_shape[-1],), initializer="ones", name="kernel")

    def call(self, x):
        return x * self.kernel * self.factor + float(self.table.sum()) + len(self.words)

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return super().get_config() | {"factor": self.factor}

    def save_own_variables(self, store):
        super().save_own_variables(store)
        store["table"] = self.table

    def load_own_variables(self, store):
        self.kernel.assign(store["0"])
        self.table = np.array(store["table"])

    def save_assets(self, folder):
        (pathlib.Path(folder) / "words.txt").write_text(self.words)

    def load_assets(self, folder):
        self.words = (pathlib.Path(folder) / "words.txt").read_text()


@registered
class Shift(keras.layers.Layer):
    """Gives its weight a name in files."""

    def build(self, input_shape):
        self.offset = self.add_weight(shape=(input_shape[-1],), initializer="zeros", name="offset")

    def call(self, x):
        return x + self.offset

    def save_own_variables(self, store):
        store["offset"] = ops.convert_to_numpy(self.offset)

    def load_own_variables(self, store):
        self.offset.assign(store["offset"])


@registered
def twist(x):
    return x * ops.sigmoid(2 * x)


@registered
class Filled(keras.initializers.Initializer):
    def __init__(self, value=0.5):
        self.value = value

    def __call__(self, shape, dtype=None):
        return ops.full(shape, self.value, dtype=dtype)

    def get_config(self):
        return {"value": self.value}


@registered
def small(x):
    return 0.01 * ops.sum(ops.abs(x))


@registered
class Capped(keras.constraints.Constraint):
    def __init__(self, limit=1.0):
        self.limit = limit

    def __call__(self, w):
        return ops.minimum(w, self.limit)

    def get_config(self):
        return {"limit": self.limit}


@registered
class Bent(keras.losses.Loss):
    def __init__(self, power=3.0, name="bent", reduction="sum_over_batch_size", dtype=None):
        super().__init__(name=name, reduction=reduction, dtype=dtype)
        self.power = power

    def call(self, y_true, y_pred):
        return ops.mean(ops.power(ops.abs(y_true - y_pred), self.power), axis=-1)

    def get_config(self):
        return super().get_config() | {"power": self.power}


@registered
def far(y_true, y_pred):
    return ops.mean(ops.cast(ops.abs(y_true - y_pred) > 0.5, "float32"), axis=-1)


@registered
class Halving(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, start=0.1, steps=5.0):
        self.start, self.steps = start, steps

    def __call__(self, step):
        return self.start * ops.power(0.5, ops.cast(step, "float32") / self.steps)

    def get_config(self):
        return {"start": self.start, "steps": self.steps}


@registered
class Slow(keras.optimizers.Optimizer):
    def __init__(self, learning_rate=0.1, damping=0.5, name="slow", **options):
        super().__init__(learning_rate=learning_rate, name=name, **options)
        self.damping = damping

    def build(self, variables):
        if self.built:
            return
        super().build(variables)
        self.speeds = self.add_optimizer_variables(variables, "speed")

    def update_step(self, gradient, variable, learning_rate):
        speed = self.speeds[self._get_variable_index(variable)]
        self.assign(speed, speed * self.damping + gradient)
        self.assign_sub(variable, speed * ops.cast(learning_rate, variable.dtype))

    def get_config(self):
        return super().get_config() | {"damping": self.damping}


@registered
class Squash:
    """An activation that is an object."""

    def __init__(self, by=0.5):
        self.by = by

    def __call__(self, x):
        return ops.tanh(x * self.by)

    def get_config(self):
        return {"by": self.by}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


@registered
class Shrink(keras.regularizers.Regularizer):
    def __init__(self, factor=0.1):
        self.factor = factor

    def __call__(self, x):
        return self.factor * ops.sum(ops.square(x))

    def get_config(self):
        return {"factor": self.factor}


@registered
class Pulse(keras.layers.Layer):
    """A cell of a recurrent layer."""

    def __init__(self, units=2, activation="tanh", **options):
        super().__init__(**options)
        self.units, self.state_size = units, units
        self.activation = keras.activations.get(activation)

    def build(self, input_shape):
        self.kernel = self.add_weight(shape=(input_shape[-1], self.units), name="kernel")

    def call(self, x, states):
        y = self.activation(ops.matmul(x, self.kernel) + 0.5 * states[0])
        return y, [y]

    def get_config(self):
        activation = keras.activations.serialize(self.activation)
        return super().get_config() | {"units": self.units, "activation": activation}


@registered
class Twice(keras.layers.Wrapper):
    def call(self, x):
        return self.layer(x) + self.layer(x * 0.5)


@registered
class Tower(keras.layers.Layer):
    """Holds layers, one by itself and others in a list."""

    def __init__(self, units=3, **options):
        super().__init__(**options)
        self.units = units
        self.first = keras.layers.Dense(units, activation=twist, name="first")
        self.rest = [keras.layers.Dense(units, name="second"), Shift(name="third")]

    def build(self, input_shape):
        self.first.build(input_shape)
        for layer in self.rest:
            layer.build((*input_shape[:-1], self.units))

    def call(self, x):
        x = self.first(x)
        for layer in self.rest:
            x = layer(x)
        return x

    def get_config(self):
        return super().get_config() | {"units": self.units}


@registered
class Net(keras.Model):
    """A model with a `call` of its own."""

    def __init__(self, units=2, **options):
        super().__init__(**options)
        self.units = units
        self.body = keras.layers.Dense(4, activation="relu", name="body")
        self.head = keras.layers.Dense(units, name="head")

    def build(self, input_shape):
        self.body.build(input_shape)
        self.head.build((*input_shape[:-1], 4))

    def call(self, x):
        return self.head(self.body(x))

    def get_config(self):
        return super().get_config() | {"units": self.units}


@registered
class Off(keras.metrics.Metric):
    """A metric with variables of its own."""

    def __init__(self, limit=0.5, name="off", dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.limit = limit
        self.sum = self.add_weight(name="sum", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        far = ops.cast(ops.abs(y_true - y_pred) > self.limit, self.dtype)
        self.sum.assign(self.sum + ops.sum(far))

    def result(self):
        return ops.cast(self.sum, self.dtype)

    def get_config(self):
        return super().get_config() | {"limit": self.limit}


@registered
class Blend(keras.Model):
    """Functional models of another class."""


@registered
class Scaled(keras.Model):
    """A functional model of another class, with a number in its config, a step and a metric of its own."""

    def __init__(self, *args, scale, **kwargs):
        super().__init__(*args, **kwargs)
        self.scale = scale
        self.tracker = keras.metrics.Mean(name="tracked")

    def train_step(self, data):
        self.tracker.update_state(1.0)
        return super().train_step(data) | {"tracked": self.tracker.result()}

    def get_config(self):
        return super().get_config() | {"scale": self.scale}


@registered
class Row(keras.Sequential):
    """A Sequential of another class."""


def model(changed=True):
    x = keras.Input((4,), name="x")
    swirl = Swirl(factor=0.5, name="swirl")
    h = Shift(name="shift")(swirl(x))
    y = keras.layers.Dense(3, activation=twist, kernel_initializer=Filled(0.25),
                           kernel_regularizer=small, kernel_constraint=Capped(0.9), name="dense")(h)
    made = keras.Model(x, y, name="user_parts")
    if changed:
        swirl.table, swirl.words = np.array([-0.5, 0.125], "float32"), "two words"
    return made


def blend():
    x = keras.Input((4,), name="x")
    inside = Blend(x, keras.layers.Dense(4, activation="tanh", name="inner")(x), name="inside")
    y = keras.Input((4,), name="y")
    return Blend(y, keras.layers.Dense(2, name="outer")(inside(y)), name="blend")


def models():
    """Names and compiled models. They are not for .h5, which has no table, words or names of variables."""
    optimizers = keras.optimizers
    for name, optimizer in {"slow": Slow(Halving(0.05, 6.0), damping=0.25),
                            "scaled": optimizers.LossScaleOptimizer(Slow(0.02), initial_scale=8.0),
                            "adam": optimizers.Adam(Halving(0.02))}.items():
        made = model()
        made.compile(optimizer, Bent(power=2.0), metrics=[far])
        yield f"parts_{name}", made
    made = blend()
    made.compile("adam", "mse")
    yield "parts_blend", made
    x = keras.Input((4,), name="x")
    made = Scaled(x, keras.layers.Dense(2, name="d")(x), scale=3.0, name="scaled_model")
    made.compile("sgd", "mse")
    yield "parts_scaled_model", made
    made = Row([keras.Input((4,)), keras.layers.Dense(3, activation=Squash(0.25)), Tower(3)], name="row")
    made.compile("sgd", "mse", metrics=[[Off(0.25), "mae"]])
    yield "parts_row", made
    net = Net(2, name="net")
    net(np.zeros((1, 4), "float32"))
    net.compile(Slow(0.02), "mse", metrics=[far])
    yield "parts_net", net
    yield "parts_sequences", sequences()


def sequences():
    """Parts in recurrent layers and wrappers, and in dicts and lists of losses and metrics."""
    layers = keras.layers
    x = keras.Input((4,), name="x")
    steps = layers.Reshape((2, 2), name="steps")(x)
    lstm = layers.LSTM(2, activation=twist, recurrent_activation=Squash(2.0), return_sequences=True,
                       kernel_initializer=Filled(0.25), recurrent_constraint=Capped(0.75),
                       bias_regularizer=Shrink(0.25), name="lstm")(steps)
    both = layers.Bidirectional(layers.RNN(Pulse(2, activation=twist), return_sequences=True),
                                name="both")(lstm)
    stacked = layers.RNN(layers.StackedRNNCells([Pulse(3), layers.GRUCell(2), Pulse(2)]),
                         return_sequences=True, name="stacked")(both)
    h = layers.TimeDistributed(Swirl(0.5), name="each")(stacked)
    h = layers.Flatten(name="flat")(h)
    a = Twice(layers.Dense(4, activation=twist), name="a")(h)
    b = Tower(4, name="b")(h)
    made = keras.Model(x, {"a": a, "b": b}, name="parts_sequences")
    made.compile(keras.optimizers.SGD(Halving(0.02)), {"a": Bent(2.0), "b": "mse"},
                 metrics={"a": [far, Off(0.25)], "b": [Off(0.5)]})
    return made
