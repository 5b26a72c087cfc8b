"""Models that real Keras makes and saves, for Keratin to open. Each is a `Made`."""

import dataclasses
import pathlib
import sys

import keras
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "golden"))
from maker import encode, models, training, zoo  # noqa: E402
from maker.layers import add_noise, leaves  # noqa: E402


@dataclasses.dataclass
class Made:
    name: str
    model: object
    inputs: object
    targets: object = None
    batch_size: int = None
    told: dict = dataclasses.field(default_factory=dict)  # more to tell


# --- keras.applications, on images that are small but for those that refuse it

APPLICATIONS = {
    "ResNet50": 64, "MobileNetV2": 64, "MobileNetV3Small": 64, "EfficientNetB0": 64,
    "EfficientNetV2B0": 64, "DenseNet121": 64, "InceptionV3": 75, "Xception": 71,
    "NASNetMobile": 64, "ConvNeXtTiny": 64,
}
OF_PIXELS = ("MobileNetV3Small", "EfficientNetB0", "EfficientNetV2B0", "ConvNeXtTiny")


def patches(rng, count, size):
    """Images from -1 to 1 with something to see in them: noise alone is gone once it is averaged."""
    side = -(-size // 8)
    coarse = rng.uniform(-1, 1, (count, side, side, 3)).repeat(8, 1).repeat(8, 2)
    return 0.7 * coarse[:, :size, :size] + rng.uniform(-0.3, 0.3, (count, size, size, 3))


def as_if_trained(model, images, rng):
    """Statistics of real activations, and scales and biases that differ from channel to channel.
    What hardly varies over a few images must not be blown up: that multiplies rounding errors, too,
    until Keras itself is further from the truth than it may be from Keratin."""
    norms = [x for x in model.layers if isinstance(x, keras.layers.BatchNormalization)]
    momenta = [norm.momentum for norm in norms]
    for weight in model.weights:
        noise = rng.normal(0, 0.1, weight.shape)
        if weight.name == "gamma" or "layer_scale" in weight.path:
            weight.assign(1 + noise)
        elif weight.name in ("beta", "bias"):
            weight.assign(noise)
    for norm in norms:
        norm.momentum = 0.0
    model(images, training=True)
    for norm, momentum in zip(norms, momenta):
        norm.momentum = momentum
        mean, variance = np.asarray(norm.moving_mean), np.asarray(norm.moving_variance)
        deviation = np.sqrt(np.maximum(variance, variance.mean()) + mean**2 / 2)
        norm.moving_mean.assign_add(rng.normal(0, 0.1, deviation.shape) * deviation)
        norm.moving_variance.assign((rng.uniform(0.9, 1.2, deviation.shape) * deviation) ** 2)


def application(name, size):
    keras.utils.set_random_seed(1)
    rng = encode.generator("application", name)
    model = getattr(keras.applications, name)(
        weights=None, input_shape=(size, size, 3), classes=10, classifier_activation=None)
    images = patches(rng, 8, size).astype("float32")
    if name in OF_PIXELS:  # the others leave it to their users
        images = 127.5 + 127.5 * images
    as_if_trained(model, images, rng)
    return Made(name, model, images[:2])


def applications():
    for name, size in APPLICATIONS.items():
        yield application(name, size)


# --- The zoo of the golden files: every topology, masks, nesting, sharing, structures, operations

# A few of them with numbers of other kinds. TensorFlow cannot begin an LSTM in bfloat16.
PLAIN = ("dense_chain", "structured_io", "op_nodes", "nested_multi", "transformer_block",
         "residual_network")
RECURRENT = ("padded_lstm", "sequential_masked")
POLICIES = {"mixed_bfloat16": PLAIN + RECURRENT, "mixed_float16": PLAIN + RECURRENT,
            "float64": PLAIN + RECURRENT, "float16": PLAIN, "bfloat16": PLAIN}


# Keratin writes the shapes to build a layer by argument, and Layer.build, which the layer of these
# inherits, takes no such names: Keras cannot open them again.
ONE_WAY = ("optional_given", "optional_missing")


def zoo_model(entry, policy="float32"):
    keras.utils.clear_session()
    rng = encode.generator("exchange", entry.name, policy)
    data = leaves(lambda draw: draw(rng), entry.data)
    keras.config.set_dtype_policy(policy)
    model = models.build(entry, keras)
    keras.config.set_dtype_policy("float32")
    model(models.tensors(data))  # what is deferred is built
    add_noise(model, rng)
    name = f"zoo_{entry.name}" + ("" if policy == "float32" else f"_{policy}")
    told = {"lambdas": entry.lambdas} | ({"one_way": True} if entry.name in ONE_WAY else {})
    return Made(name, model, data, told=told)


def zoo_models():
    for entry in zoo.ZOO.values():
        yield zoo_model(entry)
    for policy, names in POLICIES.items():
        for name in names:
            yield zoo_model(zoo.ZOO[name], policy)


# --- Models that are half trained


def optimizers():
    """Each with state of its own kind, in the middle of it."""
    o = keras.optimizers
    schedule = o.schedules.ExponentialDecay(0.05, 4, 0.8)
    warmup = o.schedules.CosineDecay(0.01, 20, warmup_target=0.05, warmup_steps=7)
    return {
        "sgd": o.SGD(0.05), "momentum": o.SGD(0.05, momentum=0.9),
        "nesterov": o.SGD(0.05, momentum=0.9, nesterov=True, clipnorm=0.5),
        "rmsprop": o.RMSprop(0.01), "rmsprop_centered": o.RMSprop(0.01, momentum=0.5, centered=True),
        "adam": o.Adam(0.02), "amsgrad": o.Adam(0.02, amsgrad=True, clipvalue=0.3),
        "adamw": o.AdamW(0.02, weight_decay=0.1, global_clipnorm=0.7), "adamax": o.Adamax(0.02),
        "nadam": o.Nadam(0.02), "adagrad": o.Adagrad(0.1), "adadelta": o.Adadelta(0.5),
        "ftrl": o.Ftrl(0.1), "lion": o.Lion(0.01), "lamb": o.Lamb(0.02),
        "adafactor": o.Adafactor(0.02), "muon": o.Muon(0.02),
        "schedule": o.SGD(schedule, momentum=0.5), "warmup": o.Adam(warmup),
        "averaged": o.Adam(0.02, use_ema=True, ema_momentum=0.8, ema_overwrite_frequency=5),
        "accumulated": o.Adam(0.02, gradient_accumulation_steps=4),
        "loss_scale": o.LossScaleOptimizer(o.Adam(0.02), initial_scale=64.0,
                                           dynamic_growth_steps=5),
    }


def half_trained(name, model, inputs, targets, batch_size):
    model.run_eagerly = True
    model.fit(inputs, targets, batch_size=batch_size, epochs=2, verbose=0, shuffle=False)
    return Made(name, model, inputs, targets, batch_size)


def optimized(name, optimizer):
    rng = encode.generator("exchange", "optimizer", name)
    x = keras.Input((6,), name="x")
    h = keras.layers.Dense(8, activation="tanh", name="hidden")(x)
    y = keras.layers.Dense(2, name="out")(keras.layers.BatchNormalization(name="norm")(h))
    model = keras.Model(x, y, name=name)
    add_noise(model, rng)
    model.compile(optimizer, "mse", metrics=["mae"])
    inputs = rng.normal(size=(10, 6)).astype("float32")
    return half_trained(f"optimizer_{name}", model, inputs, inputs[:, :2] * inputs[:, 2:4], 4)


def case_of_training(name):
    """A case of the golden files, without what belongs to a call of fit."""
    keras.utils.clear_session()
    keras.utils.set_random_seed(1)
    made = training.CASES[name]()
    model = made["model"]
    add_noise(model, encode.generator("exchange", "training", name))
    model.compile(**made["compile"])
    result = half_trained(f"training_{name}", model, made["x"], made["y"], made["fit"]["batch_size"])
    # Saved at once, Keratin leaves out the state of the optimizer that scales the loss by itself.
    result.told = {"one_way": True} if name == "mixed_float16" else {}
    return result


def trained():
    for name, optimizer in optimizers().items():
        keras.utils.clear_session()
        yield optimized(name, optimizer)
    for name in training.CASES:
        if name != "stateful":  # it takes one batch at a time, and here it would be given all rows
            yield case_of_training(name)
