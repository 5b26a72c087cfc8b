"""Models that real Keras makes and saves, for Keratin to open. Each is a `Made`."""

import dataclasses
import pathlib
import sys

import keras
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "golden"))
from maker import encode  # noqa: E402


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
