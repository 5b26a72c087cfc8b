#!/usr/bin/env python3
"""make_seeds.py FOLDER: makes seeds for fuzz targets from the files in tests/.

FOLDER/graph gets the config of every recorded model of Keras, and of a model around every layer.
FOLDER/npy gets arrays of numbers and strings, FOLDER/vocabulary lines of tokens.
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


def spread(cases):
    """Some of many cases, from the first to the last."""
    step = max(1, -(-len(cases) // CASES_PER_LAYER))
    return cases[::step]


# Classes of Keras 2 that no golden file has.
KERAS2 = [
    ("RandomHeight", {"factor": 0.5}, [1, 4, 5, 3]),
    ("RandomWidth", {"factor": [-0.2, 0.3]}, [1, 4, 5, 3]),
    ("CuDNNGRU", {"units": 2}, [1, 3, 4]),
    ("CuDNNLSTM", {"units": 2}, [1, 3, 4]),
    ("LocallyConnected1D", {"filters": 2, "kernel_size": [3]}, [1, 5, 2]),
    ("LocallyConnected2D", {"filters": 2, "kernel_size": [3, 2], "implementation": 2}, [1, 5, 4, 2]),
    ("AddLoss", {"unconditional": False}, [1, 4]),
    ("AddMetric", {"aggregation": "mean", "metric_name": "m"}, [1, 4]),
    ("InstanceProperty", {"attr_name": "shape"}, [1, 4]),
    ("InstanceMethod", {"attr_name": "to_tensor"}, [1, 4]),
    ("ClassMethod", {"cls_symbol": "RaggedTensor", "method_name": "from_tensor"}, [1, 4]),
    ("SyncBatchNormalization", {"axis": [1]}, [1, 4]),
    ("TensorFlowOpLayer", {"node_def": {"name": "it", "op": "AddV2", "input": ["a", "b"],
                                        "attr": {"T": {"type": "DT_FLOAT"}}},
                           "constants": {"1": 2.0}}, [1, 4]),
    ("TensorFlowOpLayer", {"node_def": {"name": "it", "op": "Mean", "input": ["a", "b"],
                                        "attr": {"T": {"type": "DT_FLOAT"},
                                                 "keep_dims": {"b": True}}},
                           "constants": {"1": [0, 1]}}, [1, 4]),
]


def keras2_cases():
    return {f"keras2_{i}_{name}": model_around({
        "config": {"class_name": name, "config": {"name": "it", **config}},
        "inputs": {"shape": shape, "dtype": "float32"}})
        for i, (name, config, shape) in enumerate(KERAS2)}


def npy(descr, shape, data, fortran=False):
    """A .npy file of version 1."""
    header = str({"descr": descr, "fortran_order": fortran, "shape": shape}).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header + data


def arrays():
    words = ["a", "bc", "", "\N{LATIN SMALL LETTER E WITH ACUTE}"]
    wide = b"".join(word.ljust(2, "\0").encode("utf-32-le") for word in words)
    seeds = {"bytes": npy("|S2", (2, 2), b"a\0bc\0\0\xc3\xa9"), "wide": npy("<U2", (4,), wide),
             "columns": npy("<U2", (2, 2), wide, True), "none": npy("|S1", (0, 3), b""),
             "numbers": npy("<f4", (2, 2), bytes(16)), "swapped": npy(">i8", (2,), bytes(16)),
             "truths": npy("|b1", (3,), b"\0\1\2")}
    return {f"{name}.npy": contents for name, contents in seeds.items()}


def vocabularies():
    texts = ["[UNK]\na\nb", "-1\n3\n5\n", "a\r\nb c\n\n", "\n\n", "a\0b\n\x85c\u2028d", "x\nx",
             "9223372036854775808", "Earth, wind & fire!"]
    return {f"{i}.txt": text.encode() for i, text in enumerate(texts)}


def configs():
    seeds = {path.stem: json.loads(path.read_text())["config"]
             for path in GOLDEN.glob("models/*.json")}
    for path in GOLDEN.glob("layers/*.json"):
        for i, case in enumerate(spread(json.loads(path.read_text()))):
            if (model := model_around(case)) is not None:
                seeds[f"{path.stem}_{i}"] = model
    return as_files(seeds | keras2_cases())


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
    every = {"graph": configs(), "training": trainings(), "npy": arrays(),
             "vocabulary": vocabularies(),
             "zip": files("hostile/files/*.keras", "hostile/files/*.npz"),
             "hdf5": files("hostile/files/*.h5", "golden/saved/*.h5"),
             "keras": files("hostile/files/*.keras", "golden/saved/*.keras"),
             "legacy": files("hostile/files/legacy_*.h5", "golden/files/keras?.h5",
                             "golden/saved/*.h5", "golden/old/*.h5")}
    for target, seeds in every.items():
        folder = pathlib.Path(sys.argv[1]) / target
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name, contents in seeds.items():
            (folder / name).write_bytes(contents)


if __name__ == "__main__":
    main()
