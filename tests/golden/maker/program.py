"""Models as users save them, with what Keras answers, for the tests of the `keratin` program."""

import pathlib
import zipfile

import h5py
import keras
import numpy as np

FOLDER = "program"
IMAGE = pathlib.Path(__file__).parents[1] / "images/cats/young/rgb.png"


def noise(*shape):
    return np.random.default_rng(len(shape) * 100 + shape[-1]).normal(size=shape).astype("float32")


def fill(model):
    """Weights that depend on their positions only."""
    for i, weight in enumerate(model.weights):
        numbers = np.random.default_rng(i).normal(size=weight.shape) * 0.5
        weight.assign(numbers.astype("float32"))


def classifier(folder):
    """Compiled, and trained for a few steps: x (None, 4), y (None, 3)."""
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((4,), name="x"),
                              keras.layers.Dense(5, activation="relu", name="hidden"),
                              keras.layers.Dense(3, activation="softmax", name="scores")],
                             name="classifier")
    fill(model)
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    x = noise(24, 4)
    y = (x[:, 0] > 0).astype("int64") + (x[:, 1] > 0)
    model.fit(x, y, epochs=2, batch_size=8, shuffle=False, verbose=0)
    loss, accuracy = model.evaluate(x, y, verbose=0)
    model.save(folder / "classifier.keras")
    np.savez(folder / "classifier.npz", x=x, y=model.predict(x, verbose=0))
    np.savez(folder / "classifier_data.npz", x=x, y=y,
             loss=np.float32(loss), accuracy=np.float32(accuracy))


def two_ends(folder):
    """Two inputs and two outputs, not compiled."""
    words = keras.Input((6,), dtype="int32", name="words")
    facts = keras.Input((3,), name="facts")
    h = keras.layers.Embedding(11, 4, mask_zero=True, name="embedding")(words)
    h = keras.layers.LSTM(5, name="reader")(h)
    h = keras.layers.Concatenate(name="both")([h, facts])
    topic = keras.layers.Dense(2, name="topic")(h)
    score = keras.layers.Dense(1, activation="sigmoid", name="score")(h)
    model = keras.Model([words, facts], [topic, score], name="two_ends")
    fill(model)
    model.save(folder / "two_ends.keras")
    given = {"words": np.arange(30).reshape(5, 6).astype("int32") % 11, "facts": noise(5, 3)}
    answers = model.predict(list(given.values()), verbose=0)
    np.savez(folder / "two_ends.npz", **given, topic=answers[0], score=answers[1])


def seeing(folder):
    """A picture in, 8 × 8 pixels in colour."""
    model = keras.Sequential([keras.Input((8, 8, 3), name="picture"),
                              keras.layers.Rescaling(1 / 255, name="scale"),
                              keras.layers.Conv2D(2, 3, name="look"),
                              keras.layers.GlobalAveragePooling2D(name="gather")], name="seeing")
    fill(model)
    model.save(folder / "seeing.keras")
    picture = keras.utils.load_img(IMAGE)
    pixels = keras.ops.image.resize(keras.utils.img_to_array(picture), (8, 8))
    pixels = keras.ops.convert_to_numpy(pixels)[None]
    np.savez(folder / "seeing.npz", picture=pixels, gather=model.predict(pixels, verbose=0))


def pack(path):
    """The same archive, deflated."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, contents in members.items():
            archive.writestr(name, contents)


def fixed(folder):
    """Batches of four: one layer takes any, the other keeps states for four. Ten samples, the last
    two of which only the former takes."""
    x = keras.Input(batch_shape=(4, 3), name="x")
    model = keras.Model(x, keras.layers.Dense(2, name="y")(x), name="fixed")
    fill(model)
    model.save(folder / "fixed.keras")
    pack(folder / "fixed.keras")
    given = noise(10, 3)
    np.savez(folder / "fixed.npz", x=given, y=model.predict(given, batch_size=4, verbose=0))
    x = keras.Input(batch_shape=(4, 2, 3), name="x")
    model = keras.Model(x, keras.layers.SimpleRNN(2, stateful=True, name="y")(x), name="stateful")
    fill(model)
    model.save(folder / "stateful.keras")
    pack(folder / "stateful.keras")
    given = noise(8, 2, 3)
    np.savez(folder / "stateful.npz", x=given, y=model.predict(given, batch_size=4, verbose=0))


def whole(folder):
    """An output without samples, over one batch and over two."""
    x = keras.Input((3,), name="x")
    model = keras.Model(x, keras.ops.sum(keras.layers.Dense(2, name="d")(x)), name="whole")
    fill(model)
    model.save(folder / "whole.keras")
    pack(folder / "whole.keras")
    given = noise(40, 3)
    np.savez(folder / "whole.npz", x=given, y=model.predict(given, verbose=0))
    np.savez(folder / "whole_first.npz", x=given[:32], y=model.predict(given[:32], verbose=0))


def uneven(folder):
    """Inputs of different numbers of rows, which Keras takes in one batch only."""
    a, b = keras.Input((3,), name="a"), keras.Input((3,), name="b")
    model = keras.Model([a, b], keras.ops.matmul(keras.layers.Dense(3, name="d")(a),
                                                 keras.ops.transpose(b)), name="uneven")
    fill(model)
    model.save(folder / "uneven.keras")
    pack(folder / "uneven.keras")
    given = {"a": noise(40, 3), "b": noise(2, 3)}
    np.savez(folder / "uneven.npz", **given, y=model.predict_on_batch(list(given.values())))


def python_lambda(folder):
    x = keras.Input((4,), name="x")
    model = keras.Model(x, keras.layers.Lambda(lambda t: t * 2, name="double")(x), name="secret")
    model.save(folder / "lambda.keras")


def maze(folder):
    """Forty groups with two links each to the next: more paths than any walk ends."""
    with h5py.File(folder / "maze.h5", "w", libver="latest") as file:
        group = file
        for _ in range(40):
            group["left"] = following = file.create_group(None)
            group["right"] = following
            group = following


def write(folder, only):
    if only is not None and FOLDER not in only:
        return
    folder = folder / FOLDER
    folder.mkdir(exist_ok=True)
    for make in (classifier, two_ends, seeing, fixed, whole, uneven, python_lambda, maze):
        make(folder)
