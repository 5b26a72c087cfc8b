#!/usr/bin/env python3
"""edit.py PROGRAM: `keratin edit` and Keras's KerasFileEditor edit the same files to the same contents,
and Keras loads what Keratin wrote.

Keras is found as in check.py. Keras's editor loses objects whose own "vars" group is empty, so the models
here have no such objects. It also counts some names twice, so these are paths."""

import contextlib
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from check import PYTHON, SETTINGS, SKIPPED

# Edits by name: as calls of Keras's editor, and as arguments of Keratin's program.
EDITS = {
    "nothing": (lambda editor, arrays: None, []),
    "delete": (lambda editor, arrays: (editor.delete_object("layers/dense_1"),
                                       editor.delete_weight("layers/dense", "1")),
               ["-d", "layers/dense_1", "-d", "layers/dense/1"]),
    "rename": (lambda editor, arrays: (editor.rename_object("layers/dense", "first"),
                                       editor.rename_object("layers/batch_normalization", "norm")),
               ["-r", "layers/dense=first", "-r", "batch_normalization=norm"]),
    "set": (lambda editor, arrays: (editor.add_weights("layers/dense", {"1": arrays["1"]}),
                                    editor.add_object("layers/new", arrays)),
            ["-s", "layers/dense/1={one}", "-s", "layers/new={all}"]),
}


def model(keras):
    return keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, name="a"),
                             keras.layers.BatchNormalization(name="b"),
                             keras.layers.Dense(2, dtype="mixed_bfloat16", name="c")])


def contents(path):
    """The arrays of an HDF5 file by their paths."""
    import h5py

    found = {}

    def add(name, item):
        if isinstance(item, h5py.Dataset):
            found[name] = (item.shape, str(item.dtype), item[()].tobytes())

    with h5py.File(path) as file:
        file.visititems(add)
    return found


def tree(text):
    """The lines of a printed tree, without connectors and the names of objects, sorted."""
    text = text[text.index("Weights structure"):]
    return sorted(re.sub(r"^[ >│├└─]*|( \('.*'\))?$", "", line) for line in text.splitlines())


def check(program, folder):
    import keras
    import numpy

    arrays = {"0": numpy.ones((2, 2), "f4"), "1": numpy.arange(4, dtype="f4")}
    numpy.save(folder / "1.npy", arrays["1"])
    numpy.savez(folder / "all.npz", **arrays)
    files = {"one": folder / "1.npy", "all": folder / "all.npz"}
    built = model(keras)
    built.compile(optimizer="adam", loss="mse")
    built.fit(numpy.ones((2, 3)), numpy.ones((2, 2)), verbose=0)
    ours, theirs = folder / "ours.weights.h5", folder / "theirs.weights.h5"
    for source in (folder / "m.keras", folder / "m.weights.h5"):
        built.save(source) if source.suffix == ".keras" else built.save_weights(source)
        for name, (edit, words) in EDITS.items():
            with contextlib.redirect_stdout(io.StringIO()) as out:
                editor = keras.saving.KerasFileEditor(str(source))
                edit(editor, arrays)
                editor.save(str(theirs))
                editor.summary()
            subprocess.run([program, "edit", source, ours, *(w.format(**files) for w in words)],
                           check=True)
            if contents(ours) != contents(theirs):
                yield f"{name}: the contents of {source.name} differ"
            shown = subprocess.run([program, "edit", ours], check=True, capture_output=True,
                                   text=True).stdout
            if tree(shown) != tree(out.getvalue()):
                yield f"{name}: the trees of {source.name} differ:\n{shown}\n{out.getvalue()}"
        yield from compare(keras, program, source, built)
    subprocess.run([program, "edit", folder / "m.keras", folder / "n.keras", "-s",
                    f"layers/dense/1={files['one']}"], check=True)
    loaded = keras.models.load_model(folder / "n.keras")
    if not numpy.array_equal(loaded.get_weights()[1], arrays["1"]):
        yield "Keras does not find the weight that was set"
    if int(loaded.optimizer.iterations.numpy()) != 1:
        yield "Keras does not find the optimizer's state"


def compare(keras, program, source, built):
    """Both agree whether the weights fit a model."""
    fits = source.parent / "fits.keras"
    built.save(fits)
    other = keras.Sequential([keras.Input((3,)), keras.layers.Dense(5)])
    other.save(source.parent / "other.keras")
    for reference, path in ((built, fits), (other, source.parent / "other.keras")):
        with contextlib.redirect_stdout(io.StringIO()):
            theirs = keras.saving.KerasFileEditor(str(source)).compare(reference)["status"]
        status = subprocess.run([program, "edit", source, "--compare", path],
                                capture_output=True).returncode
        if status != (0 if theirs == "success" else 1):
            yield f"compare of {source.name} with {path.name}: status {status}, Keras says {theirs}"


def main():
    program, *inside = sys.argv[1:]
    if inside:
        with tempfile.TemporaryDirectory() as folder:
            wrong = list(check(program, pathlib.Path(folder)))
        print("\n".join(wrong) or "Keratin and Keras agree")
        return 1 if wrong else 0
    if PYTHON.exists():
        os.execve(PYTHON, [PYTHON, "-W", "ignore", __file__, program, "inside"],
                  os.environ | SETTINGS)
    print(f"skipped: there is no Keras at {PYTHON}; scripts/setup keras installs it")
    return 1 if os.environ.get("KERATIN_REQUIRE_KERAS") else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
