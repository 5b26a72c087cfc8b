"""Models that Keras makes and saves, for Keratin to load. Each is a `Made`."""

import dataclasses
import inspect
import json
import pathlib
import sys

import keras
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "golden"))
from maker import custom, encode, models, training, zoo  # noqa: E402
from maker.layers import CASES, add_noise, class_of, leaves  # noqa: E402
from maker.spec import SAME, Draw, bits, make  # noqa: E402


@dataclasses.dataclass
class Made:
    name: str
    model: object
    inputs: object
    targets: object = None
    batch_size: int = None
    extra: dict = dataclasses.field(default_factory=dict)  # further entries of the record
    formats: tuple = (".keras", ".h5")


# --- keras.applications, on the smallest images that they take

APPLICATIONS = {
    "ResNet50": 64, "MobileNetV2": 64, "MobileNetV3Small": 64, "EfficientNetB0": 64,
    "EfficientNetV2B0": 64, "DenseNet121": 64, "InceptionV3": 75, "Xception": 71,
    "NASNetMobile": 64, "ConvNeXtTiny": 64,
}
OF_PIXELS = ("MobileNetV3Small", "EfficientNetB0", "EfficientNetV2B0", "ConvNeXtTiny")


def patches(rng, count, size):
    """Images from -1 to 1 with large patches: the average of noise alone would be zero."""
    side = -(-size // 8)
    coarse = rng.uniform(-1, 1, (count, side, side, 3)).repeat(8, 1).repeat(8, 2)
    return 0.7 * coarse[:, :size, :size] + rng.uniform(-0.3, 0.3, (count, size, size, 3))


def as_if_trained(model, images, rng):
    """Sets the statistics of real activations, and scales and biases that differ by channel.
    Activations that hardly vary over a few images are not normalised fully: this would multiply
    rounding errors until Keras's own error is larger than the tolerance."""
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
    if name in OF_PIXELS:  # the others take images from -1 to 1
        images = 127.5 + 127.5 * images
    as_if_trained(model, images, rng)
    return Made(name, model, images[:2])


def applications():
    for name, size in APPLICATIONS.items():
        yield application(name, size)


# --- Every layer: all golden cases of a class, side by side in one model


class Symbols:
    """Makes an input for each drawn tensor of a case; one that has a mask goes through Masking."""

    def __init__(self, rng, batch):
        self.rng, self.batch = rng, batch
        self.inputs, self.data = [], []

    def __call__(self, draw):
        value = draw(self.rng)
        if draw.mask is not None:
            value *= bits(draw.mask)[..., None].astype(value.dtype)
        dtype = value.dtype.name
        if value.dtype == object:
            value, dtype = np.char.encode(value.astype("U"), "utf-8"), "string"
        x = keras.Input(batch_shape=(self.batch, *value.shape[1:]), dtype=dtype)
        self.inputs.append(x)
        self.data.append(value)
        return x if draw.mask is None else keras.layers.Masking()(x)


def shape_of(draw):
    return draw.shape if isinstance(draw, Draw) else np.shape(draw.values)


# Cases of layers that no model of the exchange has: Keras cannot have them in a graph, or differs.
with open(pathlib.Path(__file__).with_name("left_out.json"), encoding="utf-8") as file:
    LEFT_OUT = json.load(file)
NOT_IN_MODELS = {(cls, case) for entry in LEFT_OUT for cls, cases in entry["cases"].items()
                 for case in cases}
# Every model has an InputLayer; a Wrapper cannot be called; `pipeline` has an Equalization.
NOT_IN_GRAPHS = ("InputLayer", "Wrapper", "Equalization")


def rows(case):
    """The number of samples of a case, or None if its inputs differ."""
    counts = set()
    leaves(lambda draw: counts.add(shape_of(draw)[0]), [case.inputs, case.kwargs])
    return counts.pop() if len(counts) == 1 else None


def masks_are_of_steps(case):
    """True if Masking can make the masks; other masks are in the golden files."""
    good = []
    leaves(lambda draw: good.append(draw.mask is None or
                                    bits(draw.mask).shape == shape_of(draw)[:-1]),
           [case.inputs, case.kwargs])
    return all(good)


def group_of(cls, case):
    """Cases of one group can be in one model. Keras would pass the `training` argument of one layer
    on to the layers after it."""
    args = case.args
    window = args["layer"].args if cls == "Bidirectional" else args
    has_kernel = "kernel_size" in window or "frame_length" in window
    compiled = window.get("data_format") == "channels_first" and has_kernel
    return (rows(case), args.get("stateful", False), compiled, args.get("dtype", "float32"),
            case.kwargs.get("training"))


def trains(cls, flag):
    """True if a call with this flag runs in training; some classes do so by default."""
    if flag is None:
        given = inspect.signature(class_of(cls).call).parameters.get("training")
        flag = given is not None and given.default
    return flag is True


def layer_model(cls, cases, number, group):
    keras.utils.clear_session()
    batch, stateful, compiled, *_ = group
    rng = encode.generator("exchange", cls, str(number))
    inputs, data, outputs, lambdas, adapted = [], [], {}, {}, []
    for case in cases:
        layer = class_of(cls)(**make(case.args))
        if case.adapt is not None:
            layer.adapt(case.adapt(rng))
            adapted.append(layer)
        symbols = Symbols(rng, batch if stateful else None)
        x = leaves(symbols, case.inputs)
        kwargs = {key: x if value is SAME else leaves(symbols, value)
                  for key, value in case.kwargs.items()}
        outputs[case.name] = layer(x, **kwargs)
        inputs += symbols.inputs
        data += symbols.data
        if "lambda" in case.notes:
            mask = case.notes.get("mask_lambda")
            lambdas[layer.name] = {"function": case.notes["lambda"]} | (
                {"mask": mask} if mask else {})
    model = keras.Model(inputs, outputs, name=f"all_{cls}")
    if not all(layer.built for layer in model._flatten_layers()):
        model(data)  # layers that are activations are built when they first run
    for layer in model.layers:
        if layer not in adapted:
            add_noise(layer, rng)
    record = ({"lambdas": lambdas} if lambdas else {}) | ({"compiled": True} if compiled else {})
    if trains(cls, group[-1]):
        record["training"] = True
    # Keras cannot load a Lambda whose function has default arguments, not even its own.
    if cls == "Lambda" and group[-1] is not None:
        record["one_way"] = True
    # An .h5 has no vocabularies that were learned.
    learned = adapted and cls not in ("Normalization", "Discretization")
    return Made(f"layer_{cls}_{number}", model, data, extra=record,
                formats=(".keras",) if learned else (".keras", ".h5"))


def cases_in_models():
    """Yields each class with its cases that can be in a model."""
    for cls, cases in CASES.items():
        if cls not in NOT_IN_GRAPHS:
            yield cls, [case for case in cases if (cls, case.name) not in NOT_IN_MODELS
                        and rows(case) and masks_are_of_steps(case)]


def layers():
    for cls, cases in cases_in_models():
        groups = {}
        for case in cases:
            groups.setdefault(group_of(cls, case), []).append(case)
        for number, (group, some) in enumerate(groups.items()):
            yield layer_model(cls, some, number, group)


def pipeline():
    keras.utils.clear_session()
    rng = encode.generator("exchange", "pipeline")
    steps = [keras.layers.Equalization(bins=64), keras.layers.Conv2D(2, 3), keras.layers.Flatten()]
    x = keras.Input((6, 5, 3))
    model = keras.Model(x, keras.layers.Dense(2)(keras.layers.Pipeline(steps)(x)))
    add_noise(model, rng)
    model.compile(keras.optimizers.SGD(1e-6), "mse")
    images = rng.uniform(0, 255, (4, 6, 5, 3)).astype("float32")
    # A Pipeline runs in training unless a call says otherwise.
    return half_trained("pipeline", model, images, images[:, 0, 0, :2], 2, extra={"training": True})


# --- Every layer in training: one case of a class, with a Dense behind it


def as_features(x, largest):
    """Numbers from -1 to 1, so that training does not diverge, as a matrix."""
    x = keras.ops.cast(x, "float32") * (1 / (largest + 1e-3))
    if len(x.shape) == 1:
        return keras.ops.expand_dims(x, 1)
    if None not in x.shape[1:]:
        return keras.layers.Flatten()(x)
    return keras.ops.expand_dims(keras.ops.mean(x, tuple(range(1, len(x.shape)))), 1)


def as_tensors(tree):
    return keras.tree.map_structure(keras.ops.convert_to_tensor, tree)


def head(outputs, values):
    """A Dense behind all outputs; None if there are only strings."""
    features = []
    for x, value in zip(keras.tree.flatten(outputs), keras.tree.flatten(values)):
        if x.dtype != "string":
            number = np.asarray(keras.ops.convert_to_numpy(value), "float64")
            features.append(as_features(x, float(np.abs(number).max(initial=0))))
    if not features:
        return None
    joined = features[0] if len(features) == 1 else keras.layers.Concatenate()(features)
    return keras.layers.Dense(2, name="head")(joined)


def dropouts(config):
    """The rates of all dropouts in a config."""
    if isinstance(config, dict):
        own = [config[key] for key in ("dropout", "recurrent_dropout") if key in config]
        return own + [rate for value in config.values() for rate in dropouts(value)]
    return [rate for value in config for rate in dropouts(value)] if isinstance(config, list) else []


def is_random(layer):
    """Recurrent and attention layers have seeds that they use for their dropouts alone."""
    rates = dropouts(layer.get_config())
    return len(layer.variables) > len(layer.weights) and not (rates and not any(rates))


def trained_layer(cls, case):
    """A trained model of one case; None if it is random or only has strings. It is called without
    the flag `training`, which Keras's fit would override."""
    keras.utils.clear_session()
    rng = encode.generator("exchange", "trained", cls)
    layer = class_of(cls)(**make(case.args))
    if case.adapt is not None:
        layer.adapt(case.adapt(rng))
    symbols = Symbols(rng, None)
    x = leaves(symbols, case.inputs)
    kwargs = {key: x if value is SAME else leaves(symbols, value)
              for key, value in case.kwargs.items() if key != "training"}
    outputs = layer(x, **kwargs)
    if is_random(layer):
        return None
    data = as_tensors(symbols.data)
    body = keras.Model(symbols.inputs, outputs)
    if case.adapt is None:
        add_noise(layer, rng)
    values = body(data)
    y = head(outputs, values)
    if y is None:
        return None
    model = keras.Model(symbols.inputs, y, name=f"trained_{cls}")
    model.compile(keras.optimizers.SGD(0.05), "mse")
    targets = rng.normal(size=(len(symbols.data[0]), 2)).astype("float32")
    made = half_trained(f"trained_{cls}", model, data, targets, 2)
    made.inputs, made.formats = symbols.data, (".keras",)
    return made


def trained_layers():
    for cls, cases in cases_in_models():
        for case in cases:
            _, stateful, compiled, dtype, _ = group_of(cls, case)
            plain = not stateful and not compiled and dtype == "float32"
            if plain and "lambda" not in case.notes and (made := trained_layer(cls, case)):
                yield made
                break


# --- The zoo of the golden files: every topology, masks, nesting, sharing, structures, operations

# Some of them have other dtypes. TensorFlow cannot start an LSTM in bfloat16.
PLAIN = ("dense_chain", "structured_io", "op_nodes", "nested_multi", "transformer_block",
         "residual_network")
RECURRENT = ("padded_lstm", "sequential_masked")
POLICIES = {"mixed_bfloat16": PLAIN + RECURRENT, "mixed_float16": PLAIN + RECURRENT,
            "float64": PLAIN + RECURRENT, "float16": PLAIN, "bfloat16": PLAIN}


def zoo_model(entry, policy="float32"):
    keras.utils.clear_session()
    rng = encode.generator("exchange", entry.name, policy)
    data = leaves(lambda draw: draw(rng), entry.data)
    keras.config.set_dtype_policy(policy)
    model = models.build(entry, keras)
    keras.config.set_dtype_policy("float32")
    model(models.tensors(data))  # builds deferred layers
    add_noise(model, rng)
    name = f"zoo_{entry.name}" + ("" if policy == "float32" else f"_{policy}")
    return Made(name, model, data, extra={"lambdas": entry.lambdas})


def zoo_models():
    for entry in zoo.ZOO.values():
        if entry.keras3:
            yield zoo_model(entry)
    for policy, names in POLICIES.items():
        for name in names:
            yield zoo_model(zoo.ZOO[name], policy)


# --- Partly trained models


def optimizers():
    """Optimizers with different kinds of state. ScheduleFreeAdamW is missing: run eagerly on
    TensorFlow, Keras uses the new momentum instead of the old one, unlike on JAX."""
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
        "multi": o.MultiOptimizer(o.OptimizerMap(o.SGD(0.05, momentum=0.9),
                                                 {"hidden/.*": o.Adam(0.02), "out/.*": o.SGD(0.02)})),
    }


def half_trained(name, model, inputs, targets, batch_size, **more):
    model.run_eagerly = True
    model.fit(inputs, targets, batch_size=batch_size, epochs=2, verbose=0, shuffle=False)
    return Made(name, model, inputs, targets, batch_size, **more)


def optimized(name, optimizer, k=keras):
    rng = encode.generator("exchange", "optimizer", name)
    x = k.Input((6,), name="x")
    h = k.layers.Dense(8, activation="tanh", name="hidden")(x)
    y = k.layers.Dense(2, name="out")(k.layers.BatchNormalization(name="norm")(h))
    model = k.Model(x, y, name=name)
    add_noise(model, rng)
    model.compile(optimizer, "mse", metrics=["mae"])
    inputs = rng.normal(size=(10, 6)).astype("float32")
    return half_trained(f"optimizer_{name}", model, inputs, inputs[:, :2] * inputs[:, 2:4], 4)


def in_mixed_float16():
    """Keras scales the loss by default here, and the config does not show it."""
    keras.utils.clear_session()
    keras.config.set_dtype_policy("mixed_float16")
    made = optimized("scaled_by_itself", keras.optimizers.Adam(0.02))
    keras.config.set_dtype_policy("float32")
    return made


def case_of_training(name):
    """A golden case of training, without its options of fit."""
    keras.utils.clear_session()
    keras.utils.set_random_seed(1)
    made = training.CASES[name]()
    model = made["model"]
    add_noise(model, encode.generator("exchange", "training", name))
    model.compile(**made["compile"])
    return half_trained(f"training_{name}", model, made["x"], made["y"], made["fit"]["batch_size"])


def noisy(name, x, y, targets, rate=0.05):
    """A model that trains on noise."""
    rng = encode.generator("exchange", "training", name)
    model = keras.Model(x, y, name=name)
    add_noise(model, rng)
    model.compile(keras.optimizers.SGD(rate), "mse")
    inputs = rng.normal(size=(10, *x.shape[1:]))
    inputs = np.abs(3 * inputs) if x.dtype == "int32" else inputs
    return half_trained(f"training_{name}", model, inputs.astype(x.dtype),
                        rng.normal(size=(10, *targets)).astype("float32"), 4)


def with_spectral_normalization():
    x = keras.Input((5, 4, 2))
    h = keras.layers.SpectralNormalization(keras.layers.Conv2D(3, 2, activation="tanh"))(x)
    h = keras.layers.AdaptiveAveragePooling2D((3, 2))(h)
    h = keras.layers.Flatten()(keras.layers.AdaptiveMaxPooling2D(2)(h))
    y = keras.layers.SpectralNormalization(keras.layers.Dense(2), power_iterations=2)(h)
    return noisy("spectral_normalization", x, y, (2,))


def with_spectrogram():
    x = keras.Input((40, 2))
    h = keras.layers.STFTSpectrogram("magnitude", frame_length=8, frame_step=4)(x)
    return noisy("spectrogram", x, keras.layers.Dense(1)(keras.layers.Flatten()(h)), (1,), 1e-4)


def with_reversible_embedding():
    x = keras.Input((5,), dtype="int32")
    table = keras.layers.ReversibleEmbedding(20, 4, logit_soft_cap=2.0)
    return noisy("reversible_embedding", x, table(table(x), reverse=True), (5, 20))


def trained_film():
    keras.utils.clear_session()
    rng = encode.generator("exchange", "film")
    x = keras.Input((3, 5, 4, 2), name="x")
    h = keras.layers.ConvLSTM2D(3, 2, return_sequences=True, name="first")(x)
    h = keras.layers.ConvLSTM2D(2, 2, padding="same", strides=2, name="second")(h)
    model = keras.Model(x, keras.layers.Dense(1)(keras.layers.Flatten()(h)), name="film")
    add_noise(model, rng)
    model.compile(keras.optimizers.Adam(0.02), "mse")
    films = rng.normal(size=(6, 3, 5, 4, 2)).astype("float32")
    return half_trained("film", model, films, films[:, -1, 2, 2, :1], 3)


def trained():
    yield pipeline()
    yield of_feature_space()
    yield trained_film()
    for name, optimizer in optimizers().items():
        keras.utils.clear_session()
        yield optimized(name, optimizer)
    yield in_mixed_float16()
    for name in training.CASES:
        if name != "stateful":  # has a fixed batch size, but is called with all rows here
            yield case_of_training(name)
    for make_model in (with_spectral_normalization, with_spectrogram, with_reversible_embedding):
        keras.utils.clear_session()
        yield make_model()


def of_feature_space():
    """A model with layers that only a FeatureSpace makes."""
    import tensorflow

    keras.utils.clear_session()
    rng = encode.generator("exchange", "feature space")
    data = {"age": rng.normal(size=(12, 1)).astype("float32"),
            "height": rng.normal(size=(12, 1)).astype("float32"),
            "kind": rng.choice(["cat", "dog", "ox"], size=(12, 1)).astype("S"),
            "count": rng.integers(0, 4, size=(12, 1))}
    features = keras.utils.FeatureSpace
    space = features({"age": features.float_normalized(), "height": features.float(),
                      "kind": features.string_categorical(), "count": features.integer_categorical()},
                     crosses=[features.cross(["kind", "count"], crossing_dim=4)])
    tensors = {name: tensorflow.constant(array) for name, array in data.items()}
    space.adapt(tensorflow.data.Dataset.from_tensor_slices(tensors))
    out = keras.layers.Dense(2, name="out")(space.get_encoded_features())
    return Made("feature_space", keras.Model(space.get_inputs(), out), data, formats=(".keras",))


def of_user_parts():
    import user_parts

    keras.utils.clear_session()
    for name, model in user_parts.models():
        rng = encode.generator("exchange", "parts", name)
        inputs = rng.normal(size=(10, 4)).astype("float32")
        targets = keras.tree.map_structure(lambda y: y[:, :4] * 0.5, model(inputs))
        targets = keras.tree.map_structure(keras.ops.convert_to_numpy, targets)
        yield half_trained(name, model, inputs, targets, 4)


# --- Keras 2


def keras2_model(entry):
    import tf_keras

    tf_keras.backend.clear_session()
    rng = encode.generator("exchange", "keras2", entry.name)
    data = leaves(lambda draw: draw(rng), entry.data)
    model = models.build(entry, tf_keras)
    model(models.tensors(data))
    add_noise(model, rng)
    return Made(f"zoo_{entry.name}", model, data,
                extra={"lambdas": entry.lambdas, "zoo": f"{entry.name}.keras2"})


def keras2_optimizers():
    from tf_keras import optimizers as o

    return {
        "sgd": o.SGD(0.05), "momentum": o.SGD(0.05, momentum=0.9, nesterov=True),
        "rmsprop": o.RMSprop(0.01), "adam": o.Adam(0.02), "amsgrad": o.Adam(0.02, amsgrad=True),
        "adamw": o.AdamW(0.02, weight_decay=0.1), "adagrad": o.Adagrad(0.1),
        "nadam": o.Nadam(0.02), "adamax": o.Adamax(0.02), "adadelta": o.Adadelta(0.5),
        "ftrl": o.Ftrl(0.1), "lion": o.Lion(0.01),
    }


def keras2_legacy_optimizers():
    """The optimizers of versions up to 2.10, whose state a .keras does not have. RMSprop and Adagrad
    are missing: they added epsilon at another point, which three epochs show."""
    from tf_keras.optimizers import legacy as o

    return {
        "decay": o.SGD(0.05, momentum=0.9, decay=0.3), "adam_decay": o.Adam(0.02, decay=0.2),
        "old_adamax": o.Adamax(0.02), "old_adadelta": o.Adadelta(0.5), "old_ftrl": o.Ftrl(0.1),
    }


# tf_keras gives a single mask to the first of two outputs only; Keras 2.2, whose rules Keratin
# follows, gives it to both.
NOT_OF_KERAS2 = ("fork_masked",)


def keras2_locally_connected():
    import tf_keras as k

    k.backend.clear_session()
    rng = encode.generator("exchange", "locally connected")
    x = k.Input((6, 5, 2), name="x")
    h = k.layers.LocallyConnected2D(2, 2, activation="tanh", name="windows")(x)
    h = k.layers.LocallyConnected2D(2, 2, padding="same", implementation=2, name="mask")(h)
    h = k.layers.Reshape((20, 2), name="reshape")(h)
    h = k.layers.ThresholdedReLU(0.1, name="relu")(h)
    h = k.layers.LocallyConnected1D(2, 3, strides=3, implementation=3, name="elements")(h)
    model = k.Model(x, k.layers.Dense(1, name="out")(k.layers.Flatten(name="flat")(h)))
    add_noise(model, rng)
    model.compile(k.optimizers.SGD(0.02), "mse")
    inputs, targets = rng.normal(size=(10, 6, 5, 2)), rng.normal(size=(10, 1))
    return half_trained("locally_connected", model, inputs.astype("float32"),
                        targets.astype("float32"), 4)


def keras2_images():
    """Layers that only Keras 2 has. Random ones are told not to augment."""
    import tf_keras as k

    k.backend.clear_session()
    rng = encode.generator("exchange", "images of Keras 2")
    x = k.Input((6, 5, 2), name="x")
    h = k.layers.RandomHeight(0.25, name="height")(x, training=False)
    h = k.layers.RandomWidth((0.1, 0.3), name="width")(h, training=False)
    h = k.layers.BatchNormalization(name="norm")(h)
    h = k.layers.GlobalAveragePooling2D(name="mean")(h)
    model = k.Model(x, k.layers.Dense(1, name="out")(h))
    add_noise(model, rng)
    return Made("images_of_keras2", model, rng.normal(size=(10, 6, 5, 2)).astype("float32"))


def keras2_models():
    import tf_keras

    yield keras2_locally_connected()
    yield keras2_images()
    for entry in zoo.ZOO.values():
        if entry.keras2 and entry.name not in NOT_OF_KERAS2:
            yield keras2_model(entry)
    for name, optimizer in keras2_optimizers().items():
        tf_keras.backend.clear_session()
        yield optimized(name, optimizer, tf_keras)
    for name, optimizer in keras2_legacy_optimizers().items():
        tf_keras.backend.clear_session()
        made = optimized(name, optimizer, tf_keras)
        made.formats = (".h5",)
        yield made


# --- Weights in the layouts of Keras 1


def permuted(*axes):
    """Permutes a kernel so that the given order of its axes is today's."""
    return lambda kernel, *rest: [kernel.transpose(np.argsort(axes)), *rest]


def by_gate(count):
    """Splits weights into those of each gate, one gate after the other."""
    def split(*weights):
        gates = [np.split(w, count, -1) for w in weights]
        return [of_weight[gate] for gate in range(count) for of_weight in gates]
    return split


def keras1_cases():
    """Layers, the shapes of their inputs, and functions that convert weights to old layouts."""
    from tf_keras import layers as k

    first = {"data_format": "channels_first"}
    flat = lambda kernel, bias: [kernel[:, None], bias]
    flat_1_1 = lambda kernel, bias: [kernel[:, None].transpose(3, 2, 0, 1), bias]
    as_now = lambda *weights: list(weights)
    return {
        "conv1": (k.Conv1D(4, 2), (6, 3), flat), "conv1_1": (k.Conv1D(4, 2), (6, 3), flat_1_1),
        "conv2": (k.Conv2D(4, (2, 3)), (5, 6, 3), as_now),
        "conv2_first": (k.Conv2D(4, (2, 3), **first), (3, 5, 6), permuted(2, 3, 1, 0)),
        "conv3_first": (k.Conv3D(4, (2, 3, 1), **first), (3, 4, 5, 2), permuted(2, 3, 4, 1, 0)),
        "transpose": (k.Conv2DTranspose(4, (2, 3)), (5, 6, 3), permuted(0, 1, 3, 2)),
        "transpose_first": (k.Conv2DTranspose(4, (2, 3), **first), (3, 5, 6),
                            permuted(2, 3, 0, 1)),
        "lstm": (k.LSTM(3), (5, 2), by_gate(4)),
        "gru": (k.GRU(3, reset_after=False), (5, 2), by_gate(3)),
        "film": (k.ConvLSTM2D(3, (2, 1)), (4, 5, 6, 2), by_gate(4)),
        "both": (k.Bidirectional(k.LSTM(3)), (5, 2),
                 lambda *w: by_gate(4)(*w[:3]) + by_gate(4)(*w[3:])),
        "each": (k.TimeDistributed(k.LSTM(3)), (2, 5, 2), by_gate(4)),
    }


def keras1_models():
    """Yields models, and the weights of their one layer in an old layout."""
    import tf_keras

    for name, (layer, shape, made_old) in keras1_cases().items():
        rng = encode.generator("exchange", "keras1", name)
        x = tf_keras.Input(shape)
        model = tf_keras.Model(x, layer(x))
        old = made_old(*[rng.normal(size=w.shape).astype("float32") for w in layer.weights])
        compiled = {"compiled": True} if name.endswith("first") else {}
        inputs = rng.normal(size=(2, *shape)).astype("float32")
        yield Made(name, model, inputs, extra=compiled), {layer.name: old}


def write_keras1(path, layers):
    """Writes a file without a version, which later versions added."""
    import h5py

    with h5py.File(path, "w") as file:
        file.attrs["layer_names"] = [name.encode() for name in layers]
        for name, weights in layers.items():
            group = file.create_group(name)
            group.attrs["weight_names"] = [f"{name}_{i}".encode() for i in range(len(weights))]
            for i, weight in enumerate(weights):
                group[f"{name}_{i}"] = weight
