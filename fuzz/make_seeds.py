#!/usr/bin/env python3
"""make_seeds.py FOLDER: makes seeds for fuzz targets from the files in tests/.

FOLDER/graph gets the config of every recorded model of Keras, and of a model around every layer.
FOLDER/training gets the compile configs of recorded models. The others get small saved and hostile
files.
"""

import json
import pathlib
import shutil
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent / "tests"
GOLDEN = TESTS / "golden"
CASES_PER_LAYER = 3
MAX_BYTES = 40_000  # large seeds make a fuzzer slow


def input_layer(index, tensor):
    name = f"in{index}"
    return {"module": "keras.layers", "class_name": "InputLayer", "name": name,
            "config": {"batch_shape": tensor["shape"], "dtype": tensor["dtype"], "name": name},
            "registered_name": None, "inbound_nodes": []}


def keras_tensor(index, tensor):
    return {"class_name": "__keras_tensor__",
            "config": {"shape": tensor["shape"], "dtype": tensor["dtype"],
                       "keras_history": [f"in{index}", 0, 0]}}


def model_around(case):
    """A functional model that calls the layer of a golden case once."""
    given = case.get("inputs", [])  # empty if Keras refuses the layer
    one = isinstance(given, dict)
    tensors = [given] if one else given
    if not tensors or not all(isinstance(t, dict) and "shape" in t for t in tensors):
        return None
    arguments = [keras_tensor(i, t) for i, t in enumerate(tensors)]
    layer = case["config"] | {
        "name": case["config"]["config"]["name"],
        "inbound_nodes": [{"args": arguments if one else [arguments], "kwargs": {}}]}
    inputs = [input_layer(i, t) for i, t in enumerate(tensors)]
    config = {"name": "m", "trainable": True, "layers": inputs + [layer],
              "input_layers": [[i["name"], 0, 0] for i in inputs],
              "output_layers": [layer["name"], 0, 0]}
    return {"module": "keras.src.models.functional", "class_name": "Functional",
            "config": config, "registered_name": "Functional"}


def configs():
    seeds = {path.stem: json.loads(path.read_text())["config"]
             for path in GOLDEN.glob("models/*.json")}
    for path in GOLDEN.glob("layers/*.json"):
        for i, case in enumerate(json.loads(path.read_text())[:CASES_PER_LAYER]):
            if (model := model_around(case)) is not None:
                seeds[f"{path.stem}_{i}"] = model
    return as_files(seeds)


def trainings():
    seeds = {case["name"]: case["compile"]
             for case in json.loads((GOLDEN / "training.json").read_text())}
    for path in GOLDEN.glob("optimizers/*.json"):
        cases = json.loads(path.read_text())
        if isinstance(cases, list) and "config" in cases[-1]:
            seeds[path.stem] = {"optimizer": cases[-1]["config"], "loss": "mse"}
    return as_files(seeds)


def as_files(configs):
    return {f"{name}.json": json.dumps(config).encode() for name, config in configs.items()}


def files(*patterns):
    paths = [path for pattern in patterns for path in TESTS.glob(pattern) if path.is_file()]
    return {path.name: path.read_bytes() for path in paths if path.stat().st_size <= MAX_BYTES}


def main():
    every = {"graph": configs(), "training": trainings(),
             "zip": files("hostile/files/*.keras", "hostile/files/*.npz"),
             "hdf5": files("hostile/files/*.h5", "golden/saved/*.h5"),
             "keras": files("hostile/files/*.keras", "golden/saved/*.keras"),
             "legacy": files("hostile/files/legacy_*.h5", "golden/files/keras?.h5",
                             "golden/saved/*.h5")}
    for target, seeds in every.items():
        folder = pathlib.Path(sys.argv[1]) / target
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name, contents in seeds.items():
            (folder / name).write_bytes(contents)


if __name__ == "__main__":
    main()
