#!/usr/bin/env python3
"""check.py EXCHANGE: opens in real Keras what Keratin saved, compares what it computes, saves it
again, and lets Keratin open that.

Keras lives in the virtual environment that `scripts/setup keras` makes. Without it the test is
skipped, unless KERATIN_REQUIRE_KERAS is set."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = pathlib.Path(os.environ.get("KERATIN_KERAS_PYTHON", ROOT / "build/keras/bin/python"))
SKIPPED = 77  # as CMake is told
SETTINGS = {
    "KERAS_BACKEND": "tensorflow",
    "CUDA_VISIBLE_DEVICES": "",
    "TF_CPP_MIN_LOG_LEVEL": "3",
}
TOLERANCE, HALF_TOLERANCE = 1e-5, 1e-2


def structure(names, arrays):
    if isinstance(names, dict):
        return {key: structure(value, arrays) for key, value in names.items()}
    if isinstance(names, list):
        return [structure(value, arrays) for value in names]
    return names if names is None else arrays[names]


def differences(name, ours, theirs, tolerance):
    import numpy as np

    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if (ours.shape, ours.dtype) != (theirs.shape, theirs.dtype):
        yield f"{name}: {ours.dtype}{ours.shape}, Keras gives {theirs.dtype}{theirs.shape}"
    elif not np.allclose(ours, theirs, tolerance, tolerance, equal_nan=True):
        yield f"{name}: {ours.tolist()}, Keras gives {theirs.tolist()}"


def save_legacy(model, path):
    """As .h5, unless Keras itself cannot open that: it has no place for operations."""
    import keras

    try:
        model.save(path)
        keras.models.load_model(path)
    except Exception:
        path.unlink(missing_ok=True)


def check(path):
    """What is wrong with one model, in lines."""
    import keras
    import numpy as np

    told, arrays = json.loads(path.read_text()), np.load(path.with_suffix(".npz"))
    model = keras.models.load_model(path.with_suffix(".keras"))
    model.save(path.with_suffix(".back.keras"))
    save_legacy(model, path.with_suffix(".back.h5"))
    tolerance = HALF_TOLERANCE if "float16" in model.to_json() else TOLERANCE
    inputs = structure(told["inputs"], arrays)
    outputs, expected = model(inputs, training=False), structure(told["outputs"], arrays)
    try:
        keras.tree.assert_same_structure(expected, outputs)
    except (TypeError, ValueError) as error:
        yield f"outputs: {error}"
        return
    pairs = zip(keras.tree.flatten(expected), keras.tree.flatten(outputs))
    for i, (ours, theirs) in enumerate(pairs):
        yield from differences(f"output {i}", ours, keras.ops.convert_to_numpy(theirs), tolerance)
    if "losses" in told:
        targets = structure(told["targets"], arrays)
        went_on = model.fit(inputs, targets, batch_size=2, epochs=3, verbose=0, shuffle=False)
        yield from differences("losses", told["losses"], went_on.history["loss"], tolerance)


def check_all(program):
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "write", folder], check=True)
        paths = sorted(pathlib.Path(folder).glob("*.json"))
        for path in paths:
            try:
                wrong += [f"{path.stem}: {line}" for line in check(path)]
            except Exception as error:  # whatever Keras raises is what we want to see
                wrong.append(f"{path.stem}: {type(error).__name__}: {error}")
        back = subprocess.run([program, "read", folder]).returncode
    print("\n".join(wrong))
    print(f"Keras opened {len(paths)} models of Keratin, {len(wrong)} differences")
    return bool(wrong) or not paths or back != 0


def main():
    program, *inside = sys.argv[1:]
    if inside:
        return check_all(program)
    if PYTHON.exists():
        again = [PYTHON, "-W", "ignore", __file__, program, "inside"]
        os.execve(PYTHON, again, os.environ | SETTINGS)
    print(f"skipped: there is no Keras at {PYTHON}; scripts/setup keras installs it")
    return 1 if os.environ.get("KERATIN_REQUIRE_KERAS") else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
