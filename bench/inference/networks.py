"""The networks of `make bench-inference`: makes each as a file for every contestant.

usage: networks.py FOLDER NAME...

Weights are random: speed does not depend on them, and nothing is downloaded. Each network is written
as <name>.keras, <name>.onnx and <name>.tflite, with an input of 16 samples in <name>.npy.
"""

import os
import sys

FOLDER_ENV = {"KERAS_BACKEND": "tensorflow", "CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}

IMAGE = (224, 224, 3)
LARGE_IMAGE = (299, 299, 3)
# name -> (input shape without the batch, dtype)
NETWORKS = {
    "resnet50": (IMAGE, "float32"),
    "mobilenet_v2": (IMAGE, "float32"),
    "mobilenet_v3": (IMAGE, "float32"),
    "efficientnet_b0": (IMAGE, "float32"),
    "efficientnet_v2_b0": (IMAGE, "float32"),
    "densenet121": (IMAGE, "float32"),
    "inception_v3": (LARGE_IMAGE, "float32"),
    "vgg16": (IMAGE, "float32"),
    "xception": (LARGE_IMAGE, "float32"),
    "nasnet_mobile": (IMAGE, "float32"),
    "convnext_tiny": (IMAGE, "float32"),
    "unet_128": ((128, 128, 3), "float32"),
    "bert_base_128": ((128,), "int32"),
    "bilstm_tagger": ((64,), "int32"),
    "gru_small": ((32, 16), "float32"),
    "gpt2_decoder_step": ((1, 768), "float32"),
    "mlp": ((64,), "float32"),
}
VOCABULARY = 30522


def applications():
    import keras.applications as a
    return {
        "resnet50": a.ResNet50, "mobilenet_v2": a.MobileNetV2, "mobilenet_v3": a.MobileNetV3Large,
        "efficientnet_b0": a.EfficientNetB0, "efficientnet_v2_b0": a.EfficientNetV2B0,
        "densenet121": a.DenseNet121, "inception_v3": a.InceptionV3, "vgg16": a.VGG16,
        "xception": a.Xception, "nasnet_mobile": a.NASNetMobile, "convnext_tiny": a.ConvNeXtTiny}


def unet(shape):
    from keras import Input, Model, layers

    def block(x, filters):
        for _ in range(2):
            x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
            x = layers.ReLU()(layers.BatchNormalization()(x))
        return x

    x = inputs = Input(shape)
    skips = []
    for filters in (32, 64, 128, 256):
        skips.append(block(x, filters))
        x = layers.MaxPooling2D(2)(skips[-1])
    x = block(x, 512)
    for filters, skip in zip((256, 128, 64, 32), reversed(skips)):
        x = layers.UpSampling2D(2)(x)
        x = block(layers.Concatenate()([x, skip]), filters)
    return Model(inputs, layers.Conv2D(2, 1, activation="softmax")(x))


def transformer_block(x, heads, width, memory=None):
    from keras import layers
    h = x if memory is not None else layers.LayerNormalization(epsilon=1e-6)(x)
    source = memory if memory is not None else h
    a = layers.MultiHeadAttention(heads, width // heads)(h, source)
    x = layers.Add()([x, a])
    h = layers.LayerNormalization(epsilon=1e-6)(x)
    h = layers.Dense(4 * width, activation="gelu")(h)
    return layers.Add()([x, layers.Dense(width)(h)])


def bert(shape):
    from keras import Input, Model, layers
    tokens = Input(shape, dtype="int32")
    x = layers.Embedding(VOCABULARY, 768)(tokens)
    for _ in range(12):
        x = transformer_block(x, 12, 768)
    return Model(tokens, layers.LayerNormalization(epsilon=1e-6)(x))


def bilstm_tagger(shape):
    from keras import Input, Model, layers
    tokens = Input(shape, dtype="int32")
    x = layers.Embedding(VOCABULARY, 128)(tokens)
    for _ in range(2):
        x = layers.Bidirectional(layers.LSTM(128, return_sequences=True))(x)
    return Model(tokens, layers.Dense(17, activation="softmax")(x))


def gru_small(shape):
    from keras import Input, Model, layers
    inputs = Input(shape)
    return Model(inputs, layers.Dense(4)(layers.GRU(32)(inputs)))


def gpt2_decoder_step(shape):
    """One token through the 12 blocks of GPT-2; the keys of earlier tokens are left out."""
    from keras import Input, Model
    x = inputs = Input(shape)
    for _ in range(12):
        x = transformer_block(x, 12, 768)
    return Model(inputs, x)


def mlp(shape):
    from keras import Input, Model, layers
    x = inputs = Input(shape)
    for units in (128, 128, 64):
        x = layers.Dense(units, activation="relu")(x)
    return Model(inputs, layers.Dense(10)(x))


def build(name):
    import keras
    keras.utils.set_random_seed(1)
    shape, _ = NETWORKS[name]
    made = applications().get(name)
    if made is not None:
        return made(weights=None, input_shape=shape)
    return {"unet_128": unet, "bert_base_128": bert, "bilstm_tagger": bilstm_tagger, "gru_small": gru_small,
            "gpt2_decoder_step": gpt2_decoder_step, "mlp": mlp}[name](shape)


def set_statistics(model):
    """Statistics of BatchNormalization as after training: not 0 and 1, which could be folded away."""
    import keras
    import numpy as np
    random = np.random.default_rng(2)
    for layer in model._flatten_layers():
        if isinstance(layer, keras.layers.BatchNormalization):
            count = layer.moving_mean.shape
            layer.moving_mean.assign(random.normal(0, 0.1, count))
            layer.moving_variance.assign(random.uniform(0.5, 1.5, count))


def example(name):
    import numpy as np
    shape, dtype = NETWORKS[name]
    random = np.random.default_rng(3)
    if dtype == "int32":
        return random.integers(1, VOCABULARY, (16, *shape)).astype("int32")
    return random.uniform(-1, 1, (16, *shape)).astype("float32")


def write(folder, name):
    import numpy as np
    import tensorflow as tf
    model = build(name)
    set_statistics(model)
    model(example(name)[:1])  # what was never called cannot be exported
    path = os.path.join(folder, name)
    np.save(path + ".npy", example(name))
    failures = []
    try:
        model.export(path + ".onnx", format="onnx", verbose=False)
    except Exception as e:  # a peer that cannot have a network is left out
        failures.append(f"onnx: {type(e).__name__}: {str(e)[:200]}")
    try:
        converter = tf.lite.TFLiteConverter.from_keras_model(model)
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS, tf.lite.OpsSet.SELECT_TF_OPS]
        with open(path + ".tflite", "wb") as f:
            f.write(converter.convert())
    except Exception as e:
        failures.append(f"tflite: {type(e).__name__}: {str(e)[:200]}")
    model.save(path + ".keras")  # last: it marks a network that is complete
    return failures


def main():
    os.environ.update(FOLDER_ENV)
    folder, names = sys.argv[1], sys.argv[2:]
    os.makedirs(folder, exist_ok=True)
    for name in names:
        failures = write(folder, name)
        print(f"made {name}" + "".join(f"  [{f}]" for f in failures), flush=True)


if __name__ == "__main__":
    main()
